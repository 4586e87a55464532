// Lists the inputs of a call of the operator, which its results must not overlap.
#pragma once

#include <string_view>

#include "core/arrays/any_view.h"
#include "core/arrays/overlap.h"
#include "sextant/attention/attention.h"

namespace sextant::attention_detail {

// q, k, v and every array of the options; results are to be added.
template <class M>
CallArrays input_arrays(std::string_view function, const AnyView& q, const AnyView& k,
                        const AnyView& v, const AttentionOptionsOf<M>& options);

}  // namespace sextant::attention_detail

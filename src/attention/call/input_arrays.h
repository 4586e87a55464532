// Lists the inputs of a call of the operator, which its results must not overlap.
#pragma once

#include <string_view>

#include "core/arrays/overlap.h"
#include "sextant/attention/attention.h"

namespace sextant::attention_detail {

// q, k, v and every array of the options; results are to be added.
template <class T>
CallArrays input_arrays(std::string_view function, View<const T> q, View<const T> k,
                        View<const T> v, const AttentionOptions<T>& options);

}  // namespace sextant::attention_detail

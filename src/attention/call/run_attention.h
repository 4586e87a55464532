// The operator on arrays whose element types may differ.
#pragma once

#include "core/arrays/any_view.h"
#include "sextant/attention/attention.h"

namespace sextant::attention_detail {

// attention(), also with k and v of 16 bits beside q and out of float32, which are read in place.
template <class M>
void run_attention(const AnyView& q, const AnyView& k, const AnyView& v, const AnyOutput& out,
                   const AttentionOptionsOf<M>& options, View<float> log_sum_exp);

}  // namespace sextant::attention_detail

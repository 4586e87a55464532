// The operator on arrays whose element types may differ.
#pragma once

#include "attention/call/key_array.h"
#include "core/arrays/any_view.h"
#include "sextant/attention/attention.h"

namespace sextant::attention_detail {

// attention(), also with k and v of 16 bits beside q and out of float32, and in the pages of a
// cache, which are read in place. Those of a cache have no key_segments: key_lengths are their
// lengths, also with `segments`, which then have one per sequence.
template <class M>
void run_attention(const AnyView& q, const KeyArray& k, const KeyArray& v, const AnyOutput& out,
                   const AttentionOptionsOf<M>& options, View<float> log_sum_exp);

}  // namespace sextant::attention_detail

// Computes selective attention (Leviathan et al. 2024, 2410.02703): tokens hide earlier tokens from
// the tokens after them.
#pragma once

#include <cstdint>

#include "sextant/attention/backward.h"

namespace sextant {

// With z the scores scale <q_i, k_j> of one head, rotated if the call has a rotation,
//   S_ij = max(z_ij, 0) for 0 < j < i, else 0      what token i takes from the scores of token j
//   F_ij = sum over l < i of S_lj                  what tokens before i have taken
// and every head attends causally with its scores - F_ij. A token does not hide itself, and none
// hides the first.
struct SelectiveAttention {
  std::int64_t selection_head = 0;  // 0 .. heads_q - 1: the query head whose scores are z
};

// Computes causal self-attention with these scores, block of queries by block: memory for F grows
// linearly with the length. Shapes and options are those of attention(), in float32, except:
//  - q and k have the same length, and options.causal is top_left or bottom_right;
//  - the window, segments, position ids, query_offsets, key_lengths, bias, terms, mask and dropout
//    must be absent. sinks, the softcap, the scale and the rotation work as in attention(). z is
//    the score before the softcap, in float32 with any matmul_precision.
// F is summed in float64, row by row: the bits do not depend on threads. log_sum_exps,
// [batch, heads_q, length] or empty, is that of attention(). Throws Error for other options and
// what attention() throws for; then it writes nothing.
void selective_attention(View<const float> q, View<const float> k, View<const float> v,
                         View<float> out, const SelectiveAttention& selective,
                         const AttentionOptions<float>& options, View<float> log_sum_exps = {});

// Computes the gradients of q, k, v and sinks, also through F; the others must be absent. `out` and
// `log_sum_exps`, which may be empty, are those of selective_attention(). Memory grows with
// length^1.5, for F of some rows.
void selective_attention_backward(View<const float> q, View<const float> k, View<const float> v,
                                  View<const float> out, View<const float> dout,
                                  const AttentionGradients<float>& gradients,
                                  const SelectiveAttention& selective,
                                  const AttentionOptions<float>& options,
                                  View<const float> log_sum_exps = {});

}  // namespace sextant

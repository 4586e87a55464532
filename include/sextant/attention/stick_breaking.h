// Computes attention whose weights break a stick, without a softmax: stick-breaking attention (Tan
// et al. 2024, 2410.17980).
#pragma once

#include <cstdint>

#include "sextant/attention/backward.h"

namespace sextant {

struct StickBreaking {
  bool current = false;  // whether a query attends to its own position, its diagonal key
};

// Computes out_i = sum over visible keys j of A_ij v_j, where z_ij = scale <q_i, k_j> and
//   A_ij = sigmoid(z_ij) product over visible keys l after j of (1 - sigmoid(z_il))
// (section 2, equation 2): the newest key takes its share of a stick of length 1, each older key
// its share of what is left. Weights of a row sum to at most 1; order comes from the products, so
// there are no positions. Shapes are those of attention(), in float32. Options:
//  - options.causal, other than none, is needed, with query_offsets as in attention();
//  - key_lengths, scale, window and boolean masks work as in attention(): a hidden key takes
//  nothing;
//  - softcap, sinks, rotation, position ids, segments, biases, terms, float masks and dropout must
//    be absent.
// log_sums, [batch, heads_q, q_len] or empty, are log(sum of A_ij) of each row, at most 0; -expm1()
// of that is the part of the stick that is left, to about 1e-6 for scores up to 10. Scores are
// float32, sums over keys float64; a key has weight 0 when later ones have taken all but e^-150 of
// the stick. Memory is linear in the length. Throws Error for other options and what attention()
// throws for.
void stick_breaking_attention(View<const float> q, View<const float> k, View<const float> v,
                              View<float> out, const StickBreaking& stick,
                              const AttentionOptions<float>& options, View<float> log_sums = {});

// Computes the gradients of q, k and v; the others must be absent. `log_sums` are those of
// stick_breaking_attention().
void stick_breaking_backward(View<const float> q, View<const float> k, View<const float> v,
                             View<const float> dout, const AttentionGradients<float>& gradients,
                             const StickBreaking& stick, const AttentionOptions<float>& options,
                             View<const float> log_sums);

}  // namespace sextant

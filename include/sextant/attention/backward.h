// Computes gradients of attention for q, k, v, biases by distance, float masks, sinks, and the
// parameters of terms, without an array of q_len x k_len.
#pragma once

#include <type_traits>
#include <vector>

#include "sextant/attention/attention.h"

namespace sextant {

// The arrays for the gradients. Empty ones are not computed; the others are overwritten. They have
// any strides, no element twice, and no overlap with the inputs or one another.
template <class T>
struct AttentionGradients {
  using Wide = std::conditional_t<std::same_as<T, double>, double, float>;

  MemberView<T> q{}, k{}, v{};        // the shapes of q, k and v
  DistanceBiasGradient<Wide> bias{};  // for options.bias; summed over the batch
  // The shape of the float mask; summed over the axes along which it is broadcast.
  MemberView<Wide> mask{};
  MemberView<Wide> sinks{};  // [heads_q], summed over the batch
  // One array per term of options.terms, or empty: [TermNeeds::parameters], summed over batch and
  // heads; a scheme's backward() turns it into the gradients of its weights.
  std::vector<MemberView<double>> terms{};
};

// Computes the gradients of a loss, where `out` = attention(q, k, v, options) and `dout`, of the
// same shape, is the gradient of the loss for it. Shapes, options and errors are those of
// attention(); q and k, and their gradients, are those before the rotation of `options`.
// `log_sum_exp` is that of attention(). If it is empty, it is recomputed, which takes 20 % longer.
// Values beyond +-32, where float32 is too coarse, and all values in float64 are always recomputed.
//
// With P the probabilities and delta_i = sum_c dout_ic out_ic (Dao 2023, 2307.08691, section 3.1):
// dv = P^T dout, dS_ij = P_ij (sum_c dout_ic v_jc - delta_i), which is the gradient of biases and
// masks and the input of ScoreTerm::backward(). With a softcap it is multiplied by 1 - tanh^2. Then
// scale dS k and scale dS^T q are the gradients of q and k. That of a sink is -sum_i p_i delta_i
// for its probability p_i in each row. float32 and 16-bit arrays are accumulated in float32,
// float64 arrays in float64.
//
// Calls that attention() computes row by row in float64 because of a term have such gradients too.
// Where a term reads queries or keys or is part of the logits, the queries of a sequence and key
// head run on one thread.
//
// Rows without visible keys have zero gradients. Hidden keys and values are not read and get zero
// gradients; neither they nor keys of weight 0 spread NaN. Sequences and key heads with infinities
// or NaN are computed row by row in float64, which is slow. The bits of the gradients of q, k and v
// depend only on the sequence, not on threads, batch or packing. The other gradients are sums over
// the batch and do not depend on threads.
template <AttentionElement T>
void attention_backward(std::type_identity_t<View<const T>> q,
                        std::type_identity_t<View<const T>> k,
                        std::type_identity_t<View<const T>> v,
                        std::type_identity_t<View<const T>> out,
                        std::type_identity_t<View<const T>> dout,
                        const AttentionGradients<T>& gradients,
                        const AttentionOptions<std::type_identity_t<T>>& options = {},
                        View<const float> log_sum_exp = {});

}  // namespace sextant

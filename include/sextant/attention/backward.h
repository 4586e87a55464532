// Gradients of the attention operator with respect to q, k, v, biases by distance, float masks,
// sinks, and the parameters of terms. No array of q_len x k_len is made.
#pragma once

#include <type_traits>
#include <vector>

#include "sextant/attention/attention.h"

namespace sextant {

// Where gradients go. Empty ones are not computed; the others are overwritten. Any strides, no
// element twice, no overlap with the inputs or one another.
template <class T>
struct AttentionGradients {
  using Wide = std::conditional_t<std::same_as<T, double>, double, float>;

  MemberView<T> q{}, k{}, v{};        // the shapes of q, k and v
  DistanceBiasGradient<Wide> bias{};  // of options.bias; summed over the batch
  // The shape of the float mask, summed over the axes it is broadcast along.
  MemberView<Wide> mask{};
  MemberView<Wide> sinks{};  // [heads_q], summed over the batch
  // One for each of options.terms, or empty: [TermNeeds::parameters], summed over batch and heads;
  // a scheme's backward() takes it to the gradients of its weights.
  std::vector<MemberView<double>> terms{};
};

// With `out` = attention(q, k, v, options) and `dout` the gradient of a loss with respect to it, of
// the same shape: the gradients of the loss. Shapes, options and errors as in attention(); q and k,
// and their gradients, are those before the rotation of `options`.
// `log_sum_exp` is that of attention(). If it is empty, it is recomputed, which takes 20 % longer;
// values beyond +-32, where float32 is too coarse, and all values in float64 always are.
//
// With P the probabilities and delta_i = sum_c dout_ic out_ic (Dao 2023, 2307.08691, section 3.1):
// dv = P^T dout, dS_ij = P_ij (sum_c dout_ic v_jc - delta_i), which is the gradient of biases and
// masks (and what ScoreTerm::backward() is given); times 1 - tanh^2 where there is
// a softcap, scale dS k and scale dS^T q are those of q and k. A sink's is -sum_i p_i delta_i for
// its probability p_i in each row. float32 accumulation for float32 and 16-bit arrays, float64 for
// float64.
//
// Calls with a term before the softcap, or one that reads queries or keys, are computed row by row
// in float64, whatever the element type.
//
// Rows without visible keys have zero gradients. Hidden keys and values are not read and get zero
// gradients; neither they nor keys of weight 0 spread NaN. Sequences and key heads with infinities
// or NaN are computed row by row in float64, which is slow. The bits of the gradients of q, k and v
// depend on the sequence alone, not on threads, batch or packing; those of the others, which are
// sums over the batch, do not depend on threads.
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

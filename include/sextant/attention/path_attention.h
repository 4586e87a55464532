// Computes PaTH attention (Yang et al. 2025, 2505.16381): the position of a key, as a later query
// sees it, is the product of reflections that the tokens between them chose.
#pragma once

#include "sextant/attention/backward.h"

namespace sextant {

// One Householder matrix per token and key head, H_t = I - beta_t w_t w_t^T. With w_t of length 1,
// beta_t = 2 reflects along w_t, 1 removes that direction, 0 changes nothing. Rows are used as
// given: the paper divides w by its length and has beta = 2 sigmoid(.), in 0 .. 2; the operator
// does neither, and takes any finite numbers. Products of longer rows or larger beta may grow
// without limit.
struct PathAttention {
  MemberView<const float> w{};     // [batch, kv_heads, length, head_dim]
  MemberView<const float> beta{};  // [batch, kv_heads, length]
};

// The arrays for the gradients of w and beta, of the same shapes; empty ones are not computed.
struct PathGradients {
  MemberView<float> w{}, beta{};
};

// Computes causal self-attention with the scores
//   s_ij = scale q_i^T H_i H_{i-1} .. H_{j+1} k_j   for j <= i
// (section 2), where the matrices of a key head act on all its query heads. Shapes and options are
// those of attention(), in float32, except:
//  - q and k have the same length, and options.causal is top_left or bottom_right;
//  - the rotation, softcap, window, segments, position ids, query_offsets, key_lengths, bias,
//    terms, mask and dropout must be absent. sinks and the scale work as in attention(),
//    matmul_precision in the products with keys of other blocks and with values.
// Blocks of 64 tokens are products in the form of section 3; each row is merged from calls of
// attention(), one per block before it. Memory is linear in the length, and the bits do not depend
// on threads. Where w, beta or k of a token have infinities or NaN, or its products overflow, rows
// of its key head are NaN from that token on. log_sum_exps, [batch, heads_q, length] or empty, is
// that of attention(). Throws Error for other options, for w and beta of other shapes, and for what
// attention() throws; then it writes nothing.
void path_attention(View<const float> q, View<const float> k, View<const float> v, View<float> out,
                    const PathAttention& path, const AttentionOptions<float>& options,
                    View<float> log_sum_exps = {});

// Computes the gradients of q, k, v and sinks, and of w and beta; the others must be absent. `out`
// is that of path_attention(). Memory is linear in the length, some eight times that of q. Where q,
// k, v, w, beta or dout have infinities or NaN, so may have all gradients of that batch row and key
// head.
void path_attention_backward(View<const float> q, View<const float> k, View<const float> v,
                             View<const float> out, View<const float> dout,
                             const AttentionGradients<float>& gradients,
                             const PathGradients& path_gradients, const PathAttention& path,
                             const AttentionOptions<float>& options);

}  // namespace sextant

// Trainable multi-head attention: self, causal and cross attention, any positional scheme, grouped
// heads, packed sequences.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sextant/layers/linear.h"
#include "sextant/layers/position_module.h"

namespace sextant {

struct AttentionLayerOptions {
  std::int64_t width = 0;     // of x and of the result
  std::int64_t heads = 1;     // of queries
  std::int64_t kv_heads = 0;  // of keys and values, a divisor of heads; 0: heads
  std::int64_t head_dim = 0;  // 0: width / heads, which must divide
  bool bias = true;           // of the linear maps
  bool qkv_bias = false;      // of the map to q, k and v, where the other has none
  bool cross = false;         // keys and values are of a context, not of x
};

// What a call attends over: the sequences of x and, for cross attention, of the context.
template <class T>
struct AttentionCall {
  bool causal = false;
  std::span<const std::int64_t> segments{};      // of the queries, [sequences + 1]
  std::span<const std::int64_t> key_segments{};  // of the context's keys; empty: as the queries
  const PositionTables<T>* positions = nullptr;  // of the queries' lengths; null: none
};

// out(attention(q, k, v)) with q, k, v = in(x), or k, v = in(context) (Vaswani et al. 2017, section
// 3.2.2).
template <class T>
struct AttentionLayer {
  AttentionLayerOptions options;  // without zeros
  Linear<T> in;  // [(heads + 2 kv_heads) head_dim, width]: rows of q, of k, of v, each head by head
  Linear<T> out;  // [width, heads head_dim]

  // Throws Error unless sizes are positive, heads divide width (or head_dim is given), and kv_heads
  // divides heads. `out_gain`: of the last map's first weights.
  AttentionLayer(const AttentionLayerOptions& options, FirstWeights weights, double out_gain = 1);

  struct Saved {
    View<const T> x, context;  // [tokens, width]
    View<T> q, k, v, mixed;    // [1, heads or kv_heads, tokens, head_dim], strided
    View<float> log_sum_exp;   // [1, heads, tokens]
    AttentionCall<T> call;
  };
  // x, y: [tokens, width]; context: [context tokens, width] of cross attention, else empty. A
  // sequence without context attends to nothing: out() of zeros. Throws Error for a context that
  // does not fit.
  Saved forward(View<const T> x, View<const T> context, const AttentionCall<T>& call, View<T> y,
                Pass& pass) const;
  // dx is overwritten; dcontext is added to; the gradients of layer and positions (null where the
  // call has none) are added to.
  void backward(const Saved& saved, View<const T> dy, View<T> dx, View<T> dcontext,
                AttentionLayer& gradient, PositionModule<T>* positions_gradient, Pass& pass) const;

  // Keys and values of a context, [context tokens, 2 kv_heads head_dim], keys first.
  View<T> project_context(View<const T> context, Pass& pass) const;
  // y for x [tokens, width] over keys of project_context(); nothing is kept for gradients.
  void attend_context(View<const T> x, View<T> keys, const AttentionCall<T>& call, View<T> y,
                      Pass& pass) const;

  // The attention weights of one sequence of a call, [heads, its queries, its keys], for pictures.
  Tensor<T> weights(const Saved& saved, std::int64_t sequence) const;

  // prefix + "in.", prefix + "out.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

}  // namespace sextant

// Implements trainable multi-head attention: self, causal and cross attention, any scheme, grouped
// heads, packed sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sextant/layers/linear.h"
#include "sextant/layers/norm.h"
#include "sextant/layers/position_module.h"

namespace sextant {

// The norms of queries and of keys, before they are rotated (Henry et al. 2020, 2010.04245).
enum class QkNorm {
  none,
  head,  // each head separately, all with the same gains [head_dim]: Qwen 3, Gemma 3
  all,   // all heads of a token together, gains [heads head_dim]: OLMo 2
};
std::string_view name_of(QkNorm kind) noexcept;

struct AttentionLayerOptions {
  std::int64_t width = 0;     // width of x and of the result
  std::int64_t heads = 1;     // heads of queries
  std::int64_t kv_heads = 0;  // heads of keys and values, a divisor of heads; 0: heads
  std::int64_t head_dim = 0;  // 0: width / heads, which must divide
  bool bias = true;           // the linear maps have biases
  // Biases of the map to q, k and v, or of the map of the result, if `bias` is false.
  bool qkv_bias = false, out_bias = false;
  QkNorm qk_norm = QkNorm::none;
  NormKind norm = NormKind::layer;  // kind of the norms of q and k
  double epsilon = 1e-5;            // epsilon of these norms
  double scale = 0;                 // scale of the scores; 0: 1 / sqrt(head_dim)
  double softcap = 0;  // > 0: scaled scores become softcap tanh(score / softcap); 0: off
  bool cross = false;  // keys and values come from a context, not from x
};

// The input of a call besides x: the sequences of x and, for cross attention, of the context.
template <class T>
struct AttentionCall {
  bool causal = false;
  std::span<const std::int64_t> segments{};  // sequences of the queries, [sequences + 1]
  // Sequences of the context's keys; empty: those of the queries.
  std::span<const std::int64_t> key_segments{};
  const PositionTables<T>* positions = nullptr;  // tables for the queries' lengths; null: none
  std::size_t kind = 0;                          // number of the tables: PositionTables::set()
};

// Computes out(attention(q, k, v)) with q, k, v = in(x), or k, v = in(context) (Vaswani et al.
// 2017, section 3.2.2).
template <class T>
struct AttentionLayer {
  AttentionLayerOptions options;  // sizes that were 0 are filled in
  Linear<T> in;  // [(heads + 2 kv_heads) head_dim, width]: rows of q, of k, of v, each head by head
  Linear<T> out;  // [width, heads head_dim]
  std::optional<Norm<T>> q_norm, k_norm;

  // Throws Error unless sizes are positive, heads divide width (or head_dim is given), kv_heads
  // divides heads, and scale and softcap are not negative. `out_gain` is the gain of the last map's
  // first weights.
  AttentionLayer(const AttentionLayerOptions& options, FirstWeights weights, double out_gain = 1);

  struct Saved {
    View<const T> x, context;  // [tokens, width]
    std::optional<typename Norm<T>::Saved> q_norm, k_norm;
    View<T> q, k, v, mixed;   // [1, heads or kv_heads, tokens, head_dim], strided
    View<float> log_sum_exp;  // [1, heads, tokens]
    AttentionCall<T> call;
    std::optional<RandomKey> dropout_key;  // of the weights; unset: none are dropped
  };
  // x, y: [tokens, width]; context: [context tokens, width] for cross attention, else empty. A
  // sequence without context attends to nothing: the result is out() of zeros. With
  // pass.attention_dropout each call takes a stream of random numbers from the pass. Throws Error
  // for a context that does not fit, and for dropout of weights that is out of range or of
  // sequences that are divided among processes.
  Saved forward(View<const T> x, View<const T> context, const AttentionCall<T>& call, View<T> y,
                Pass& pass) const;
  // Overwrites dx and adds to dcontext and to the gradients of layer and positions (null if the
  // call has none).
  void backward(const Saved& saved, View<const T> dy, View<T> dx, View<T> dcontext,
                AttentionLayer& gradient, PositionModule<T>* positions_gradient, Pass& pass) const;

  // Returns keys and values of a context, [context tokens, 2 kv_heads head_dim], keys first.
  View<T> project_context(View<const T> context, Pass& pass) const;
  // Computes y for x [tokens, width] over keys of project_context(), without data for gradients.
  void attend_context(View<const T> x, View<T> keys, const AttentionCall<T>& call, View<T> y,
                      Pass& pass) const;

  // Returns q, k and v of x, [tokens, (heads + 2 kv_heads) head_dim], after the norms of q and k,
  // and the options of the operator. A decoder uses them instead of forward().
  View<T> project(View<const T> x, Pass& pass) const;
  AttentionOptions<T> operator_options() const;

  // Returns the attention weights of one sequence of a call, before dropout, [heads, its queries,
  // its keys], or of chosen heads and rows, for pictures.
  Tensor<T> weights(const Saved& saved, std::int64_t sequence,
                    const WeightsOptions& chosen = {}) const;

  // prefix + "in.", "out.", "q_norm.", "k_norm.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);

 private:
  View<T> project_keys(View<const T> context, Pass& pass) const;  // before the norm
};

}  // namespace sextant

// One head and many heads: projections around the attention operator.
#include "sextant/lessons/heads.h"

#include <cmath>

#include "lessons/views.h"
#include "sextant/core/error.h"

namespace sextant {

using namespace lessons;

namespace {

template <class T>
HeadsResult<T> attend(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                      std::int64_t heads, const AttentionOptions<T>& options) {
  const View<const T> q_heads = as_heads(q.view(), heads), k_heads = as_heads(k.view(), heads);
  HeadsResult<T> result;
  const Tensor<T> weights = attention_weights<T>(q_heads, k_heads, options);
  result.weights = copy_of(weights.view().select(0, 0));
  result.output = Tensor<T>({q.size(0), v.size(1)});
  attention<T>(q_heads, k_heads, as_heads(v.view(), heads), as_heads(result.output.view(), heads),
               options);
  return result;
}

// Throws before anything is drawn from the generator.
std::int64_t checked_heads(std::int64_t width, std::int64_t heads) {
  if (heads < 1)
    throw Error("multi_head.heads", "must be at least 1, got " + std::to_string(heads));
  if (width < 1 || width % heads != 0) {
    throw Error("multi_head.width", "must be a positive multiple of heads = " +
                                        std::to_string(heads) + ", got " + std::to_string(width));
  }
  return heads;
}

SingleHeadOptions completed(SingleHeadOptions options) {
  if (options.width < 1) {
    throw Error("single_head.width", "must be at least 1, got " + std::to_string(options.width));
  }
  if (options.qk_dim == 0) options.qk_dim = options.width;
  if (options.v_dim == 0) options.v_dim = options.width;
  return options;
}

}  // namespace

template <class T>
SingleHead<T>::SingleHead(const SingleHeadOptions& head_options)
    : SingleHead(completed(head_options), NumpyRandom(head_options.seed)) {}

template <class T>
SingleHead<T>::SingleHead(const SingleHeadOptions& o, NumpyRandom random)
    : options(o),
      embedding(Embedding<T>::random(o.tokens, o.width, random)),
      to_q(Linear<T>::random(o.width, o.qk_dim, random)),
      to_k(Linear<T>::random(o.width, o.qk_dim, random)),
      to_v(Linear<T>::random(o.width, o.v_dim, random)),
      positions(Sinusoidal{.width = o.width}) {
  if (!o.scale_embedding) {  // Embedding::random() is made to be scaled
    const double root = std::sqrt(static_cast<double>(o.width));
    for (T& value : embedding.table().span())
      value = static_cast<T>(static_cast<double>(value) * root);
  }
  if (o.output_projection) to_out = Linear<T>::random(o.v_dim, o.width, random);
}

template <class T>
HeadsResult<T> SingleHead<T>::operator()(std::span<const std::int64_t> indices, bool causal) {
  if (indices.empty()) throw Error("single_head.indices", "must have at least one token");
  const auto length = static_cast<std::int64_t>(indices.size());
  const auto table = positions.rows(length);
  EmbedOptions how;
  if (!options.scale_embedding) how.scale = 1;
  const Tensor<T> x = embed_with_positions<T>(
      embedding, View<const std::int64_t>(indices.data(), {1, length}), table->view(), how);
  return of_vectors(x.view().select(0, 0), causal);
}

template <class T>
HeadsResult<T> SingleHead<T>::of_vectors(View<const T> x, bool causal) const {
  if (x.rank() != 2 || x.size(0) < 1 || x.size(1) != options.width) {
    throw Error("single_head.x", "must be [length, " + std::to_string(options.width) +
                                     "] with a row at least, got " + x.shape().to_string());
  }
  AttentionOptions<T> how;
  if (causal) how.causal = Causal::top_left;
  HeadsResult<T> result = attend(to_q(x), to_k(x), to_v(x), 1, how);
  if (to_out) result.output = (*to_out)(result.output);
  return result;
}

template <class T>
MultiHead<T>::MultiHead(std::int64_t width, std::int64_t head_count, NumpyRandom& random)
    : heads(checked_heads(width, head_count)),
      to_q(Linear<T>::random(width, width, random)),
      to_k(Linear<T>::random(width, width, random)),
      to_v(Linear<T>::random(width, width, random)),
      to_out(Linear<T>::random(width, width, random)) {}

template <class T>
HeadsResult<T> MultiHead<T>::operator()(View<const T> x, View<const T> context,
                                        const AttentionOptions<T>& options,
                                        const RotationTable<T>* rotation_q,
                                        const RotationTable<T>* rotation_k) const {
  Tensor<T> q = to_q(x), k = to_k(context);
  const auto rotate_heads = [this](Tensor<T>& rows, const RotationTable<T>* table) {
    const View<T> by_head = as_heads(rows.view(), heads);
    if (table != nullptr) rotate<T>(by_head, by_head, *table);
  };
  rotate_heads(q, rotation_q);
  rotate_heads(k, rotation_k);
  HeadsResult<T> result = attend(q, k, to_v(context), heads, options);
  result.output = to_out(result.output);
  return result;
}

template struct SingleHead<float>;
template struct SingleHead<double>;
template struct MultiHead<float>;
template struct MultiHead<double>;

}  // namespace sextant

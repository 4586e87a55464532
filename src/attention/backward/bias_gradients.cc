// Gradients of biases and their parameters from those of scores.
#include "attention/backward/bias_gradients.h"

#include <algorithm>
#include <cmath>

namespace sextant::attention_detail {

template <class T>
BiasGradients<T>::BiasGradients(const BackwardArguments<T>& b) : b_(b) {
  if (!b.wants_ordered()) return;
  const Arguments<T>& a = b.scores;
  if (b.wants_indexed()) indexed_ = static_cast<std::size_t>(a.indexed->gradient_size());
  if (b.wants_distances_by_ids() && is_given(b.wanted.bias.values)) {
    columns_ = static_cast<std::size_t>(a.bias->values.size(1));
  }
  sums_.resize(indexed_ + columns_ + 1);
}

template <class T>
void BiasGradients<T>::add(const Sequence& at, std::int64_t head, std::int64_t first_query,
                           std::int64_t queries, std::int64_t first_key, std::int64_t keys,
                           const float* dscores, std::int64_t row_stride) {
  if (indexed_ > 0) {
    b_.scores.indexed->accumulate(b_.scores.tile(at, head, first_query, queries, first_key, keys),
                                  dscores, row_stride, sums_.data());
  }
  if (!b_.wants_distances_by_ids()) return;
  for (std::int64_t i = 0; i < queries; ++i) {
    add_by_ids(at, first_query + i, first_key, keys, dscores + i * row_stride);
  }
}

template <class T>
void BiasGradients<T>::add_by_ids(const Sequence& at, std::int64_t query, std::int64_t first_key,
                                  std::int64_t keys, const float* dscores) {
  const Arguments<T>& a = b_.scores;
  const std::int64_t position = a.query_position(at, query);
  const std::int64_t* ids = a.key_ids.at(at.batch, at.k_begin + first_key);
  const std::int64_t origin = columns_ > 0 ? a.bias->origin : 0;
  double* bias = sums_.data() + indexed_;
  double slope = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    const auto ds = static_cast<double>(dscores[j]);
    const std::int64_t distance = ids[j] - position, column = distance + origin;
    // Columns outside belong to pairs that are hidden.
    if (column >= 0 && column < static_cast<std::int64_t>(columns_)) bias[column] += ds;
    slope -= std::abs(static_cast<double>(distance)) * ds;
  }
  sums_.back() += slope;
}

template class BiasGradients<float>;
template class BiasGradients<double>;
template class BiasGradients<float16>;
template class BiasGradients<bfloat16>;

}  // namespace sextant::attention_detail

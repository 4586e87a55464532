// Gradients of biases and their parameters from those of scores.
#include "attention/backward/bias_gradients.h"

#include <algorithm>
#include <cmath>

namespace sextant::attention_detail {

BiasGradients::BiasGradients(const BackwardArguments& b)
    : b_(b), has_terms_(b.wants_bias_terms() || b.scores.terms_read_rows()) {
  if (!b.wants_ordered() && !has_terms_) return;
  const AttentionCall& a = b.scores;
  for (const TermUse& use : a.bias_terms) {
    begins_.push_back(terms_);
    if (has_terms_) terms_ += static_cast<std::size_t>(use.needs.parameters);
  }
  if (b.wants_distances_by_ids() && b.wanted.bias_values.is_given()) {
    columns_ = static_cast<std::size_t>(a.bias->values.size(1));
  }
  sums_.resize(terms_ + columns_ + 1);
}

void BiasGradients::add(const Sequence& at, const ScoreRect& rect, double* dscores,
                        std::int64_t row_stride) {
  for (std::size_t n = 0; has_terms_ && n < begins_.size(); ++n) {
    const TermUse& use = b_.scores.bias_terms[n];
    if (use.needs.parameters == 0) continue;
    ScoreGradient tile{};
    static_cast<ScoreRect&>(tile) = rect;
    tile.head_dim = b_.scores.head_dim;
    tile.scale = b_.scores.numbers.scale;
    tile.dscores = dscores;
    tile.stride = row_stride;
    tile.parameters = parameters(n);
    use.term->backward(tile);
  }
  if (!b_.wants_distances_by_ids()) return;
  for (std::int64_t i = 0; i < rect.queries; ++i) {
    add_by_ids(at, rect.first_query + i, rect.first_key, rect.keys, dscores + i * row_stride);
  }
}

void BiasGradients::add_by_ids(const Sequence& at, std::int64_t query, std::int64_t first_key,
                               std::int64_t keys, const double* dscores) {
  const AttentionCall& a = b_.scores;
  const std::int64_t position = a.query_position(at, query);
  const std::int64_t* ids = a.key_ids.at(at.batch, at.k_begin + first_key);
  const std::int64_t origin = columns_ > 0 ? a.bias->origin : 0;
  double* bias = sums_.data() + terms_;
  double slope = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    const double ds = dscores[j];
    const std::int64_t distance = ids[j] - position, column = distance + origin;
    // Columns outside belong to pairs that are hidden.
    if (column >= 0 && column < static_cast<std::int64_t>(columns_)) bias[column] += ds;
    slope -= std::abs(static_cast<double>(distance)) * ds;
  }
  sums_.back() += slope;
}

}  // namespace sextant::attention_detail

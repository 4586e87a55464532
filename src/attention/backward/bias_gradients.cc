// Gradients of biases and their parameters from those of scores.
#include "attention/backward/bias_gradients.h"

#include <algorithm>
#include <cmath>

namespace sextant::attention_detail {

BiasGradients::BiasGradients(const BackwardArguments& b)
    : b_(b),
      has_terms_(b.wants_bias_terms() ||
                 std::ranges::any_of(b.scores.bias_terms,
                                     [](const TermUse& use) { return use.needs.reads_rows(); })) {
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

void BiasGradients::add(const HeadBiases& head, const ScoreRect& rect, float* dscores,
                        std::int64_t row_stride, const TermGradients& terms) {
  const auto backward = [&](const TermUse& use, double* parameters) {
    const bool learns = use.needs.parameters > 0 && parameters != nullptr;
    if (!learns && !use.needs.reads_rows()) return;
    const std::int64_t n = b_.scores.head_dim;
    ScoreGradient<float> tile{head.inputs(use, rect, terms.memory)};
    tile.dscores = dscores;
    tile.stride = row_stride;
    if (use.needs.q) tile.dq = terms.dq + (rect.first_query - terms.first_query) * n;
    if (use.needs.k) tile.dk = terms.dk + rect.first_key * n;
    tile.parameters = parameters;
    use.term->backward(tile);
  };
  for (std::size_t n = 0; has_terms_ && n < begins_.size(); ++n) {
    backward(b_.scores.bias_terms[n], parameters(n));
  }
  if (b_.scores.logit_term.term != nullptr && !b_.scores.uses_term_rows()) {
    backward(b_.scores.logit_term, terms.logit_parameters);
  }
  if (!b_.wants_distances_by_ids()) return;
  for (std::int64_t i = 0; i < rect.queries; ++i) {
    add_by_ids(head.sequence, rect.first_query + i, rect.first_key, rect.keys,
               dscores + i * row_stride);
  }
}

double* BiasGradients::of_value_vectors(std::int64_t head, double* logit_parameters) noexcept {
  const AttentionCall& a = b_.scores;
  if (a.value_term == nullptr) return nullptr;
  double* of_term = a.value_term == a.logit_term.term ? logit_parameters : nullptr;
  for (std::size_t n = 0; n < a.bias_terms.size(); ++n) {
    if (a.bias_terms[n].term == a.value_term) of_term = parameters(n);
  }
  return of_term == nullptr ? nullptr : of_term + a.value_term->value_vectors(head).parameters;
}

template <class Real>
void BiasGradients::add_by_ids(const Sequence& at, std::int64_t query, std::int64_t first_key,
                               std::int64_t keys, const Real* dscores) {
  const AttentionCall& a = b_.scores;
  const std::int64_t position = a.query_position(at, query);
  const std::int64_t* ids = a.key_ids.at(at.batch, at.k_begin + first_key);
  const std::int64_t origin = columns_ > 0 ? a.bias->origin : 0;
  double* bias = sums_.data() + terms_;
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

template void BiasGradients::add_by_ids(const Sequence&, std::int64_t, std::int64_t, std::int64_t,
                                        const double*);

}  // namespace sextant::attention_detail

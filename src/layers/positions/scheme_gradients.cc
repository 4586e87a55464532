// Computes gradients of the weights of schemes: sums gradients of tables, by their key, and
// converts them when the pass ends.
#include <algorithm>

#include "layers/positions/scheme_tables.h"
#include "layers/sequence_pieces.h"
#include "sextant/layers/position_module.h"

namespace sextant {

using layers::first_positions;
using layers::widened;

namespace {

// Returns the columns of `sum` from `first` on as `columns` ones, with 0 for missing ones. A
// distance that a table has and the sum of several tables does not have got no gradient.
Tensor<double> columns_of(const Tensor<double>& sum, std::int64_t first, std::int64_t columns) {
  Tensor<double> table({sum.size(0), columns});
  const std::int64_t begin = std::max<std::int64_t>(0, -first),
                     end = std::min(columns, sum.size(1) - first);
  for (std::int64_t row = 0; row < sum.size(0); ++row) {
    for (std::int64_t i = begin; i < end; ++i) table(row, i) = sum(row, first + i);
  }
  return table;
}

}  // namespace

template <class T>
void PositionTables<T>::add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                                     std::span<const RowRange> rows,
                                     PositionModule<T>& gradient) const {
  if (!positions_->trainable(SchemeKind::added, 0)) return;
  for (const auto& [length, position, row, count] : layers::sequence_pieces(segments, rows)) {
    const Shape& shape = tables_of(length).applied[0].added->shape();
    Tensor<double>& sum = gradient.sums_[{table_key(length), 0, SchemeKind::added}];
    if (sum.shape() != shape) sum = Tensor<double>(shape);
    const T* from = dx.data() + row * shape[1];
    double* to = sum.data() + position * shape[1];
    for (std::int64_t i = 0; i < count * shape[1]; ++i) to[i] += static_cast<double>(from[i]);
  }
}

template <class T>
void PositionTables<T>::request_gradients(AttentionGradients<T>& gradients, std::int64_t length,
                                          std::size_t layers, Pass& pass) const {
  using Wide = typename AttentionGradients<T>::Wide;
  if (!positions_->trainable()) return;
  const AppliedPositions<T, float>& tables = tables_of(length).applied[layers];
  if (positions_->trainable(SchemeKind::distance_bias, layers)) {
    gradients.bias.values = pass.memory.take<Wide>(tables.bias->values.shape());
  }
  gradients.terms.clear();
  for (const auto& [term, kind] : {std::pair(tables.indexed, SchemeKind::indexed_bias),
                                   std::pair(tables.content, SchemeKind::content)}) {
    if (!term) continue;
    const std::int64_t count = positions_->trainable(kind, layers) ? term->needs().parameters : 0;
    MemberView<double>& wanted = gradients.terms.emplace_back();
    if (count > 0) wanted = pass.memory.take<double>({count});
  }
}

template <class T>
void PositionTables<T>::accumulate(const AttentionGradients<T>& gradients, std::int64_t length,
                                   std::size_t layers, PositionModule<T>& gradient) const {
  const auto sum_up = [&](SchemeKind kind, const auto& view, const Shape& shape) {
    if (view.count() == 0) return;
    Tensor<double>& sum = gradient.sums_[{table_key(length), layers, kind}];
    if (sum.shape() != shape) sum = Tensor<double>(shape);
    for (std::int64_t i = 0; i < view.count(); ++i) {
      sum.data()[i] += static_cast<double>(view.data()[i]);
    }
  };
  sum_up(SchemeKind::distance_bias, gradients.bias.values, gradients.bias.values.shape());
  if (gradients.terms.empty()) return;
  const auto& applied = tables_of(length).applied[layers];
  std::size_t n = 0;  // as request_gradients() lists them
  for (const SchemeKind kind : {SchemeKind::indexed_bias, SchemeKind::content}) {
    if (!(kind == SchemeKind::content ? applied.content : applied.indexed)) continue;
    const MemberView<double>& sums = gradients.terms[n++];
    sum_up(kind, sums, {1, sums.count()});
  }
}

template <class T>
void PositionTables<T>::backward(PositionModule<T>& gradient) const {
  for (const auto& [place, sum] : gradient.sums_) {
    const auto& [key, layers, kind] = place;
    const Tables& tables = *tables_.at(key);
    for (std::size_t i = 0; i < tables.sources.size(); ++i) {
      const auto& [scheme, given, its_layers, learned] = positions_->schemes_[i];
      if (learned.empty() || scheme->kind != kind || its_layers != layers) continue;
      const Source& source = tables.sources[i];
      Tensor<double> own;
      if (scheme->kind == SchemeKind::distance_bias) {
        own = columns_of(sum, tables.applied[layers].bias->origin - source.origin, source.columns);
      }
      const auto ids = first_positions(source.length);
      const SchemeWeights weights = widened(learned);
      const SchemeRequest request = positions_->options_.request(given, ids, &weights);
      for (const auto& [weight, slope] :
           scheme->backward(request, own.count() > 0 ? own.view() : sum.view())) {
        Tensor<T>& to = gradient.schemes_[i].weights.at(weight);
        for (std::int64_t j = 0; j < slope.count(); ++j) {
          to.data()[j] += static_cast<T>(slope.data()[j]);
        }
      }
    }
  }
  gradient.sums_.clear();
}

#define SEXTANT_INSTANTIATE(T)                                                                 \
  template void PositionTables<T>::add_gradient(View<const T>, std::span<const std::int64_t>,  \
                                                std::span<const RowRange>, PositionModule<T>&) \
      const;                                                                                   \
  template void PositionTables<T>::request_gradients(AttentionGradients<T>&, std::int64_t,     \
                                                     std::size_t, Pass&) const;                \
  template void PositionTables<T>::accumulate(const AttentionGradients<T>&, std::int64_t,      \
                                              std::size_t, PositionModule<T>&) const;          \
  template void PositionTables<T>::backward(PositionModule<T>&) const;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

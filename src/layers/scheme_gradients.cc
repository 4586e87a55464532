// Gradients of what schemes learn: sums of gradients of tables, by class of length, that become
// those of the weights when the pass ends.
#include "layers/scheme_tables.h"
#include "sextant/layers/scheme_positions.h"

namespace sextant {

using layers::first_positions;
using layers::widened;

template <class T>
void PositionTables<T>::add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                                     SchemePositions<T>& gradient) const {
  if (!positions_->learns() || positions_->kind() != SchemeKind::added) return;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t length = segments[s + 1] - segments[s];
    const Shape& shape = tables_of(length).applied.added->shape();
    Tensor<double>& sum = gradient.sums_[{length_class(length), "added"}];
    if (sum.shape() != shape) sum = Tensor<double>(shape);
    const T* from = dx.data() + segments[s] * shape[1];
    const std::int64_t count = length * shape[1];
    for (std::int64_t i = 0; i < count; ++i) sum.data()[i] += static_cast<double>(from[i]);
  }
}

template <class T>
void PositionTables<T>::want(AttentionGradients<T>& gradients, std::int64_t length,
                             Pass& pass) const {
  using Wide = typename AttentionGradients<T>::Wide;
  if (!positions_->learns()) return;
  const AppliedPositions<T, float>& tables = tables_of(length).applied;
  if (tables.bias) gradients.bias.values = pass.memory.take<Wide>(tables.bias->values.shape());
  if (tables.indexed && tables.indexed->gradient_size() > 0) {
    gradients.indexed = pass.memory.take<double>({tables.indexed->gradient_size()});
  }
  if (tables.content && tables.content->gradient_size() > 0) {
    gradients.content = pass.memory.take<double>({tables.content->gradient_size()});
  }
}

template <class T>
void PositionTables<T>::collect(const AttentionGradients<T>& gradients, std::int64_t length,
                                SchemePositions<T>& gradient) const {
  const auto sum_up = [&](const char* name, const auto& view, const Shape& shape) {
    if (view.count() == 0) return;
    Tensor<double>& sum = gradient.sums_[{length_class(length), name}];
    if (sum.shape() != shape) sum = Tensor<double>(shape);
    for (std::int64_t i = 0; i < view.count(); ++i) {
      sum.data()[i] += static_cast<double>(view.data()[i]);
    }
  };
  sum_up("bias", gradients.bias.values, gradients.bias.values.shape());
  sum_up("indexed", gradients.indexed, {1, gradients.indexed.count()});
  sum_up("content", gradients.content, {1, gradients.content.count()});
}

template <class T>
void PositionTables<T>::finish(SchemePositions<T>& gradient) const {
  if (gradient.sums_.empty()) return;
  const SchemeWeights weights = widened(positions_->weights_);
  for (const auto& [key, sum] : gradient.sums_) {
    const auto ids = first_positions(tables_.at(key.first)->length);
    for (const auto& [weight, slope] :
         positions_->scheme_->backward(positions_->request(ids, weights), sum.view())) {
      Tensor<T>& to = gradient.weights_.at(weight);
      for (std::int64_t i = 0; i < slope.count(); ++i) {
        to.data()[i] += static_cast<T>(slope.data()[i]);
      }
    }
  }
  gradient.sums_.clear();
}

#define SEXTANT_INSTANTIATE(T)                                                                \
  template void PositionTables<T>::add_gradient(View<const T>, std::span<const std::int64_t>, \
                                                SchemePositions<T>&) const;                   \
  template void PositionTables<T>::want(AttentionGradients<T>&, std::int64_t, Pass&) const;   \
  template void PositionTables<T>::collect(const AttentionGradients<T>&, std::int64_t,        \
                                           SchemePositions<T>&) const;                        \
  template void PositionTables<T>::finish(SchemePositions<T>&) const;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

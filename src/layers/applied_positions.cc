// From what schemes make to what models and the operator need.
#include "sextant/layers/applied_positions.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "layers/scheme_tables.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

template <class To>
Tensor<To> rounded(Tensor<double>&& table) {
  if constexpr (std::is_same_v<To, double>) return std::move(table);
  return detail::converted<To>(table);
}

template <class To>
RotationTable<To> rounded(const RotationTable<double>& table) {
  RotationTable<To> to{detail::converted<To>(table.cos), detail::converted<To>(table.sin),
                       table.layout, table.first_channel};
  if (table.keys) to.keys = std::make_shared<RotationTable<To>>(rounded<To>(*table.keys));
  return to;
}

template <class T, class R>
struct Sorter {
  AppliedPositions<T, R>& applied;
  void operator()(std::monostate) const {}
  void operator()(Tensor<double>&& table) const { applied.added = rounded<T>(std::move(table)); }
  void operator()(RotationTable<double>&& table) const {
    if constexpr (std::is_same_v<R, double>) {
      applied.rotation = std::move(table);
    } else {
      applied.rotation = rounded<R>(table);
    }
  }
  void operator()(DistanceBias&& bias) const { applied.bias = std::move(bias); }
  void operator()(std::shared_ptr<const IndexedBias>&& bias) const {
    applied.indexed = std::move(bias);
  }
  void operator()(std::shared_ptr<const ContentTerm>&& term) const {
    applied.content = std::move(term);
  }
};

}  // namespace

SchemeRequest PositionOptions::request(std::span<const std::int64_t> ids,
                                       const SchemeWeights* weights) const {
  SchemeRequest request;
  request.width = width;
  request.heads = heads;
  request.head_dim = head_dim;
  if (head_dim > 2 && find_scheme(scheme).kind == SchemeKind::rotated) {
    request.head_dim = head_dim / 2 * 2;
  }
  request.positions = ids;
  request.parameters = parameters;
  request.weights = weights;
  return request;
}

template <class T, class R>
AppliedPositions<T, R>::AppliedPositions(SchemeTable table) {
  std::visit(Sorter<T, R>{*this}, std::move(table));
}

template <class T, class R>
AppliedPositions<T, R>::AppliedPositions(const PositionOptions& options, std::int64_t length,
                                         const SchemeWeights* weights) {
  const auto ids = detail::first_positions(length);
  std::visit(Sorter<T, R>{*this}, find_scheme(options.scheme).make(options.request(ids, weights)));
  if (!added || added->shape() == Shape{length, options.width}) return;
  throw Error(options.scheme, "must make a table of shape " +
                                  Shape{length, options.width}.to_string() + ", got " +
                                  added->shape().to_string());
}

template <class T, class R>
void AppliedPositions<T, R>::add_to(View<T> x) const {
  if (!added) return;
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    for (std::int64_t column = 0; column < x.size(1); ++column) {
      x(row, column) += (*added)(row, column);
    }
  }
}

template struct AppliedPositions<float>;
template struct AppliedPositions<double>;
template struct AppliedPositions<double, float>;

}  // namespace sextant

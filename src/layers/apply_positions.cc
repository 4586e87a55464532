// From a scheme's name to the table that attention needs.
#include "layers/apply_positions.h"

#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

struct Sorter {
  AppliedPositions& applied;
  void operator()(std::monostate) const {}
  void operator()(Tensor<double>&& table) const { applied.added = std::move(table); }
  void operator()(RotationTable<double>&& table) const { applied.rotation = std::move(table); }
  void operator()(DistanceBias&& bias) const { applied.bias = std::move(bias); }
  void operator()(std::shared_ptr<const IndexedBias>&& bias) const {
    applied.indexed = std::move(bias);
  }
  void operator()(std::shared_ptr<const ContentTerm>&& term) const {
    applied.content = std::move(term);
  }
};

}  // namespace

AppliedPositions make_positions(const std::string& scheme,
                                const std::map<std::string, std::string>& parameters,
                                std::int64_t length, std::int64_t width, std::int64_t heads,
                                std::int64_t head_dim, const SchemeWeights* weights) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  SchemeRequest request;
  request.width = width;
  request.heads = heads;
  const Scheme& descriptor = find_scheme(scheme);
  request.head_dim = head_dim;
  if (descriptor.kind == SchemeKind::rotated && head_dim > 2) request.head_dim = head_dim / 2 * 2;
  request.positions = ids;
  request.parameters = parameters;
  request.weights = weights;
  AppliedPositions applied;
  std::visit(Sorter{applied}, descriptor.make(request));
  if (applied.added && applied.added->shape() != Shape{length, width}) {
    throw Error(scheme, "must make a table of shape " + Shape{length, width}.to_string() +
                            ", got " + applied.added->shape().to_string());
  }
  return applied;
}

void AppliedPositions::add_to(View<double> x) const {
  if (!added) return;
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    for (std::int64_t column = 0; column < x.size(1); ++column) {
      x(row, column) += (*added)(row, column);
    }
  }
}

void AppliedPositions::rotate_heads(View<double> x) const {
  if (rotation) rotate<double>(x, x, *rotation);
}

void AppliedPositions::rotate_keys(View<double> x) const {
  if (rotation) rotate<double>(x, x, rotation->for_keys());
}

}  // namespace sextant

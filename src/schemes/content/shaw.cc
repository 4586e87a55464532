// Shaw's relative positions: a vector per clipped distance for keys, and one for values.
#include "sextant/schemes/content/shaw.h"

#include <numeric>
#include <string>

#include "schemes/content/relative_vectors.h"
#include "schemes/descriptors.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

void check_distance(std::int64_t max_distance) {
  if (max_distance < 0 || max_distance > (1 << 20)) {
    throw Error("shaw.max_distance", "must be 0 .. 2^20, got " + std::to_string(max_distance));
  }
}

}  // namespace

std::shared_ptr<const ContentTerm> shaw(const Shaw& options, View<const double> key_table,
                                        View<const double> value_table) {
  check_distance(options.max_distance);
  const std::int64_t rows = 2 * options.max_distance + 1;
  detail::RelativeVectors vectors{.scheme = "shaw"};
  vectors.ids = detail::checked_ids("shaw", options.positions);
  vectors.rows.resize(static_cast<std::size_t>(rows));
  std::iota(vectors.rows.begin(), vectors.rows.end(), 0);
  vectors.e = detail::table_of("shaw", "key_table", key_table, rows);
  if (value_table.rank() != 1 || value_table.data() != nullptr) {
    vectors.a = detail::table_of("shaw", "value_table", value_table, rows);
  }
  vectors.head_dim = vectors.e.size(2);
  return detail::relative_term(std::move(vectors));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"max_distance", "16", "0 .. 2^20", "keys further away count as this far"},
    {"values", "yes", "yes | no", "whether values have vectors too"},
    {"per_head", "no", "yes | no", "a table for each head, or one for all"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial tables"},
};
constexpr SchemeWeight kWeights[] = {
    {"key_table", "[2 max_distance + 1, head_dim], or [heads, ...]",
     "added to the keys for each distance; initially normal, deviation 0.5"},
    {"value_table", "like key_table",
     "added to the values for each distance; initially the same; not read with values = no"},
};

Shape table_shape(const Parameters& given, const SchemeRequest& request) {
  const std::int64_t distance = given.integer("max_distance"), rows = 2 * distance + 1;
  check_distance(distance);
  if (request.head_dim < 1) {
    throw Error("shaw.head_dim", "must be >= 1, got " + std::to_string(request.head_dim));
  }
  return given.flag("per_head") ? Shape{request.heads, rows, request.head_dim}
                                : Shape{rows, request.head_dim};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kShaw, request);
  InitialWeights random(given, request);
  const Shape shape = table_shape(given, request);
  SchemeWeights weights;
  weights.emplace("key_table", random.normal(shape, 0.5));
  weights.emplace("value_table", random.normal(shape, 0.5));
  return weights;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kShaw, request);
  const Shape shape = table_shape(given, request);
  const Shaw options{.max_distance = given.integer("max_distance"), .positions = request.positions};
  const Tensor<double>& keys = given.weight("key_table", shape);
  return given.flag("values") ? shaw(options, keys, given.weight("value_table", shape))
                              : shaw(options, keys);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kShaw, request);
  const Shape shape = table_shape(given, request);
  std::int64_t at = 0;
  SchemeWeights gradients;
  gradients.emplace("key_table", detail::take_gradient("shaw", gradient, at, shape));
  gradients.emplace("value_table", given.flag("values")
                                       ? detail::take_gradient("shaw", gradient, at, shape)
                                       : Tensor<double>(shape));
  return gradients;
}

}  // namespace

constinit const Scheme kShaw = {
    .name = "shaw",
    .kind = SchemeKind::content,
    .idea =
        "Adds a learned vector for each clipped distance to the keys, and another to the values.",
    .paper = "Shaw et al. 2018, 1803.02155",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant

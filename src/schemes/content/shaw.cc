// Shaw's relative positions: a vector per clipped distance for keys, and one for values.
#include "sextant/schemes/content/shaw.h"

#include <numeric>
#include <utility>
#include <vector>

#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"

namespace sextant {
namespace {

struct ShawTables {  // sizes from the shapes of the weights
  bool values = true;
  bool per_head = false;
};

bool has_values(const ShawWeights& weights) {
  return weights.value_table.rank() != 1 || weights.value_table.count() > 0;
}

}  // namespace

template <>
inline constexpr auto kFields<Shaw> =
    std::tuple{field(&Shaw::max_distance, "max_distance", IntegerRange{0, 1 << 20},
                     "distances are clipped to -max_distance .. max_distance")};
template <>
inline constexpr auto kFields<ShawTables> = std::tuple{
    field(&ShawTables::values, "values", "add vectors to the values too"),
    field(&ShawTables::per_head, "per_head", "one table per head; no: one for all heads")};
template <>
inline constexpr auto kWeights<ShawWeights> = std::tuple{
    weight(&ShawWeights::key_table, "key_table", "[2 max_distance + 1, head_dim], or [heads, ...]",
           "added to the keys, by distance; initially normal, standard deviation 0.5"),
    weight(&ShawWeights::value_table, "value_table", "like key_table",
           "added to the values, by distance; initially the same; unused with values = no")};

std::shared_ptr<const ScoreTerm> shaw(const Shaw& options, const ShawWeights& weights,
                                      std::span<const std::int64_t> positions) {
  check_fields("shaw", options);
  const std::int64_t rows = 2 * options.max_distance + 1;
  schemes_detail::RelativeVectors vectors{.scheme = "shaw"};
  vectors.ids = schemes_detail::checked_ids("shaw", positions);
  vectors.rows.resize(static_cast<std::size_t>(rows));
  std::iota(vectors.rows.begin(), vectors.rows.end(), 0);
  vectors.key_table = schemes_detail::table_of("shaw", "key_table", weights.key_table, rows);
  if (has_values(weights)) {
    vectors.value_table =
        schemes_detail::table_of("shaw", "value_table", weights.value_table, rows);
  }
  vectors.head_dim = vectors.key_table.size(2);
  return schemes_detail::relative_term(std::move(vectors));
}

ShawWeights shaw_backward(const Shaw&, const ShawWeights& weights, View<const double> gradient) {
  std::int64_t at = 0;
  ShawWeights sums;
  sums.key_table = schemes_detail::take_gradient("shaw", gradient, at, weights.key_table.shape());
  if (has_values(weights)) {
    sums.value_table =
        schemes_detail::take_gradient("shaw", gradient, at, weights.value_table.shape());
  }
  return sums;
}

namespace descriptors {
namespace {

using Of = Given<Shaw, ShawTables>;

// Without a table of values where these have no vectors.
ShawWeights weights_that_are_read(const Of& of, const ShawWeights& weights) {
  return {weights.key_table.clone(), of.values ? weights.value_table.clone() : Tensor<double>()};
}

constexpr Definition<ShawWeights, Shaw, ShawTables> kDefinition = {
    .name = "shaw",
    .title = "Shaw",
    .kind = SchemeKind::content,
    .idea =
        "Adds a learned vector for each clipped distance to the keys, and another to the values.",
    .paper = "Shaw et al. 2018, 1803.02155",
    .sizes = [](const Of& of) -> WeightSizes {
      std::vector sizes{2 * of.max_distance + 1, schemes_detail::head_dim_of("shaw", of.request)};
      if (of.per_head) sizes.insert(sizes.begin(), of.request.heads);
      return {{"key_table", sizes}, {"value_table", sizes}};
    },
    .initial =
        [](const Of&, InitialWeights& to) {
          to.normal("key_table", 0.5);
          to.normal("value_table", 0.5);
        },
    .make = [](const Of& of, const ShawWeights& weights) -> SchemeTable {
      return shaw(of, weights_that_are_read(of, weights), of.ids());
    },
    .backward =
        [](const Of& of, const ShawWeights& weights, View<const double> gradient) {
          ShawWeights sums = shaw_backward(of, weights_that_are_read(of, weights), gradient);
          if (!of.values) sums.value_table = Tensor<double>(weights.key_table.shape());
          return sums;
        },
};

}  // namespace

constinit const Scheme kShaw = scheme_of<kShaw, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

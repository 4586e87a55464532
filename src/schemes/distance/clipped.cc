// A learned number per head and distance, distances beyond a limit sharing one.
#include "sextant/schemes/distance/clipped.h"

#include <algorithm>

#include "schemes/definition.h"

namespace sextant {

template <>
inline constexpr auto kFields<Clipped> =
    std::tuple{field(&Clipped::max_distance, "max_distance", IntegerRange{0, 1 << 28},
                     "distances are clipped to -max_distance .. max_distance")};
template <>
inline constexpr auto kWeights<ClippedWeights> =
    std::tuple{weight(&ClippedWeights::table, "table", "[2 max_distance + 1, heads]",
                      "row key - query + max_distance; initially normal, standard deviation 0.02")};

namespace {

void check(const Clipped& options, const ClippedWeights& weights) {
  check_fields("clipped", options);
  schemes_detail::check_weight("clipped", "table", weights.table,
                               {2 * options.max_distance + 1, "heads"});
}

// The row of a distance.
auto rows_of(const Clipped& options) {
  return [limit = options.max_distance](std::int64_t distance) {
    return std::clamp(distance, -limit, limit) + limit;
  };
}

}  // namespace

DistanceBias clipped(const Clipped& options, const ClippedWeights& weights, std::int64_t length) {
  check(options, weights);
  return schemes_detail::bias_by_distance("clipped", weights.table.size(1), length,
                                          [&, row = rows_of(options)](auto head, auto distance) {
                                            return weights.table(row(distance), head);
                                          });
}

ClippedWeights clipped_backward(const Clipped& options, const ClippedWeights& weights,
                                View<const double> gradient) {
  check(options, weights);
  return {schemes_detail::row_sums("clipped", weights.table, gradient, rows_of(options))};
}

namespace descriptors {
namespace {

constexpr Definition<ClippedWeights, Clipped> kDefinition = {
    .name = "clipped",
    .title = "clipped",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a learned number per head and signed distance; beyond a limit all share one.",
    .paper = "Shaw et al. 2018, 1803.02155, in scalar form",
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"table", {2 * of.max_distance + 1, of.request.heads}}};
    },
    .initial = [](const auto&, InitialWeights& to) { to.normal("table", 0.02); },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return clipped(of, weights, of.length());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return clipped_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kClipped = scheme_of<kClipped, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

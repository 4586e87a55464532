// A learned number per head and distance, distances beyond a limit sharing one.
#include "sextant/schemes/distance/clipped.h"

#include <algorithm>
#include <string>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/initial_weights.h"
#include "schemes/weight_fields.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<Clipped> =
    std::tuple{field(&Clipped::max_distance, "max_distance", IntegerRange{0, 1 << 28},
                     "distances beyond count as this one, on either side")};
template <>
inline constexpr auto kWeights<ClippedWeights> =
    std::tuple{weight(&ClippedWeights::table, "table", "[2 max_distance + 1, heads]",
                      "row key - query + max_distance; initially normal, deviation 0.02")};

namespace {

void check(const Clipped& options, const ClippedWeights& weights) {
  check_fields("clipped", options);
  const std::int64_t rows = 2 * options.max_distance + 1;
  if (weights.table.rank() != 2 || weights.table.size(0) != rows) {
    throw Error("clipped.table", "must be [" + std::to_string(rows) + ", heads], got " +
                                     weights.table.shape().to_string());
  }
  schemes_detail::check_finite("clipped", "table", weights.table);
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

WeightSizes weight_sizes(const SchemeRequest& request) {
  const auto options = Parameters(kClipped, request).options<Clipped>();
  return {{"table", {2 * options.max_distance + 1, request.heads}}};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  InitialWeights weights(kClipped, request);
  weights.normal("table", 0.02);
  return weights.take();
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kClipped, request);
  return clipped(given.options<Clipped>(), weights_of<ClippedWeights>(given),
                 schemes_detail::distances_of("clipped", request));
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kClipped, request);
  return named(
      clipped_backward(given.options<Clipped>(), weights_of<ClippedWeights>(given), gradient));
}

}  // namespace

constinit const Scheme kClipped = {
    .name = "clipped",
    .title = "clipped",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a learned number per head and signed distance; beyond a limit all share one.",
    .paper = "Shaw et al. 2018, 1803.02155, in scalar form",
    .parameters = parameters_of<Clipped, InitialSeed>,
    .make = make,
    .weights = kWeightList<ClippedWeights>,
    .weight_sizes = weight_sizes,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant

// A learned number per head and distance, the farthest ones shared.
#include "sextant/schemes/distance/clipped.h"

#include <algorithm>
#include <string>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 28;

void check_max_distance(std::int64_t max_distance) {
  if (max_distance < 0 || max_distance > kFarthest) {
    throw Error("clipped.max_distance",
                "must be in 0 .. 2^28, got " + std::to_string(max_distance));
  }
}

}  // namespace

DistanceBias clipped(View<const double> table, std::int64_t length) {
  if (table.rank() != 2 || table.size(0) % 2 != 1 || table.size(0) / 2 > kFarthest) {
    throw Error("clipped.table",
                "must be [2 max_distance + 1, heads], max_distance 0 .. 2^28, got " +
                    table.shape().to_string());
  }
  detail::check_finite("clipped", "table", table);
  const std::int64_t most = table.size(0) / 2;
  return detail::bias_by_distance("clipped", table.size(1), length,
                                  [&](std::int64_t head, std::int64_t distance) {
                                    return table(std::clamp(distance, -most, most) + most, head);
                                  });
}

Tensor<double> clipped_backward(std::int64_t max_distance, View<const double> gradient) {
  check_max_distance(max_distance);
  const std::int64_t heads = gradient.rank() == 2 ? gradient.size(0) : 1;
  const std::int64_t length = detail::length_of_gradient("clipped", heads, gradient);
  Tensor<double> sums({2 * max_distance + 1, heads});
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t distance = 1 - length; distance < length; ++distance) {
      sums(std::clamp(distance, -max_distance, max_distance) + max_distance, head) +=
          gradient(head, distance + length - 1);
    }
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"max_distance", "16", "0 .. 2^28", "distances beyond count as this one, on either side"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial table"},
};
constexpr SchemeWeight kWeights[] = {
    {"table", "[2 max_distance + 1, heads]",
     "row key - query + max_distance; initially normal, deviation 0.02"},
};

Shape shape_of(const Parameters& given, const SchemeRequest& request) {
  const std::int64_t max_distance = given.integer("max_distance");
  check_max_distance(max_distance);
  return {2 * max_distance + 1, request.heads};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kClipped, request);
  InitialWeights random(given, request);
  SchemeWeights weights;
  weights.emplace("table", random.normal(shape_of(given, request), 0.02));
  return weights;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kClipped, request);
  const std::int64_t length = detail::distances_of("clipped", request);
  detail::check_distances("clipped", request.heads, length);
  return clipped(given.weight("table", shape_of(given, request)), length);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kClipped, request);
  detail::length_of_gradient("clipped", request.heads, gradient);
  SchemeWeights gradients;
  gradients.emplace("table", clipped_backward(shape_of(given, request)[0] / 2, gradient));
  return gradients;
}

}  // namespace

constinit const Scheme kClipped = {
    .name = "clipped",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a learned number per head and signed distance; beyond a limit all share one.",
    .paper = "Shaw et al. 2018, 1803.02155, in scalar form",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant

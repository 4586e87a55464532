// Local attention as a bias: 0 near the query, -infinity elsewhere.
#include "sextant/schemes/distance/window.h"

#include <string>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "sextant/core/error.h"

namespace sextant {

DistanceBias window(const LocalWindow& options, std::int64_t length) {
  if (options.left < -1) {
    throw Error("window.left", "must be >= 0, or -1 for all, got " + std::to_string(options.left));
  }
  if (options.right < -1) {
    throw Error("window.right",
                "must be >= 0, or -1 for all, got " + std::to_string(options.right));
  }
  if (options.dilation < 1) {
    throw Error("window.dilation", "must be >= 1, got " + std::to_string(options.dilation));
  }
  return detail::bias_by_distance("window", 1, length, [&](std::int64_t, std::int64_t distance) {
    // In steps of the dilation: left times dilation might be beyond int64.
    const std::int64_t steps = distance / options.dilation;
    const bool seen = distance % options.dilation == 0 &&
                      (options.left == -1 || -steps <= options.left) &&
                      (options.right == -1 || steps <= options.right);
    return seen ? 0 : detail::kHiddenPair;
  });
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"left", "64", ">= 0, or -1 for all", "visible keys to the left, the query's own not counted"},
    {"right", "64", ">= 0, or -1 for all", "visible keys to the right"},
    {"dilation", "1", ">= 1", "only every n-th key is visible, counted from the query's own"},
};

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kWindow, request);
  LocalWindow options;
  options.left = given.integer("left");
  options.right = given.integer("right");
  options.dilation = given.integer("dilation");
  return window(options, detail::distances_of("window", request));
}

}  // namespace

constinit const Scheme kWindow = {
    .name = "window",
    .kind = SchemeKind::distance_bias,
    .idea = "Hides keys that are too far from the query, and with dilation all but every n-th.",
    .paper = "Child et al. 2019, 1904.10509; Beltagy et al. 2020, 2004.05150",
    .parameters = kParameters,
    .make = make,
};

}  // namespace descriptors
}  // namespace sextant

// Local attention as a bias: 0 near the query, -infinity elsewhere.
#include "sextant/schemes/distance/window.h"

#include "schemes/definition.h"

namespace sextant {

constexpr IntegerRange kWindowSide = at_least(-1);

template <>
inline constexpr auto kFields<LocalWindow> =
    std::tuple{field(&LocalWindow::left, "left", kWindowSide,
                     "visible keys before the query's position, which is not counted; -1: all"),
               field(&LocalWindow::right, "right", kWindowSide,
                     "visible keys after the query's position; -1: all"),
               field(&LocalWindow::dilation, "dilation", at_least(1),
                     "only every n-th key is visible, counted from the query's position")};

DistanceBias window(const LocalWindow& options, std::int64_t length) {
  check_fields("window", options);
  return schemes_detail::bias_by_distance(
      "window", 1, length, [&](std::int64_t, std::int64_t distance) {
        // In steps of the dilation: left times dilation might be beyond int64.
        const std::int64_t steps = distance / options.dilation;
        const bool visible = distance % options.dilation == 0 &&
                             (options.left == -1 || -steps <= options.left) &&
                             (options.right == -1 || steps <= options.right);
        return visible ? 0 : schemes_detail::kHiddenPair;
      });
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, LocalWindow> kDefinition = {
    .name = "window",
    .title = "window",
    .kind = SchemeKind::distance_bias,
    .idea = "Hides keys that are too far from the query, and with dilation all but every n-th.",
    .paper = "Child et al. 2019, 1904.10509; Beltagy et al. 2020, 2004.05150",
    .make = [](const auto& of) -> SchemeTable { return window(of, of.length()); },
};

}  // namespace

constinit const Scheme kWindow = scheme_of<kWindow, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

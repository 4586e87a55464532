// ALiBi: the bias that its slopes make.
#include "sextant/schemes/distance/alibi.h"

#include <cmath>
#include <vector>

#include "core/options/enum_names.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<BiasDirection> =
    meanings("biased by their distance, as earlier keys are", "hidden");

template <>
inline constexpr auto kFields<Alibi> = std::tuple{
    field(&Alibi::heads, "heads", kHeads, "query heads").of_request(),
    field(&Alibi::direction, "direction", "treatment of keys after the query"),
    field(&Alibi::max_bias, "max_bias", NumberRange{0, 1000},
          "slope of the last head if the number of heads is a power of two: 2^-max_bias"),
    field(&Alibi::factor, "factor", kAboveZero,
          "factor of the slopes; 1/sqrt(head_dim) for a bias that is added before the scores are "
          "scaled")};

namespace {

std::vector<double> checked_slopes(const Alibi& options, std::int64_t length) {
  check_fields("alibi", options);
  schemes_detail::check_distances("alibi", options.heads, length);
  std::vector<double> slopes = alibi_slopes(options.heads, options.max_bias);
  for (double& slope : slopes) slope *= options.factor;
  return slopes;
}

}  // namespace

DistanceBias alibi(const Alibi& options) {
  DistanceBias bias{.slopes = checked_slopes(options, 1)};
  if (options.direction != BiasDirection::symmetric) {
    throw Error("alibi.direction", "must be symmetric where no length is given, got causal");
  }
  return bias;
}

DistanceBias alibi(const Alibi& options, std::int64_t length) {
  const std::vector<double> slopes = checked_slopes(options, length);
  const bool causal = options.direction == BiasDirection::causal;
  return schemes_detail::bias_by_distance(
      "alibi", options.heads, length, [&](std::int64_t head, std::int64_t distance) {
        if (causal && distance > 0) return schemes_detail::kHiddenPair;
        return -slopes[static_cast<std::size_t>(head)] * std::abs(static_cast<double>(distance));
      });
}

std::string_view name_of(BiasDirection direction) noexcept {
  return enum_name(direction, {"symmetric", "causal"});
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Alibi> kDefinition = {
    .name = "alibi",
    .title = "ALiBi",
    .kind = SchemeKind::distance_bias,
    .idea = "Lowers a score in proportion to the distance, with a different slope in each head.",
    .paper = "Press et al. 2021, 2108.12409",
    .make = [](const auto& of) -> SchemeTable { return alibi(of, of.length()); },
};

}  // namespace

constinit const Scheme kAlibi = scheme_of<kAlibi, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

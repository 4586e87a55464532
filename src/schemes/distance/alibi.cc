// ALiBi: the bias that its slopes make.
#include "sextant/schemes/distance/alibi.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/option_checks.h"
#include "core/quoted_text.h"
#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {

namespace {

std::vector<double> checked_slopes(const Alibi& options, std::int64_t length) {
  detail::check_distances("alibi", options.heads, length);
  check_named("alibi.direction", options.direction);
  if (!(options.max_bias >= 0 && options.max_bias <= 1000)) {
    throw Error("alibi.max_bias", "must be in 0 .. 1000, got " + shortest(options.max_bias));
  }
  return alibi_slopes(options.heads, options.max_bias);
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
  return detail::bias_by_distance(
      "alibi", options.heads, length, [&](std::int64_t head, std::int64_t distance) {
        if (causal && distance > 0) return detail::kHiddenPair;
        return -slopes[static_cast<std::size_t>(head)] * std::abs(static_cast<double>(distance));
      });
}

std::string_view name_of(BiasDirection direction) noexcept {
  switch (direction) {
    case BiasDirection::symmetric:
      return "symmetric";
    case BiasDirection::causal:
      return "causal";
  }
  return "unknown";
}

BiasDirection parse_bias_direction(std::string_view name, std::string_view where) {
  for (const BiasDirection direction : {BiasDirection::symmetric, BiasDirection::causal}) {
    if (name_of(direction) == name) return direction;
  }
  throw Error(where, "must be one of symmetric, causal, got " + quoted_text(name));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"direction", "symmetric", "symmetric | causal",
     "keys in the future: biased by their distance as well, or hidden"},
    {"max_bias", "8", "0 .. 1000", "the last head of a power of two has slope 2^-max_bias"},
};

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kAlibi, request);
  Alibi options;
  options.heads = request.heads;
  options.direction = parse_bias_direction(given.text("direction"), given.where("direction"));
  options.max_bias = given.number("max_bias");
  return alibi(options, detail::distances_of("alibi", request));
}

}  // namespace

constinit const Scheme kAlibi = {
    .name = "alibi",
    .kind = SchemeKind::distance_bias,
    .idea = "Lowers a score in proportion to the distance, with a different slope in each head.",
    .paper = "Press et al. 2021, 2108.12409",
    .parameters = kParameters,
    .make = make,
};

}  // namespace descriptors
}  // namespace sextant

// Geometric ladders, exactly and in float32, and the larger base of the NTK scalings.
#include "schemes/rotated/ladder.h"

#include <cmath>

#include "schemes/rotated/frequencies.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

float framework_power(double base, std::int64_t numerator, std::int64_t denominator) noexcept {
  const float exponent = static_cast<float>(numerator) / static_cast<float>(denominator);
  const auto float_base = static_cast<double>(static_cast<float>(base));
  return static_cast<float>(std::pow(float_base, static_cast<double>(exponent)));
}

}  // namespace

std::vector<float> framework_powers(double base, std::int64_t denominator, std::int64_t count) {
  std::vector<float> powers;
  for (std::int64_t k = 0; k < count; ++k) {
    powers.push_back(framework_power(base, 2 * k, denominator));
  }
  return powers;
}

RotaryLadder::RotaryLadder(std::string_view scheme, double ladder_base, std::int64_t channels)
    : scope(scheme), base(ladder_base), dim(channels) {
  exact = geometric_ladder(base, 0, 2, dim, pairs(), where("base"));
  framework = framework_powers(base, dim, pairs());
  for (float& frequency : framework) frequency = 1 / frequency;
}

double stretched_base(std::string_view scope, double base, std::int64_t dim, double stretch) {
  if (dim <= 2) {
    throw Error(std::string(scope) + ".rotary_dim", "must be above 2, got " + std::to_string(dim));
  }
  const auto n = static_cast<double>(dim);
  return base * std::pow(stretch, n / (n - 2));
}

void stretch_base(RotaryLadder& ladder, const WideFloat& stretch) {
  const double base = stretched_base(ladder.scope, ladder.base, ladder.dim, stretch.to_double());
  const auto dim = static_cast<std::uint64_t>(ladder.dim);
  const WideFloat log_base =
      log(WideFloat(ladder.base)) + log(stretch) * WideFloat(static_cast<double>(dim)) / (dim - 2);
  ladder.exact = geometric_ladder(log_base, 0, 2, ladder.dim, ladder.pairs());
  ladder.framework = framework_powers(base, ladder.dim, ladder.pairs());
  for (float& frequency : ladder.framework) frequency = 1 / frequency;
}

}  // namespace sextant

// Geometric sequences of frequencies: one exponential for the ratio, then products.
#include "schemes/rotated/frequencies.h"

#include <cmath>
#include <string>

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

std::vector<WideFloat> geometric_frequencies(double base, std::int64_t start, std::int64_t step,
                                             std::int64_t denominator, std::int64_t count,
                                             std::string_view where) {
  if (count <= 0) return {};
  const double last =
      static_cast<double>(start) + static_cast<double>(step) * static_cast<double>(count - 1);
  if (-std::log2(base) * last / static_cast<double>(denominator) > 64) {
    throw Error(where, "must keep every frequency at or below 2^64 radians per position, got " +
                           shortest(base));
  }
  return geometric_frequencies(log(WideFloat(base)), start, step, denominator, count);
}

std::vector<WideFloat> geometric_frequencies(const WideFloat& log_base, std::int64_t start,
                                             std::int64_t step, std::int64_t denominator,
                                             std::int64_t count) {
  std::vector<WideFloat> frequencies;
  if (count <= 0) return frequencies;
  const WideFloat unit = -(log_base / static_cast<std::uint64_t>(denominator));
  const auto power = [&](std::int64_t n) { return exp(unit * WideFloat(static_cast<double>(n))); };
  const WideFloat ratio = power(step);
  frequencies.reserve(static_cast<std::size_t>(count));
  frequencies.push_back(power(start));
  for (std::int64_t k = 1; k < count; ++k) frequencies.push_back(frequencies.back() * ratio);
  return frequencies;
}

}  // namespace sextant

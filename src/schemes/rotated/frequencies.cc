// Geometric ladders: one exponential for the ratio, then products.
#include "schemes/rotated/frequencies.h"

#include <cmath>
#include <string>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {

std::vector<WideFloat> geometric_ladder(double base, std::int64_t start, std::int64_t step,
                                        std::int64_t denominator, std::int64_t count,
                                        std::string_view where) {
  if (count <= 0) return {};
  const double last =
      static_cast<double>(start) + static_cast<double>(step) * static_cast<double>(count - 1);
  if (-std::log2(base) * last / static_cast<double>(denominator) > 64) {
    throw Error(where, "must keep every frequency at or below 2^64 radians per position, got " +
                           shortest(base));
  }
  return geometric_ladder(log(WideFloat(base)), start, step, denominator, count);
}

std::vector<WideFloat> geometric_ladder(const WideFloat& log_base, std::int64_t start,
                                        std::int64_t step, std::int64_t denominator,
                                        std::int64_t count) {
  std::vector<WideFloat> ladder;
  if (count <= 0) return ladder;
  const WideFloat unit = -(log_base / static_cast<std::uint64_t>(denominator));
  const auto power = [&](std::int64_t n) { return exp(unit * WideFloat(static_cast<double>(n))); };
  const WideFloat ratio = power(step);
  ladder.reserve(static_cast<std::size_t>(count));
  ladder.push_back(power(start));
  for (std::int64_t k = 1; k < count; ++k) ladder.push_back(ladder.back() * ratio);
  return ladder;
}

}  // namespace sextant

// From slope and scale as measured to base and scale as somebody would choose them.
#include <algorithm>
#include <cmath>

#include "identify/numbers.h"
#include "identify/sinusoidal/compare.h"

namespace sextant::identify {
namespace {

// The roundest scale within the error: 1, those of libraries, few digits.
double roundest_scale(double estimate, double error, double width) {
  const double size = std::fabs(estimate);
  for (const double known : {1.0, std::sqrt(2 / width), 1 / std::sqrt(width), std::sqrt(width)}) {
    if (std::fabs(size - known) <= error) return std::copysign(known, estimate);
  }
  return std::copysign(roundest_number(size, error / size).value, estimate);
}

}  // namespace

std::vector<Candidate> candidates_of(const Structure& structure, const Fit& fit,
                                     std::int64_t length, std::int64_t width, const Noise& noise) {
  std::vector<Candidate> found;
  // A damaged value may be so large that its square is infinite and its fit NaN.
  if (!std::isfinite(fit.scale) || !std::isfinite(fit.slope.value)) return found;
  // The constant log(base)/n was itself rounded to float32: an error that all rows share.
  const bool float32 = noise.angle == kFloat32Angles || noise.storage > 0x1p-24;
  const double deviation =
      std::hypot(fit.slope.error, float32 ? 0x1p-24 * std::fabs(fit.slope.value) : 0);
  const auto add = [&](Sinusoidal options, double preference, double roughness) {
    options.length = length;
    options.first = fit.first;
    options.scale = roundest_scale(fit.scale, fit.scale_error, static_cast<double>(options.width));
    found.push_back({options, preference, roughness});
  };
  for (const Reading& reading : structure.readings) {
    Sinusoidal options = reading.options;
    if (structure.steps.size() < 2) {
      options.base = 10000;
      add(options, reading.rarity, 0);
      continue;
    }
    const double log_base = -fit.slope.value / reading.exponent;
    if (std::fabs(log_base) > 600) continue;
    // The slope of an exact table is known to a few units of the last place, which rounding to the
    // same digits allows for; a base of many digits keeps all of them.
    const double known = 4 * deviation / reading.exponent;
    Round base = roundest_base(std::exp(log_base), known + 1e-13);
    if (base.roughness > 9) base = roundest_base(std::exp(log_base), known);
    options.base = base.value;
    // Nobody chooses a base above 1e7; the mistake of doubling the exponent squares it.
    const double absurd = base.value > 1.01e7 ? 3 : 0;
    const double off = 4 * std::fabs(std::log(base.value) - log_base) / known;
    // Among bases that nobody chose, one digit more or less says nothing.
    add(options,
        std::min(base.roughness, 12.0) + reading.rarity + absurd + 0.02 * std::min(off, 4.0),
        base.roughness);
    if (options.exponent != Exponent::standard || options.ladder != Ladder::d ||
        options.layout != SinusoidalLayout::interleaved || base.roughness <= 1) {
      continue;
    }
    // The first columns of a wider table have its frequencies: slope = log(10000) * -2 / its width.
    const double wide = -2 * std::log(10000.0) / fit.slope.value;
    const double whole = 2 * std::round(wide / 2);
    const double error = 4 * deviation / std::fabs(fit.slope.value);
    if (whole > static_cast<double>(width) && whole < 1e6 &&
        std::fabs(wide - whole) <= wide * (error + 1e-9) && error < 0.25 / wide) {
      options.width = static_cast<std::int64_t>(whole);
      options.base = 10000;
      options.odd_width.reset();
      add(options, 3, 3);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.preference < b.preference;
  });
  return found;
}

}  // namespace sextant::identify

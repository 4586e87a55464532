// From ratio and scale as measured to base and scale as somebody would choose them.
#include "identify/sinusoidal/names.h"
#include "identify/numbers.h"

#include <algorithm>
#include <cmath>

namespace sextant::identify {
namespace {

// The roundest scale within the tolerance: 1, those of libraries, few digits.
double roundest_scale(double estimate, double tolerance, double width) {
  const double size = std::abs(estimate);
  for (const double known : {1.0, std::sqrt(2 / width), 1 / std::sqrt(width), std::sqrt(width)}) {
    if (std::abs(size - known) <= tolerance) return std::copysign(known, estimate);
  }
  return std::copysign(roundest_number(size, tolerance / size).value, estimate);
}

}  // namespace

std::vector<Named> names_of(const Structure& structure, const Fit& fit, std::int64_t length,
                            std::int64_t width, const Noise& noise) {
  std::vector<Named> names;
  // A damaged value may be so large that its square is infinite, and what is fitted to it NaN.
  if (!std::isfinite(fit.scale) || !std::isfinite(fit.ratio.log)) return names;
  // The constant log(base)/n was itself rounded to float32: an error that all rows share.
  const double shared = noise.angle == kFloat32Angles || noise.storage > 0x1p-24
                            ? 0x1p-24 * std::abs(fit.ratio.log)
                            : 0;
  const double deviation = std::sqrt(fit.ratio.variance + shared * shared);
  const auto add = [&](Sinusoidal options, double preference, double roughness) {
    options.length = length;
    options.first = fit.first;
    options.scale =
        roundest_scale(fit.scale, fit.scale_tolerance, static_cast<double>(options.width));
    names.push_back({options, preference, roughness});
  };
  for (const Reading& reading : readings_of(structure, width)) {
    Sinusoidal options = reading.options;
    if (structure.steps.size() < 2) {
      options.base = 10000;
      add(options, reading.rarity, 0);
      continue;
    }
    const double log_base = -fit.ratio.log / reading.exponent_per_step;
    if (std::abs(log_base) > 600) continue;
    // The ratio of an exact table is known to a few units of the last place, which rounding to the
    // same digits allows for; a base of many digits keeps all of them.
    const double known = 4 * deviation / reading.exponent_per_step;
    Round base = roundest_base(std::exp(log_base), known + 1e-13);
    if (base.roughness > 9) base = roundest_base(std::exp(log_base), known);
    options.base = base.value;
    // Nobody chooses a base above 1e7; the mistake of doubling the exponent squares it.
    const double absurd = base.value > 1.01e7 ? 3 : 0;
    const double off =
        std::abs(std::log(base.value) - log_base) * reading.exponent_per_step / deviation;
    add(options, base.roughness + reading.rarity + absurd + 0.02 * std::min(off, 4.0),
        base.roughness);
    if (reading.options.exponent == Exponent::standard && reading.options.ladder == Ladder::d &&
        structure.layout == SinusoidalLayout::interleaved && base.roughness > 1) {
      // The first columns of a wider table have its frequencies: ratio = 10000^(-2 / its width).
      const double wide = -2 * std::log(10000.0) / fit.ratio.log;
      const double whole = 2 * std::round(wide / 2);
      if (whole > static_cast<double>(width) && whole < 1e6 &&
          std::abs(wide - whole) <= wide * 4 * deviation / std::abs(fit.ratio.log) + 1e-9 * wide &&
          4 * deviation / std::abs(fit.ratio.log) < 0.25 / wide) {
        options.width = static_cast<std::int64_t>(whole);
        options.base = 10000;
        options.odd_width.reset();
        add(options, 3, 3);
      }
    }
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const Named& a, const Named& b) { return a.preference < b.preference; });
  return names;
}

}  // namespace sextant::identify

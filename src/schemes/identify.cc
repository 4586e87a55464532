// Whose table is this: suppose a structure, fit position, ratio and scale, name the fit, make the
// table again, compare all.
#include "sextant/schemes/identify.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "schemes/identify_compare.h"
#include "schemes/identify_explain.h"
#include "schemes/identify_fit.h"
#include "schemes/identify_ratio.h"
#include "schemes/identify_structure.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using namespace identify;

constexpr double kFloat64Angles =
    0x1p-48;  // some roundings of the logarithm, the frequency and the product
constexpr double kFloat32Angles = 0x1p-20;  // the same in float32, exp(-k log(base) / n) included
constexpr double kMostOutside =
    0.02;  // share of values that may be damaged before the table counts as another one

constexpr double kSpareBits =
    30;  // chance has one in 2^30, and some 2^10 structures, noises and bases to try

void check(View<const double> table, double unit_roundoff) {
  if (table.rank() != 2 || table.size(0) < 1 || table.size(1) < 2) {
    throw Error("identify_table.table",
                "must be [length, width] with at least one row and two columns, got " +
                    table.shape().to_string());
  }
  if (!(unit_roundoff > 0 && unit_roundoff <= 0x1p-6)) {
    throw Error("identify_table.unit_roundoff", "must be that of a float type, 2^-53 .. 2^-8");
  }
  std::atomic<std::int64_t> bad{std::numeric_limits<std::int64_t>::max()};
  parallel_for(table.size(0), 0, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < table.size(1); ++column) {
      if (std::isfinite(table(row, column))) continue;
      const std::int64_t place = row * table.size(1) + column;
      std::int64_t known = bad.load();
      while (place < known && !bad.compare_exchange_weak(known, place)) {
      }
      return;
    }
  });
  if (bad < std::numeric_limits<std::int64_t>::max()) {
    throw Error("identify_table.table", "must be finite, which row " +
                                            std::to_string(bad / table.size(1)) + ", column " +
                                            std::to_string(bad % table.size(1)) + " is not");
  }
}

double smallest_normal(double unit_roundoff) {
  if (unit_roundoff <= 0x1p-53) return 0x1p-1022;
  return unit_roundoff > 0x1p-24 && unit_roundoff <= 0x1p-11 ? 0x1p-14 : 0x1p-126;
}

// Roundings that a table may have gone through, finest first; a file may be wider than what was
// once computed.
std::vector<Noise> noises_from(double unit_roundoff) {
  std::vector<Noise> noises;
  for (const double storage : {unit_roundoff, 0x1p-24, 0x1p-11, 0x1p-8}) {
    if (!noises.empty() && storage <= noises.back().storage) continue;
    const double tiny = std::max(smallest_normal(storage), smallest_normal(unit_roundoff));
    noises.push_back({storage, tiny, kFloat64Angles});
    noises.push_back({storage, tiny, kFloat32Angles});
  }
  return noises;
}

// The roundest scale within the tolerance: 1, those of libraries, few digits.
double roundest_scale(double estimate, double tolerance, double width) {
  const double size = std::abs(estimate);
  for (const double known : {1.0, std::sqrt(2 / width), 1 / std::sqrt(width), std::sqrt(width)}) {
    if (std::abs(size - known) <= tolerance) return std::copysign(known, estimate);
  }
  return std::copysign(roundest_number(size, tolerance / size).value, estimate);
}

// A fit under one name.
struct Named {
  Sinusoidal options;
  double preference;  // smaller is likelier
  double roughness;   // digits of the base, about
};

std::vector<Named> names_of(const Structure& structure, const Fit& fit, std::int64_t length,
                            std::int64_t width, const Noise& noise) {
  std::vector<Named> names;
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
    Base base = roundest_base(std::exp(log_base), known + 1e-13);
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

class Identifier {
 public:
  Identifier(View<const double> table, double unit_roundoff)
      : table_(table), unit_(unit_roundoff) {}

  Identification run() {
    const bool zero_column = last_column_is_zero();
    const std::vector<Structure> structures = structures_of(table_.size(1), zero_column);
    double values_left = kMostValues;
    const auto found = [&](const Noise& noise, bool far) {
      for (const Structure& structure : structures) {
        const auto accept = [&](const Fit& fit) { return judge(structure, noise, fit); };
        if (search_fits(table_, structure, noise, far, values_left, accept)) return true;
      }
      return false;
    };
    // Far positions are few when the phase is known to 24 bits; with 16-bit types there are
    // millions: those come last.
    const std::vector<Noise> noises = noises_from(unit_);
    for (std::size_t i = 0; i < noises.size(); i += 2) {
      for (std::size_t k = i; k < i + 2; ++k) {
        if (found(noises[k], false)) return finish();
        if (guess_fits_) return unknown();
      }
      for (std::size_t k = i; k < i + 2; ++k) {
        if (!found_ && noises[k].storage <= 0x1p-24 && found(noises[k], true)) return finish();
      }
    }
    for (const Noise& noise : noises) {
      if (!found_ && noise.storage == unit_ && unit_ > 0x1p-24 && found(noise, true)) break;
    }
    if (found_) return finish();  // damaged, but less than any other reading would be
    return unknown();
  }

 private:
  bool last_column_is_zero() const {
    for (std::int64_t row = 0; row < table_.size(0); ++row) {
      if (table_(row, table_.size(1) - 1) != 0) return false;
    }
    return true;
  }

  static double share_outside(const Comparison& c) {
    const double compared = static_cast<double>(c.compared);
    if (compared <= kLeastUseful * (compared + static_cast<double>(c.useless))) return 1;
    return static_cast<double>(c.outside) / compared;
  }

  // Whether a fit stands up to about 200 rows of the table under its best name.
  bool judge(const Structure& structure, const Noise& noise, const Fit& fit) {
    const std::vector<Named> names =
        names_of(structure, fit, table_.size(0), table_.size(1), noise);
    for (std::size_t i = 0; i < names.size() && i < 4; ++i) {
      Named name = names[i];
      if (surplus_bits(name, fit, noise) < kSpareBits) continue;
      const bool float32 = noise.angle == kFloat32Angles;
      Comparison best = sample(name.options, noise, fit);
      if (float32) {
        Named framework = name;
        framework.options.precision = Precision::framework;
        const Comparison as_framework = sample(framework.options, noise, fit);
        // Angles in float64 have been ruled out by now.
        if (share_outside(as_framework) <= share_outside(best) &&
            as_framework.max_deviation <= 4 * best.max_deviation) {
          name = framework;
          best = as_framework;
        }
      }
      if (best.max_deviation < guess_deviation_) {
        guess_ = name.options;
        guess_deviation_ = best.max_deviation;
        guess_fits_ = fit.ratio_known ? false : share_outside(best) <= kMostOutside;
      }
      if (!fit.ratio_known || share_outside(best) > kMostOutside) continue;
      const double share = share_outside(best);
      if (found_ && found_->share <= share) continue;
      found_ = Found{name, fit, noise, share, structure.steps.size() > 1, {}};
      for (const Named& other : names) {
        if (other.roughness <= 3 && (other.options.base != name.options.base ||
                                     other.options.ladder != name.options.ladder ||
                                     other.options.exponent != name.options.exponent)) {
          found_->also.push_back(other.options);
        }
      }
      if (share == 0) return true;
    }
    return false;
  }

  Comparison sample(const Sinusoidal& options, const Noise& noise, const Fit& fit) const {
    return compare(table_, options, noise, tolerance_of_scale(options, fit), unit_, 200);
  }

  // A scale that was recognised is exact; one that was only measured is not.
  static double tolerance_of_scale(const Sinusoidal& options, const Fit& fit) {
    return options.scale == roundest_number(options.scale, 0x1p-50).value &&
                   roundest_number(options.scale, 0x1p-50).roughness < 6
               ? 0x1p-51
               : 2 * fit.scale_tolerance / std::abs(fit.scale) + 0x1p-51;
  }

  // Bits that the values carry beyond those spent on choosing position, base and scale: noise never
  // has any to spare.
  double surplus_bits(const Named& name, const Fit& fit, const Noise& noise) const {
    const double unit = std::max(noise.storage, noise.angle);
    const double per_value = -std::log2(unit);
    const std::int64_t width = table_.size(1);
    const std::int64_t rows = std::min(table_.size(0), std::max<std::int64_t>(2, 4096 / width));
    // The first row counts in full, other rows by what changes: constant columns are no evidence.
    double values = static_cast<double>(width) * per_value;
    for (std::int64_t i = 1; i < rows; ++i) {
      const std::int64_t row = i * (table_.size(0) - 1) / (rows - 1);
      for (std::int64_t column = 0; column < width; ++column) {
        const double change =
            std::abs(table_(row, column) - table_(0, column)) / std::abs(fit.scale);
        values += std::min(per_value, std::log2(1 + change / unit));
      }
    }
    const double position = std::log2(2 * std::abs(static_cast<double>(fit.first)) + 2);
    const double scale = std::abs(name.options.scale) == 1 ? 1 : per_value;
    return values - position - scale - 3.32 * name.roughness;
  }

  Identification finish() const {
    const auto& [name, fit, noise, share, base_matters, also] = *found_;
    const Comparison all = compare(table_, name.options, noise,
                                   tolerance_of_scale(name.options, fit), unit_, kAllRows);
    if (share_outside(all) > kMostOutside) return unknown();
    Identification result;
    result.scheme = "sinusoidal";
    result.options = name.options;
    result.max_deviation = all.max_deviation;
    if (result.options.exponent == Exponent::doubled) result.mistake = "doubled_exponent";
    if (result.options.exponent == Exponent::doubled_unpaired)
      result.mistake = "doubled_exponent_unpaired";
    result.confidence = 1 - std::exp2(-surplus_bits(name, fit, noise) / 8);
    if (!fit.sure_of_first) result.confidence *= 0.5;
    if (all.outside > 0) result.confidence *= 0.5 * (1 - share_outside(all));
    result.explanation = explain({result.options, table_.size(0), table_.size(1), also, all,
                                  fit.sure_of_first, base_matters, noise.storage > unit_});
    return result;
  }

  Identification unknown() const {
    Identification result;
    result.options = guess_;
    result.options.length = table_.size(0);
    if (guess_.width == 0) result.options.width = table_.size(1);
    const Noise noise{unit_, 0, kFloat64Angles};
    result.max_deviation = compare(table_, result.options, noise, 0, unit_, kAllRows).max_deviation;
    result.explanation = guess_fits_
                             ? explain_undetermined_base(result.options.first, table_.size(0))
                             : explain_unknown(result.max_deviation, guess_.width > 0);
    return result;
  }

  View<const double> table_;
  double unit_;
  // The reading with the least share of values outside the noise so far.
  struct Found {
    Named name;
    Fit fit;
    Noise noise;
    double share;
    bool base_matters;
    std::vector<Sinusoidal> also;  // other names of the same numbers
  };
  std::optional<Found> found_;
  Sinusoidal guess_{};
  double guess_deviation_ = std::numeric_limits<double>::infinity();
  bool guess_fits_ = false;
};

}  // namespace

Identification identify_table(View<const double> table, double unit_roundoff) {
  check(table, unit_roundoff);
  return Identifier(table, unit_roundoff).run();
}

}  // namespace sextant

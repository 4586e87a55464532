// Whose table is this: suppose a structure, fit position, ratio and scale, name the fit, make the
// table again, compare all.
#include "sextant/identify/identify.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/fields.h"
#include "core/interruption.h"
#include "core/overlap.h"
#include "identify/numbers.h"
#include "identify/sinusoidal/compare.h"
#include "identify/sinusoidal/explain.h"
#include "identify/sinusoidal/fit.h"
#include "identify/sinusoidal/names.h"
#include "identify/sinusoidal/ratio.h"
#include "identify/sinusoidal/structure.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using namespace identify;

constexpr double kMaxOutside =
    0.02;  // share of values that may be damaged before the table counts as another one

constexpr double kSpareBits =
    30;  // chance has one in 2^30, and some 2^10 structures, noises and bases to try

constexpr double kLargest = 0x1p500;  // the fits square values, and sum 2^22 squares

// Returns whether the values are small enough to fit, but for some that may be damaged. Throws
// Error for what is no table.
bool check(View<const double> table, double unit_roundoff, int threads) {
  check_range(kThreads, "identify_table.threads", threads);
  if (table.rank() != 2 || table.size(0) < 1 || table.size(1) < 2) {
    throw Error("identify_table.table",
                "must be [length, width] with at least one row and two columns, got " +
                    table.shape().to_string());
  }
  check_unit_roundoff("identify_table.unit_roundoff", unit_roundoff);
  check_memory("identify_table.table", table);
  std::atomic<std::int64_t> bad{std::numeric_limits<std::int64_t>::max()};
  std::atomic<std::int64_t> huge{0};
  parallel_for(table.size(0), threads, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < table.size(1); ++column) {
      const double size = std::abs(table(row, column));
      if (size <= kLargest) continue;
      ++huge;
      if (std::isfinite(size)) continue;
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
  return static_cast<double>(huge) <= kMaxOutside * static_cast<double>(table.count());
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

class Identifier {
 public:
  Identifier(View<const double> table, double unit_roundoff, int threads)
      : table_(table), unit_(unit_roundoff), threads_(threads) {}

  Identification run() {
    const bool zero_column = last_column_is_zero();
    const std::vector<Structure> structures = structures_of(table_.size(1), zero_column);
    double values_left = kMaxValues;
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

  Identification unknown() const {
    Identification result;
    result.options = guess_;
    result.options.length = table_.size(0);
    if (guess_.width == 0) result.options.width = table_.size(1);
    const Noise noise{unit_, 0, kFloat64Angles};
    result.max_deviation = compared(result.options, noise, 0, kAllRows).max_deviation;
    // A table that is that of the paper to the last bit can only lack what tells its base.
    result.explanation = guess_fits_ || result.max_deviation == 0
                             ? explain_undetermined_base(result.options.first, table_.size(0))
                             : explain_unknown(result.max_deviation, guess_.width > 0);
    return result;
  }

 private:
  bool last_column_is_zero() const {
    for (std::int64_t row = 0; row < table_.size(0); ++row) {
      if (row % 4096 == 0) check_interruption();
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
        guess_fits_ = fit.ratio_known ? false : share_outside(best) <= kMaxOutside;
      }
      if (!fit.ratio_known || share_outside(best) > kMaxOutside) continue;
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

  Comparison compared(Sinusoidal options, const Noise& noise, double scale_tolerance,
                      std::int64_t rows) const {
    options.threads = threads_;
    return compare(table_, options, noise, scale_tolerance, unit_, rows);
  }

  Comparison sample(const Sinusoidal& options, const Noise& noise, const Fit& fit) const {
    return compared(options, noise, tolerance_of_scale(options, fit), 200);
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
    const Comparison all =
        compared(name.options, noise, tolerance_of_scale(name.options, fit), kAllRows);
    if (share_outside(all) > kMaxOutside) return unknown();
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

  View<const double> table_;
  double unit_;
  int threads_;
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

Identification identify_table(View<const double> table, double unit_roundoff, int threads) {
  const bool can_fit = check(table, unit_roundoff, threads);
  Identifier identifier(table, unit_roundoff, threads);
  return can_fit ? identifier.run() : identifier.unknown();
}

}  // namespace sextant

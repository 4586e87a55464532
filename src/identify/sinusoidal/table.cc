// Whose table is this: candidates of every structure and every rounding on the way, compared with
// rows of the table, the best one with all of it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/arrays/overlap.h"
#include "core/options/fields.h"
#include "core/threads/interruption.h"
#include "identify/numbers.h"
#include "identify/sinusoidal/compare.h"
#include "identify/sinusoidal/search.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/identify/identify.h"

namespace sextant {
namespace {

using namespace identify;

constexpr double kMaxOutside = 0.02;  // share of damaged values beyond which it is another table
constexpr double kSpareBits = 30;     // chance has one in 2^30, and some 2^10 candidates to try
constexpr double kLargest = 0x1p500;  // the fits square values, and sum 2^22 squares

// Returns whether the values are small enough to fit, except for some that may be damaged. Throws
// Error for data that is no table.
bool check(View<const double> table, double unit_roundoff, int threads) {
  check_range(kThreads, "identify_table.threads", threads);
  if (table.rank() != 2 || table.size(0) < 1 || table.size(1) < 2) {
    throw Error("identify_table.table",
                "must be [length, width] with at least one row and two columns, got " +
                    table.shape().to_string());
  }
  check_unit_roundoff("identify_table.unit_roundoff", unit_roundoff);
  check_memory("identify_table.table", table);
  std::int64_t huge = 0;
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    in_parts(table.size(1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t column = begin; column < end; ++column) {
        const double size = std::fabs(table(row, column));
        if (size <= kLargest) continue;
        ++huge;
        if (std::isfinite(size)) continue;
        throw Error("identify_table.table", "must be finite, which row " + std::to_string(row) +
                                                ", column " + std::to_string(column) + " is not");
      }
    });
  }
  return static_cast<double>(huge) <= kMaxOutside * static_cast<double>(table.count());
}

// Possible roundings of a table, likeliest first, as a file may have a wider type than the
// computation, and angles in float32. There are few far positions if the phase is known to 24 bits;
// with 16-bit types there are millions: those come last.
struct Attempt {
  Noise noise;
  bool far;
};
std::vector<Attempt> attempts_for(double unit_roundoff) {
  std::vector<Attempt> attempts;
  const auto add = [&](double storage, bool far) {
    const double tiny = std::max(smallest_normal(storage), smallest_normal(unit_roundoff));
    attempts.push_back({{storage, tiny, kFloat64Angles}, far});
    attempts.push_back({{storage, tiny, kFloat32Angles}, far});
  };
  for (const double storage : {unit_roundoff, 0x1p-24, 0x1p-11, 0x1p-8}) {
    if (!attempts.empty() && storage <= attempts.back().noise.storage) continue;
    add(storage, false);
    if (storage <= 0x1p-24) add(storage, true);
  }
  if (unit_roundoff > 0x1p-24) add(unit_roundoff, true);
  return attempts;
}

// A scale that was recognised is exact; one that was only measured is not.
double scale_error(const Sinusoidal& options, const Fit& fit) {
  const Round round = roundest_number(std::fabs(options.scale), 0x1p-50);
  const bool known = options.scale > 0 && round.value == options.scale && round.roughness < 6;
  return known ? 0x1p-51 : 2 * fit.scale_error / std::fabs(fit.scale) + 0x1p-51;
}

class Identifier {
 public:
  Identifier(View<const double> table, double unit_roundoff, int threads)
      : table_(table), unit_(unit_roundoff), threads_(threads) {}

  Identification run() {
    bool zero_column = true;
    for (std::int64_t row = 0; row < table_.size(0) && zero_column; ++row) {
      if (row % 4096 == 0) check_interruption();
      zero_column = table_(row, table_.size(1) - 1) == 0;
    }
    const std::vector<Structure> structures = structures_of(table_.size(1), zero_column);
    double looks_left = kMaxLooks;
    for (const Attempt& attempt : attempts_for(unit_)) {
      if (attempt.far && found_) continue;
      for (const Structure& structure : structures) {
        const auto accept = [&](const Fit& fit) { return judge(structure, attempt.noise, fit); };
        if (search_fits(table_, structure, attempt.noise, attempt.far, looks_left, accept))
          return finish();
      }
      if (guess_fits_) return unknown();
    }
    if (found_) return finish();  // damaged, but less than any other reading would be
    return unknown();
  }

  Identification unknown() const {
    Identification result;
    result.options = guess_;
    result.options.length = table_.size(0);
    const bool guessed = guess_.width > 0;
    if (!guessed) result.options.width = table_.size(1);
    result.max_deviation =
        compared(result.options, {unit_, 0, kFloat64Angles}, 0, INT64_MAX).max_deviation;
    // A table that equals the paper's to the last bit can only lack the evidence for its base.
    if (guess_fits_ || result.max_deviation == 0) {
      const std::int64_t rows = table_.size(0);
      result.explanation = "Looks like a sinusoidal table at position " +
                           std::to_string(guess_.first) + ", but " + std::to_string(rows) +
                           (rows == 1 ? " row is" : " rows are") +
                           " the same for every base: give rows further on.";
    } else {
      result.explanation =
          std::string(
              "Not a sinusoidal table, or only a part of its columns: no layout gives sines and "
              "cosines of one scale that turn by one radian per row. ") +
          (guessed ? "The nearest guess is off by "
                   : "The paper's table of this shape is off by ") +
          significant(result.max_deviation, 3) + ".";
    }
    return result;
  }

 private:
  Comparison compared(Sinusoidal options, const Noise& noise, double error,
                      std::int64_t rows) const {
    options.threads = threads_;
    return compare(table_, options, noise, error, unit_, rows);
  }

  // Returns whether a fit agrees with about 200 rows of the table under its best name.
  bool judge(const Structure& structure, const Noise& noise, const Fit& fit) {
    const auto sample = [&](const Sinusoidal& options) {
      return compared(options, noise, scale_error(options, fit), 200);
    };
    const std::vector<Candidate> all =
        candidates_of(structure, fit, table_.size(0), table_.size(1), noise);
    for (std::size_t i = 0; i < all.size() && i < 4; ++i) {
      Candidate candidate = all[i];
      if (surplus_bits(candidate, fit, noise) < kSpareBits) continue;
      Comparison best = sample(candidate.options);
      if (noise.angle == kFloat32Angles) {  // angles in float64 have been ruled out by now
        Sinusoidal framework = candidate.options;
        framework.precision = Precision::framework;
        const Comparison as_framework = sample(framework);
        if (as_framework.share_outside() <= best.share_outside() &&
            as_framework.max_deviation <= 4 * best.max_deviation) {
          candidate.options = framework;
          best = as_framework;
        }
      }
      const double share = best.share_outside();
      if (best.max_deviation < guess_deviation_) {
        guess_ = candidate.options;
        guess_deviation_ = best.max_deviation;
        guess_fits_ = !fit.slope_known && share <= kMaxOutside;
      }
      if (!fit.slope_known || share > kMaxOutside || (found_ && found_->share <= share)) continue;
      found_ = Found{candidate, fit, noise, share, structure.steps.size() > 1, {}};
      for (const Candidate& other : all) {
        if (other.roughness <= 3 && (other.options.base != candidate.options.base ||
                                     other.options.ladder != candidate.options.ladder ||
                                     other.options.exponent != candidate.options.exponent)) {
          found_->also.push_back(other.options);
        }
      }
      if (share == 0) return true;
    }
    return false;
  }

  // Bits that the values carry beyond those spent on choosing position, base and scale: noise never
  // has any to spare.
  double surplus_bits(const Candidate& candidate, const Fit& fit, const Noise& noise) const {
    const double unit = std::max(noise.storage, noise.angle);
    const double per_value = -std::log2(unit);
    const std::int64_t width = table_.size(1);
    const std::int64_t rows = std::min(table_.size(0), std::max<std::int64_t>(2, 4096 / width));
    // The first row counts in full, other rows by their changes: constant columns are no evidence.
    double values = static_cast<double>(width) * per_value;
    for (std::int64_t i = 1; i < rows; ++i) {
      const std::int64_t row = i * (table_.size(0) - 1) / (rows - 1);
      check_interruption();
      for (std::int64_t column = 0; column < width; ++column) {
        const double change =
            std::fabs(table_(row, column) - table_(0, column)) / std::fabs(fit.scale);
        values += std::min(per_value, std::log2(1 + change / unit));
      }
    }
    const double position = std::log2(2 * std::fabs(static_cast<double>(fit.first)) + 2);
    const double scale = std::fabs(candidate.options.scale) == 1 ? 1 : per_value;
    return values - position - scale - 3.32 * candidate.roughness;
  }

  Identification finish() const {
    const auto& [candidate, fit, noise, share, base_matters, also] = *found_;
    Identification result;
    result.options = candidate.options;
    const Comparison all =
        compared(result.options, noise, scale_error(result.options, fit), INT64_MAX);
    if (all.share_outside() > kMaxOutside) return unknown();
    result.scheme = "sinusoidal";
    result.max_deviation = all.max_deviation;
    if (result.options.exponent == Exponent::doubled) result.mistake = "doubled_exponent";
    if (result.options.exponent == Exponent::doubled_unpaired)
      result.mistake = "doubled_exponent_unpaired";
    result.confidence = 1 - std::exp2(-surplus_bits(candidate, fit, noise) / 8);
    if (!fit.sure_of_first) result.confidence *= 0.5;
    if (all.outside > 0) result.confidence *= 0.5 * (1 - all.share_outside());
    result.explanation = explain({result.options, table_.size(0), table_.size(1), also, all,
                                  fit.sure_of_first, base_matters, noise.storage > unit_});
    return result;
  }

  View<const double> table_;
  double unit_;
  int threads_;
  // The reading with the least share of values outside the noise so far.
  struct Found {
    Candidate candidate;
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

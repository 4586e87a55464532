// Layouts, ladders, exponents and odd widths: in one place.
#include "schemes/added/sinusoidal_columns.h"

#include <string>

#include "schemes/rotated/frequencies.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// An odd width is handled as the even one next to it, or by one more sine.
struct Counts {
  std::int64_t sines;
  std::int64_t cosines;     // as shown: the cosine cut off by round_up does not count
  std::int64_t pair_width;  // the width whose ladder the pairs follow
};

Counts counts_of(const Sinusoidal& options) noexcept {
  const std::int64_t half = options.width / 2;
  if (options.width % 2 == 0) return {half, half, options.width};
  switch (odd_width_rule(options)) {
    case OddWidth::zero_column:
      return {half, half, options.width - 1};
    case OddWidth::round_up:
      // The column cut off is the last: a cosine, or a sine for cos_first.
      if (options.layout == SinusoidalLayout::cos_first) return {half, half + 1, options.width + 1};
      return {half + 1, half, options.width + 1};
    default:
      return {half + 1, half, options.width};
  }
}

}  // namespace

OddWidth odd_width_rule(const Sinusoidal& options) noexcept {
  return options.odd_width.value_or(options.ladder == Ladder::d ? OddWidth::extra_sine
                                                                : OddWidth::zero_column);
}

std::vector<WideFloat> sinusoidal_ladder(const Sinusoidal& options, bool cosine) {
  const Counts counts = counts_of(options);
  // Exponents are (start + k * step) / denominator: 2k / width or k / (n - 1), and twice that when
  // doubled. The unpaired cosine takes half a step more: 2 (2k + 1) / width instead of 4k / width.
  const bool by_width = options.ladder == Ladder::d;
  const std::int64_t unit = by_width ? 2 : 1;
  const std::int64_t denominator = by_width ? counts.pair_width : counts.pair_width / 2 - 1;
  const bool doubled = options.exponent != Exponent::standard;
  const bool shifted = cosine && options.exponent == Exponent::doubled_unpaired;
  return geometric_frequencies(options.base, shifted ? unit : 0, doubled ? 2 * unit : unit,
                               denominator, cosine ? counts.cosines : counts.sines,
                               "sinusoidal.base");
}

SinusoidalColumn sinusoidal_column(const Sinusoidal& options, std::int64_t column) {
  check_sinusoidal(options);
  if (column < 0 || column >= options.width) {
    throw Error("sinusoidal_column.column", "must be 0 .. " + std::to_string(options.width - 1) +
                                                ", got " + std::to_string(column));
  }
  return column_of(options, column);
}

SinusoidalColumn column_of(const Sinusoidal& options, std::int64_t column) noexcept {
  const Counts counts = counts_of(options);
  if (column >= counts.sines + counts.cosines) return {-1, false};
  switch (options.layout) {
    case SinusoidalLayout::half_split:
      return column < counts.sines ? SinusoidalColumn{column, false}
                                   : SinusoidalColumn{column - counts.sines, true};
    case SinusoidalLayout::cos_first:
      return column < counts.cosines ? SinusoidalColumn{column, true}
                                     : SinusoidalColumn{column - counts.cosines, false};
    default:
      return {column / 2, column % 2 == 1};
  }
}

SinusoidalColumns sinusoidal_columns(const Sinusoidal& options) {
  SinusoidalColumns result;
  const Counts counts = counts_of(options);
  std::int64_t first_cosine = 0;
  if (options.exponent == Exponent::doubled_unpaired) {
    result.frequencies = sinusoidal_ladder(options, false);
    first_cosine = counts.sines;
    for (const WideFloat& f : sinusoidal_ladder(options, true)) result.frequencies.push_back(f);
  } else {
    result.frequencies = sinusoidal_ladder(options, counts.cosines > counts.sines);
  }
  result.columns.reserve(static_cast<std::size_t>(options.width));
  for (std::int64_t i = 0; i < options.width; ++i) {
    const SinusoidalColumn column = column_of(options, i);
    const std::int64_t frequency = column.pair + (column.cosine ? first_cosine : 0);
    result.columns.push_back({static_cast<std::int32_t>(frequency), column.cosine});
  }
  return result;
}

std::vector<kernels::Turns> turns_of(const std::vector<WideFloat>& frequencies) {
  std::vector<kernels::Turns> result;
  result.reserve(frequencies.size());
  for (const WideFloat& frequency : frequencies) result.push_back(kernels::turns_of(frequency));
  return result;
}

}  // namespace sextant

// Sinusoidal tables straight from the formula (Vaswani et al. 2017, section 3.5, and the variants
// of sinusoidal.h).
#include "reference/plain_sinusoidal.h"

#include <cmath>

namespace sextant::reference {
namespace {

struct Entry {
  std::int64_t pair;
  bool cosine;
  bool zero;
};

// Where column c of an odd or even table of `width` columns stands.
Entry entry_of(const Sinusoidal& options, OddWidth rule, std::int64_t width, std::int64_t c) {
  const bool odd = width % 2 != 0;
  if (odd && rule == OddWidth::round_up) return entry_of(options, rule, width + 1, c);
  if (odd && rule == OddWidth::zero_column) {
    if (c == width - 1) return {0, false, true};
    return entry_of(options, rule, width - 1, c);
  }
  const std::int64_t cosines = width / 2;
  const std::int64_t sines = width - cosines;
  switch (options.layout) {
    case SinusoidalLayout::interleaved:
      return {c / 2, c % 2 == 1, false};
    case SinusoidalLayout::half_split:
      return c < sines ? Entry{c, false, false} : Entry{c - sines, true, false};
    case SinusoidalLayout::cos_first:
      return c < cosines ? Entry{c, true, false} : Entry{c - cosines, false, false};
  }
  return {0, false, true};
}

}  // namespace

double plain_sinusoidal(const Sinusoidal& options, std::int64_t position, std::int64_t column) {
  const OddWidth rule = options.odd_width.value_or(
      options.ladder == Ladder::d ? OddWidth::extra_sine : OddWidth::zero_column);
  const Entry entry = entry_of(options, rule, options.width, column);
  if (entry.zero) return 0;
  // A column of zeros belongs to no pair: the frequencies are those of the width without it.
  std::int64_t width = options.width;
  if (width % 2 != 0 && rule == OddWidth::round_up) width += 1;
  if (width % 2 != 0 && rule == OddWidth::zero_column) width -= 1;
  // The exponent of the base, in steps of one pair: pair k, twice pair k, or 2k for sines and 2k +
  // 1 for cosines.
  long double steps = static_cast<long double>(entry.pair);
  if (options.exponent != Exponent::standard) steps *= 2;
  if (options.exponent == Exponent::doubled_unpaired && entry.cosine) steps += 1;
  const long double exponent = options.ladder == Ladder::d
                                   ? steps * 2 / static_cast<long double>(width)
                                   : steps / static_cast<long double>(width / 2 - 1);
  const long double frequency = std::pow(static_cast<long double>(options.base), -exponent);
  if (options.precision == Precision::framework) {
    const float angle = static_cast<float>(position) * static_cast<float>(frequency);
    return options.scale * static_cast<double>(entry.cosine ? std::cos(angle) : std::sin(angle));
  }
  const long double angle = static_cast<long double>(position) * frequency;
  return static_cast<double>(options.scale * (entry.cosine ? std::cos(angle) : std::sin(angle)));
}

Tensor<double> plain_sinusoidal_table(const Sinusoidal& options) {
  Tensor<double> out = Tensor<double>::uninitialized({options.length, options.width});
  for (std::int64_t row = 0; row < options.length; ++row) {
    for (std::int64_t column = 0; column < options.width; ++column) {
      out(row, column) = plain_sinusoidal(options, options.first + row, column);
    }
  }
  return out;
}

}  // namespace sextant::reference

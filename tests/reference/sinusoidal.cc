// The sinusoidal family, column by column.
#include "reference/sinusoidal.h"

namespace sextant::reference {
namespace {

// An even width d: pair k of ladder d has exponent 2k / d, of ladder d/2-1 k / (d/2 - 1).
Column even_column(const Sinusoidal& options, std::int64_t d, std::int64_t c) {
  const std::int64_t half = d / 2;
  std::int64_t k = 0;
  Column result;
  if (options.layout == SinusoidalLayout::interleaved) {
    k = c / 2;
    result.cosine = c % 2 == 1;
  } else {
    k = c % half;
    result.cosine = (c >= half) != (options.layout == SinusoidalLayout::cos_first);
  }
  const bool by_width = options.ladder == Ladder::d;
  result.numerator = by_width ? 2 * k : k;
  result.denominator = by_width ? d : half - 1;
  return result;
}

}  // namespace

Column column_of(const Sinusoidal& options, std::int64_t c) {
  const std::int64_t d = options.width;
  const OddWidth rule = options.odd_width.value_or(
      options.ladder == Ladder::d ? OddWidth::extra_sine : OddWidth::zero_column);
  Column result;
  if (d % 2 == 0) {
    result = even_column(options, d, c);
  } else if (rule == OddWidth::round_up) {
    result = even_column(options, d + 1, c);
  } else if (rule == OddWidth::zero_column) {
    if (c == d - 1) {
      result.zero = true;
      return result;
    }
    result = even_column(options, d - 1, c);
  } else {
    // keras-hub and HF Marian: (d + 1) / 2 sines, (d - 1) / 2 cosines, exponents over the odd width
    // itself.
    const std::int64_t sines = (d + 1) / 2;
    const std::int64_t cosines = d / 2;
    std::int64_t k = c / 2;
    result.cosine = c % 2 == 1;
    if (options.layout == SinusoidalLayout::half_split) {
      result.cosine = c >= sines;
      k = result.cosine ? c - sines : c;
    } else if (options.layout == SinusoidalLayout::cos_first) {
      result.cosine = c < cosines;
      k = result.cosine ? c : c - cosines;
    }
    result.numerator = options.ladder == Ladder::d ? 2 * k : k;
    result.denominator = options.ladder == Ladder::d ? d : cosines - 1;
  }
  // The tutorial slip: the exponent twice, and for the unpaired form the cosine from the next step
  // of the loop.
  const std::int64_t step = options.ladder == Ladder::d ? 2 : 1;
  if (options.exponent != Exponent::standard) result.numerator *= 2;
  if (options.exponent == Exponent::doubled_unpaired && result.cosine) result.numerator += step;
  return result;
}

std::unique_ptr<TrueSine> true_column(const Sinusoidal& options, std::int64_t column) {
  const Column c = column_of(options, column);
  return std::make_unique<TrueSine>(options.base, c.numerator, c.denominator, c.cosine,
                                    options.scale);
}

}  // namespace sextant::reference

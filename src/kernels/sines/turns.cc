// Position times frequency in integers, then sine and cosine of the fraction of a turn in
// double-double.
#include "kernels/sines/turns.h"

#include <bit>
#include <cmath>

namespace sextant::kernels {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr int kLimbs = 5;
constexpr int kBits = 64 * kLimbs;
using Limbs = std::array<std::uint64_t, kLimbs>;  // lowest first

// Residual angles are split once more at multiples of a quarter turn / kSteps, which leaves |x| <=
// pi / 256.
constexpr int kSteps = 64;

// sin and cos of i * pi / (2 * kSteps), i = 0 .. kSteps / 2.
using Anchors = std::array<SineAndCosine, kSteps / 2 + 1>;

const Anchors& anchors() noexcept {
  static const Anchors table = [] {
    const WideFloat x = wide_pi().times_power_of_two(-1) / kSteps;
    const WideFloat x2 = -(x * x);
    WideFloat sin_step = x;
    WideFloat cos_step(1.0);
    WideFloat sin_term = x;
    WideFloat cos_term(1.0);
    for (std::uint64_t i = 1; i < 30; ++i) {
      cos_term = cos_term * x2 / (2 * i * (2 * i - 1));
      sin_term = sin_term * x2 / (2 * i * (2 * i + 1));
      cos_step = cos_step + cos_term;
      sin_step = sin_step + sin_term;
    }
    Anchors result;
    WideFloat sin;
    WideFloat cos(1.0);
    for (SineAndCosine& anchor : result) {
      anchor = {sin.to_double_double(), cos.to_double_double()};
      const WideFloat next = sin * cos_step + cos * sin_step;
      cos = cos * cos_step - sin * sin_step;
      sin = next;
    }
    return result;
  }();
  return table;
}

DoubleDouble half_pi() noexcept {
  static const DoubleDouble value = wide_pi().times_power_of_two(-1).to_double_double();
  return value;
}

constexpr DoubleDouble kMinusSixth = {-0.16666666666666666, -9.2518585385429707e-18};
constexpr DoubleDouble k120th = {0.0083333333333333332, 1.1564823173178714e-19};
constexpr DoubleDouble k24th = {0.041666666666666664, 2.3129646346357427e-18};

// Taylor for |x| <= pi / 256: the omitted terms are below 2^-112 of the result.
SineAndCosine taylor(DoubleDouble x) noexcept {
  const DoubleDouble x2 = x * x;
  const double h = x2.hi;
  const double sin_tail = h * (-1.0 / 5040 + h * (1.0 / 362880 - h / 39916800));
  const double cos_tail =
      h * (-1.0 / 720 + h * (1.0 / 40320 - h * (1.0 / 3628800 - h / 479001600)));
  const DoubleDouble s = x2 * (kMinusSixth + x2 * (k120th + DoubleDouble{sin_tail, 0}));
  const DoubleDouble c = x2 * (DoubleDouble{-0.5, 0} + x2 * (k24th + DoubleDouble{cos_tail, 0}));
  return {x + x * s, DoubleDouble{1, 0} + c};
}

void shift_left(Limbs& limbs, int shift) noexcept {  // 0 <= shift < kBits
  const int whole = shift / 64;
  const int bits = shift % 64;
  for (int i = kLimbs - 1; i >= 0; --i) {
    const std::uint64_t high = i >= whole ? limbs[i - whole] : 0;
    const std::uint64_t low = i >= whole + 1 ? limbs[i - whole - 1] : 0;
    limbs[i] = bits == 0 ? high : (high << bits | low >> (64 - bits));
  }
}

void negate(Limbs& limbs) noexcept {
  std::uint64_t carry = 1;
  for (std::uint64_t& limb : limbs) {
    limb = ~limb + carry;
    carry = carry == 1 && limb == 0 ? 1 : 0;
  }
}

// The fraction 0.limbs as a double-double without the factor 2^-zeros, where `zeros` are its
// leading zero bits.
struct Scaled {
  DoubleDouble value;  // in [1/2, 1), or 0
  int zeros;
};

Scaled leading_bits(const Limbs& limbs) noexcept {
  int top = kLimbs - 1;
  while (top >= 0 && limbs[top] == 0) --top;
  if (top < 0) return {{0, 0}, 0};
  const int bits = std::countl_zero(limbs[top]);
  const auto limb = [&](int i) { return i >= 0 ? limbs[i] : 0; };
  std::uint64_t a = limb(top);
  std::uint64_t b = limb(top - 1);
  if (bits != 0) {
    a = a << bits | b >> (64 - bits);
    b = b << bits | limb(top - 2) >> (64 - bits);
  }
  constexpr double kHigh = 0x1p-53;
  constexpr double kLow = 0x1p-106;
  return {quick_two_sum(static_cast<double>(a >> 11) * kHigh,
                        static_cast<double>((a & 0x7ff) << 42 | b >> 22) * kLow),
          64 * (kLimbs - 1 - top) + bits};
}

DoubleDouble scaled_down(DoubleDouble x, std::int64_t power) noexcept {
  if (power == 0) return x;
  if (power < 900) {
    const double factor = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - power) << 52);
    return {x.hi * factor, x.lo * factor};
  }
  const int exponent = power > 4000 ? -4000 : -static_cast<int>(power);
  return {std::ldexp(x.hi, exponent), std::ldexp(x.lo, exponent)};
}

// Bits `first` and `first` + 1, for 0 <= first.
unsigned two_bits(const Limbs& limbs, std::int64_t first) noexcept {
  unsigned result = 0;
  for (int i = 1; i >= 0; --i) {
    const std::int64_t bit = first + i;
    result =
        2 * result + (bit < kBits ? static_cast<unsigned>(limbs[bit / 64] >> (bit % 64) & 1) : 0);
  }
  return result;
}

// An angle reduced by quarters and steps: +-(step * pi / 128 + x) plus `quarter` quarter turns.
struct Reduced {
  unsigned quarter = 0;
  bool negative = false;
  int step = 0;
  DoubleDouble x;  // radians, |x| <= pi / 256
};

// `limbs` * 2^-fraction_bits quarter turns.
Reduced reduce(Limbs limbs, std::int64_t fraction_bits) noexcept {
  Reduced result;
  std::int64_t more_zeros = 0;
  bool negative_rest = false;
  if (fraction_bits >= kBits + 8) {
    more_zeros = fraction_bits - kBits;  // a tiny angle: nothing to reduce, every bit is kept
  } else {
    if (fraction_bits > kBits) {
      // At most seven of the 64 bits below the precision of the frequency go.
      const auto shift = static_cast<int>(fraction_bits - kBits);
      for (int i = 0; i < kLimbs; ++i) {
        limbs[i] = limbs[i] >> shift | (i + 1 < kLimbs ? limbs[i + 1] << (64 - shift) : 0);
      }
    } else {
      result.quarter = two_bits(limbs, fraction_bits);
      shift_left(limbs, static_cast<int>(kBits - fraction_bits));
    }
    if (limbs[kLimbs - 1] >> 63 != 0) {  // more than half a quarter: reflect
      ++result.quarter;
      result.negative = true;
      negate(limbs);
    }
    result.step = static_cast<int>(((limbs[kLimbs - 1] >> 57) + 1) >> 1);
    limbs[kLimbs - 1] -= static_cast<std::uint64_t>(result.step) << 58;
    if (limbs[kLimbs - 1] >> 63 != 0) {
      negative_rest = true;
      negate(limbs);
    }
  }
  const Scaled rest = leading_bits(limbs);
  result.x = scaled_down(rest.value * half_pi(), rest.zeros + more_zeros);
  if (negative_rest) result.x = -result.x;
  return result;
}

// Returns sine and cosine of magnitude * 2^scale * frequency turns.
SineAndCosine of_magnitude(const Turns& frequency, std::uint64_t magnitude,
                           std::int64_t scale) noexcept {
  Limbs limbs{};
  std::uint64_t carry = 0;
  for (int i = 0; i < 4; ++i) {
    const Uint128 product = Uint128{frequency.mantissa[i]} * magnitude + carry;
    limbs[i] = static_cast<std::uint64_t>(product);
    carry = static_cast<std::uint64_t>(product >> 64);
  }
  limbs[4] = carry;
  const Reduced angle = reduce(limbs, 256 - 2 - frequency.exponent - scale);
  SineAndCosine value = taylor(angle.x);
  if (angle.step != 0) {
    const SineAndCosine& anchor = anchors()[angle.step];
    value = {anchor.sin * value.cos + anchor.cos * value.sin,
             anchor.cos * value.cos + -(anchor.sin * value.sin)};
  }
  if (angle.negative) value.sin = -value.sin;
  switch (angle.quarter % 4) {
    case 1:
      return {value.cos, -value.sin};
    case 2:
      return {-value.sin, -value.cos};
    case 3:
      return {-value.cos, value.sin};
    default:
      return value;
  }
}

}  // namespace

Turns turns_of(const WideFloat& radians_per_position) noexcept {
  static const WideFloat inverse = reciprocal(wide_pi().times_power_of_two(1));
  const WideFloat turns = radians_per_position * inverse;
  Turns result;
  result.exponent = turns.exponent();
  for (int i = 0; i < 4; ++i) result.mantissa[i] = turns.limbs()[i + 1];
  return result;
}

SineAndCosine sine_and_cosine(const Turns& frequency, std::int64_t position) noexcept {
  const bool negative = position < 0;
  const auto bits = static_cast<std::uint64_t>(position);
  SineAndCosine value = of_magnitude(frequency, negative ? 0 - bits : bits, 0);
  if (negative) value.sin = -value.sin;
  return value;
}

SineAndCosine sine_and_cosine(const Turns& frequency, double position) noexcept {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(position), &exponent);
  SineAndCosine value =
      of_magnitude(frequency, static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53);
  if (position < 0) value.sin = -value.sin;
  return value;
}

}  // namespace sextant::kernels

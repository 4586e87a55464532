// 320-bit arithmetic by the schoolbook, and exp, log and pi on top of it.
#include "core/numbers/wide_float.h"

#include <bit>
#include <cmath>
#include <utility>

namespace sextant {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr int kLimbs = WideFloat::kLimbs;
constexpr int kBits = 64 * kLimbs;
using Limbs = WideFloat::Limbs;

// The upper 64 bits of the 128 that start `shift` below the top limb; shifts by whole limbs and
// bits in one go.
void shift_right(Limbs& limbs, std::int64_t shift) noexcept {
  if (shift <= 0) return;
  if (shift >= kBits) {
    limbs = {};
    return;
  }
  const auto whole = static_cast<int>(shift / 64);
  const auto bits = static_cast<int>(shift % 64);
  for (int i = 0; i < kLimbs; ++i) {
    const std::uint64_t low = i + whole < kLimbs ? limbs[i + whole] : 0;
    const std::uint64_t high = i + whole + 1 < kLimbs ? limbs[i + whole + 1] : 0;
    limbs[i] = bits == 0 ? low : (low >> bits | high << (64 - bits));
  }
}

bool less(const Limbs& a, const Limbs& b) noexcept {
  for (int i = kLimbs - 1; i >= 0; --i) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}

}  // namespace

WideFloat::WideFloat(double value) noexcept {
  if (value == 0) return;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [1/2, 1)
  limbs_[kLimbs - 1] = static_cast<std::uint64_t>(std::ldexp(fraction, 53)) << 11;
  exponent_ = exponent;
  negative_ = value < 0;
}

void WideFloat::normalize() noexcept {
  int top = kLimbs - 1;
  while (top >= 0 && limbs_[top] == 0) --top;
  if (top < 0) {
    *this = WideFloat();
    return;
  }
  const int whole = kLimbs - 1 - top;
  const int bits = std::countl_zero(limbs_[top]);
  for (int i = kLimbs - 1; i >= 0; --i) {
    const std::uint64_t high = i >= whole ? limbs_[i - whole] : 0;
    const std::uint64_t low = i >= whole + 1 ? limbs_[i - whole - 1] : 0;
    limbs_[i] = bits == 0 ? high : (high << bits | low >> (64 - bits));
  }
  exponent_ -= 64 * whole + bits;
}

double WideFloat::to_double() const noexcept { return to_double_double().hi; }

DoubleDouble WideFloat::to_double_double() const noexcept {
  if (is_zero()) return {};
  const std::uint64_t a = limbs_[kLimbs - 1];
  const std::uint64_t b = limbs_[kLimbs - 2];
  const double sign = negative_ ? -1 : 1;
  const DoubleDouble sum =
      quick_two_sum(sign * std::ldexp(static_cast<double>(a >> 11), -53),
                    sign * std::ldexp(static_cast<double>((a & 0x7ff) << 42 | b >> 22), -106));
  if (exponent_ > 1024) return {sign * HUGE_VAL, 0};
  const int exponent = exponent_ < -2000 ? -2000 : static_cast<int>(exponent_);
  return {std::ldexp(sum.hi, exponent), std::ldexp(sum.lo, exponent)};
}

WideFloat WideFloat::times_power_of_two(std::int64_t power) const noexcept {
  WideFloat result = *this;
  if (!is_zero()) result.exponent_ += power;
  return result;
}

WideFloat operator+(const WideFloat& a, const WideFloat& b) noexcept {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  WideFloat large = a;
  WideFloat small = b;
  if (large.exponent_ < small.exponent_ ||
      (large.exponent_ == small.exponent_ && less(large.limbs_, small.limbs_))) {
    std::swap(large, small);
  }
  shift_right(small.limbs_, large.exponent_ - small.exponent_);
  std::uint64_t carry = 0;
  if (large.negative_ == small.negative_) {
    for (int i = 0; i < kLimbs; ++i) {
      const Uint128 sum = Uint128{large.limbs_[i]} + small.limbs_[i] + carry;
      large.limbs_[i] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    if (carry != 0) {
      shift_right(large.limbs_, 1);
      large.limbs_[kLimbs - 1] |= std::uint64_t{1} << 63;
      ++large.exponent_;
    }
    return large;
  }
  for (int i = 0; i < kLimbs; ++i) {
    const Uint128 difference = Uint128{large.limbs_[i]} - small.limbs_[i] - carry;
    large.limbs_[i] = static_cast<std::uint64_t>(difference);
    carry = static_cast<std::uint64_t>(difference >> 64) & 1;
  }
  large.normalize();
  return large;
}

WideFloat operator*(const WideFloat& a, const WideFloat& b) noexcept {
  if (a.is_zero() || b.is_zero()) return WideFloat();
  std::array<std::uint64_t, 2 * kLimbs> product{};
  for (int i = 0; i < kLimbs; ++i) {
    std::uint64_t carry = 0;
    for (int j = 0; j < kLimbs; ++j) {
      const Uint128 sum = Uint128{a.limbs_[i]} * b.limbs_[j] + product[i + j] + carry;
      product[i + j] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    product[i + kLimbs] = carry;
  }
  // The product of two fractions in [1/2, 1) is in [1/4, 1): at most one bit to shift.
  const bool shift = product[2 * kLimbs - 1] >> 63 == 0;
  WideFloat result;
  for (int i = 0; i < kLimbs; ++i) {
    const std::uint64_t high = product[i + kLimbs];
    result.limbs_[i] = shift ? (high << 1 | product[i + kLimbs - 1] >> 63) : high;
  }
  result.exponent_ = a.exponent_ + b.exponent_ - (shift ? 1 : 0);
  result.negative_ = a.negative_ != b.negative_;
  return result;
}

WideFloat operator/(const WideFloat& a, std::uint64_t divisor) noexcept {
  // One limb below the number keeps the quotient at full length for any divisor.
  std::array<std::uint64_t, kLimbs + 1> quotient{};
  Uint128 rest = 0;
  for (int i = kLimbs; i >= 0; --i) {
    rest = rest << 64 | (i > 0 ? a.limbs_[i - 1] : 0);
    quotient[i] = static_cast<std::uint64_t>(rest / divisor);
    rest %= divisor;
  }
  WideFloat result = a;
  if (a.is_zero()) return result;
  const int whole =
      quotient[kLimbs] == 0 ? 1 : 0;  // the divisor is below 2^64: no more than one limb
  const int bits = std::countl_zero(quotient[kLimbs - whole]);
  for (int i = 0; i < kLimbs; ++i) {
    const std::uint64_t high = quotient[i + 1 - whole];
    const std::uint64_t low = i >= whole ? quotient[i - whole] : 0;
    result.limbs_[i] = bits == 0 ? high : (high << bits | low >> (64 - bits));
  }
  result.exponent_ -= 64 * whole + bits;
  return result;
}

WideFloat reciprocal(const WideFloat& x) noexcept {
  const WideFloat scaled = x.times_power_of_two(-x.exponent());  // in [1/2, 1)
  const WideFloat one(1.0);
  WideFloat r(1 / scaled.to_double());
  // Newton: 52, 104, 208, 316 bits.
  for (int i = 0; i < 4; ++i) r = r + r * (one - scaled * r);
  return r.times_power_of_two(-x.exponent());
}

const WideFloat& wide_pi() noexcept {
  static const WideFloat pi = [] {
    // Machin 1706: pi / 4 = 4 atan(1/5) - atan(1/239).
    const auto arctangent_of_inverse = [](std::uint64_t n) {
      WideFloat power = WideFloat(1.0) / n;
      WideFloat sum = power;
      for (std::uint64_t i = 1; power.exponent() > -kBits - 8; ++i) {
        power = -(power / (n * n));
        sum = sum + power / (2 * i + 1);
      }
      return sum;
    };
    return arctangent_of_inverse(5).times_power_of_two(4) -
           arctangent_of_inverse(239).times_power_of_two(2);
  }();
  return pi;
}

namespace {

// |x| < 1: the series at x / 2^20, squared twenty times, so the error grows to 2^-297.
WideFloat exp_of_small(const WideFloat& x) noexcept {
  constexpr int kHalvings = 20;
  const WideFloat reduced = x.times_power_of_two(-kHalvings);
  WideFloat term(1.0);
  WideFloat sum(1.0);
  for (std::uint64_t i = 1; !term.is_zero() && term.exponent() > -kBits - 8; ++i) {
    term = term * reduced / i;
    sum = sum + term;
  }
  for (int i = 0; i < kHalvings; ++i) sum = sum * sum;
  return sum;
}

// x in [1/2, 2]: log x = y + log(x exp(-y)) with y the double's logarithm; what is left is 1 + z,
// |z| < 2^-50.
WideFloat log_of_medium(const WideFloat& x) noexcept {
  const WideFloat y(std::log(x.to_double()));
  const WideFloat z = x * exp_of_small(-y) - WideFloat(1.0);
  WideFloat power = z;
  WideFloat sum = z;
  for (std::uint64_t i = 2; i <= 7; ++i) {
    power = -(power * z);
    sum = sum + power / i;
  }
  return y + sum;
}

const WideFloat& log_of_two() noexcept {
  static const WideFloat value = log_of_medium(WideFloat(2.0));
  return value;
}

}  // namespace

WideFloat exp(const WideFloat& x) noexcept {
  const double count = std::nearbyint(x.to_double() / log_of_two().to_double());
  return exp_of_small(x - WideFloat(count) * log_of_two())
      .times_power_of_two(static_cast<std::int64_t>(count));
}

WideFloat log(const WideFloat& x) noexcept {
  const std::int64_t power = x.exponent();
  return log_of_medium(x.times_power_of_two(-power)) +
         WideFloat(static_cast<double>(power)) * log_of_two();
}

}  // namespace sextant

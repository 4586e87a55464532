// Floating-point numbers of 320 bits: precise enough for base^(-2k/d) and pi to
// reduce any angle.
#pragma once

#include <array>
#include <cstdint>

#include "core/numbers/double_double.h"

namespace sextant {

// sign * 0.limbs * 2^exponent, the first bit of the highest limb set unless the number is zero.
// Results are cut, not rounded: each operation has a relative error below 2^-317. Only set-up code
// uses it; a product takes about 20 ns.
class WideFloat {
 public:
  static constexpr int kLimbs = 5;
  using Limbs = std::array<std::uint64_t, kLimbs>;  // lowest first

  WideFloat() = default;
  explicit WideFloat(double value) noexcept;  // exact; finite

  bool is_zero() const noexcept { return limbs_[kLimbs - 1] == 0; }
  bool is_negative() const noexcept { return negative_; }
  std::int64_t exponent() const noexcept { return exponent_; }
  const Limbs& limbs() const noexcept { return limbs_; }

  double to_double() const noexcept;               // nearest, except for results below 2^-1022
  DoubleDouble to_double_double() const noexcept;  // relative error below 2^-105
  WideFloat times_power_of_two(std::int64_t power) const noexcept;

  friend WideFloat operator-(WideFloat a) noexcept {
    a.negative_ = !a.negative_ && !a.is_zero();
    return a;
  }
  friend WideFloat operator+(const WideFloat& a, const WideFloat& b) noexcept;
  friend WideFloat operator-(const WideFloat& a, const WideFloat& b) noexcept { return a + -b; }
  friend WideFloat operator*(const WideFloat& a, const WideFloat& b) noexcept;
  friend WideFloat operator/(const WideFloat& a, std::uint64_t divisor) noexcept;  // divisor > 0

 private:
  void normalize() noexcept;

  Limbs limbs_{};
  std::int64_t exponent_ = 0;
  bool negative_ = false;
};

// Relative error below 2^-280, which is the error of exp after its repeated squarings.
WideFloat reciprocal(const WideFloat& x) noexcept;  // x != 0
WideFloat exp(const WideFloat& x) noexcept;         // |x| < 2^40
WideFloat log(const WideFloat& x) noexcept;         // x > 0; near x = 1 the error is absolute
const WideFloat& wide_pi() noexcept;

}  // namespace sextant

// Probabilistic analysis of rounding (Higham and Mary 2019, A new approach to probabilistic
// rounding error analysis): a number that knows how far rounding is likely to have led it. A
// formula done in this arithmetic estimates its own error in any binary one, at every size.
#pragma once

#include <cmath>
#include <limits>

namespace sextant::reference {

// A value and the variance of its error, in units of half a unit in the last place of 1. Errors of
// operations are taken for independent and of mean 0, each with the largest that it can be for its
// standard deviation; products of errors are left out, so that estimates hold while they are far
// below the values.
class RoundingError {
 public:
  RoundingError() = default;
  // What goes in is rounded once.
  explicit RoundingError(double value) : RoundingError(rounded(value, 0)) {}

  double value() const { return value_; }
  double deviation() const { return std::sqrt(variance_); }

  friend RoundingError operator-(RoundingError a) { return {-a.value_, a.variance_}; }
  friend RoundingError operator+(RoundingError a, RoundingError b) {
    return rounded(a.value_ + b.value_, a.variance_ + b.variance_);
  }
  friend RoundingError operator-(RoundingError a, RoundingError b) { return a + -b; }
  friend RoundingError operator*(RoundingError a, RoundingError b) {
    return rounded(a.value_ * b.value_,
                   square(a.value_) * b.variance_ + square(b.value_) * a.variance_);
  }
  friend RoundingError operator/(RoundingError a, RoundingError b) {
    const double quotient = a.value_ / b.value_;
    return rounded(quotient, (a.variance_ + square(quotient) * b.variance_) / square(b.value_));
  }
  RoundingError& operator+=(RoundingError b) { return *this = *this + b; }
  RoundingError& operator-=(RoundingError b) { return *this = *this - b; }
  RoundingError& operator*=(RoundingError b) { return *this = *this * b; }
  RoundingError& operator/=(RoundingError b) { return *this = *this / b; }

  friend RoundingError exp(RoundingError a) {
    const double power = std::exp(a.value_);
    return power == 0 ? RoundingError() : rounded(power, square(power) * a.variance_);
  }
  friend RoundingError sqrt(RoundingError a) {
    const double root = std::sqrt(a.value_);
    return root == 0 ? RoundingError() : rounded(root, a.variance_ / square(2 * root));
  }
  friend RoundingError tanh(RoundingError a) {
    const double tanh = std::tanh(a.value_);
    return rounded(tanh, square(1 - tanh * tanh) * a.variance_);
  }
  friend RoundingError fmax(RoundingError a, RoundingError b) {
    return a.value_ < b.value_ ? b : a;
  }
  friend bool operator==(RoundingError a, RoundingError b) { return a.value_ == b.value_; }

 private:
  RoundingError(double value, double variance) : value_(value), variance_(variance) {}
  static double square(double x) { return x * x; }
  static RoundingError rounded(double value, double variance) {
    return {value, variance + square(value)};
  }

  double value_ = 0, variance_ = 0;
};

}  // namespace sextant::reference

// Real numbers of 400 bits, by MPFR, for formulas written as in the paper.
#pragma once

#include <mpfr.h>

#include <compare>

namespace sextant::reference {

class Real {
 public:
  static constexpr mpfr_prec_t kBits = 400;

  Real(double value = 0) {  // NOLINT: formulas mix them with numbers
    mpfr_init2(value_, kBits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Real(const Real& other) {
    mpfr_init2(value_, kBits);
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Real& operator=(const Real& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  static Real pi() {
    Real result;
    mpfr_const_pi(result.value_, MPFR_RNDN);
    return result;
  }

  mpfr_srcptr get() const { return value_; }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

  friend Real operator+(Real a, const Real& b) {
    mpfr_add(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real operator-(Real a, const Real& b) {
    mpfr_sub(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real operator*(Real a, const Real& b) {
    mpfr_mul(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real operator/(Real a, const Real& b) {
    mpfr_div(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend bool operator==(const Real& a, const Real& b) { return mpfr_equal_p(a.value_, b.value_); }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.value_, b.value_); }
  friend bool operator>(const Real& a, const Real& b) { return b < a; }
  friend Real pow(Real a, const Real& b) {
    mpfr_pow(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real log(Real a) {
    mpfr_log(a.value_, a.value_, MPFR_RNDN);
    return a;
  }
  friend Real floor(Real a) {
    mpfr_floor(a.value_, a.value_);
    return a;
  }
  friend Real ceil(Real a) {
    mpfr_ceil(a.value_, a.value_);
    return a;
  }
  friend Real sin(Real a) {
    mpfr_sin(a.value_, a.value_, MPFR_RNDN);
    return a;
  }
  friend Real cos(Real a) {
    mpfr_cos(a.value_, a.value_, MPFR_RNDN);
    return a;
  }

  // |value - this| in units in the last place of this as a float32.
  double ulps_off(double value) const {
    if (mpfr_zero_p(value_)) return value == 0 ? 0 : 1e300;
    const long exponent = mpfr_get_exp(value_) - 1 < -126 ? -126 : mpfr_get_exp(value_) - 1;
    Real off;
    mpfr_d_sub(off.value_, value, value_, MPFR_RNDN);
    mpfr_mul_2si(off.value_, off.value_, 23 - exponent, MPFR_RNDN);
    mpfr_abs(off.value_, off.value_, MPFR_RNDN);
    return off.to_double();
  }

 private:
  mpfr_t value_;
};

}  // namespace sextant::reference

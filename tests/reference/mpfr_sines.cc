// The true sine or cosine by MPFR.
#include "reference/mpfr_sines.h"

#include <algorithm>
#include <cmath>

namespace sextant::reference {
namespace {

constexpr mpfr_prec_t kBits = 400;

}  // namespace

TrueSine::TrueSine(double base, std::int64_t numerator, std::int64_t denominator, bool cosine,
                   double scale)
    : cosine_(cosine) {
  mpfr_inits2(kBits, frequency_, position_, value_, work_, scale_, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_si(work_, static_cast<long>(-numerator), MPFR_RNDN);
  mpfr_div_si(work_, work_, static_cast<long>(denominator), MPFR_RNDN);
  mpfr_set_d(frequency_, base, MPFR_RNDN);
  mpfr_pow(frequency_, frequency_, work_, MPFR_RNDN);
  mpfr_set_d(scale_, scale, MPFR_RNDN);
}

TrueSine::~TrueSine() {
  mpfr_clears(frequency_, position_, value_, work_, scale_, static_cast<mpfr_ptr>(nullptr));
}

void TrueSine::evaluate() {
  mpfr_mul(value_, position_, frequency_, MPFR_RNDN);
  (cosine_ ? mpfr_cos : mpfr_sin)(value_, value_, MPFR_RNDN);
  mpfr_mul(value_, value_, scale_, MPFR_RNDN);
}

double TrueSine::ulps(double value, Format format) {
  if (mpfr_zero_p(value_)) return value == 0 ? 0 : HUGE_VAL;
  const long exponent = std::max<long>(mpfr_get_exp(value_) - 1, format.least_exponent);
  mpfr_d_sub(work_, value, value_, MPFR_RNDN);
  mpfr_mul_2si(work_, work_, format.bits - 1 - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(work_, MPFR_RNDN));
}

double TrueSine::ulps_off(double value, std::int64_t position, Format format) {
  mpfr_set_si(position_, static_cast<long>(position), MPFR_RNDN);
  evaluate();
  return ulps(value, format);
}

double TrueSine::ulps_off(double value, double position, Format format) {
  mpfr_set_d(position_, position, MPFR_RNDN);
  evaluate();
  return ulps(value, format);
}

double TrueSine::difference(double value, std::int64_t position) {
  mpfr_set_si(position_, static_cast<long>(position), MPFR_RNDN);
  evaluate();
  mpfr_d_sub(work_, value, value_, MPFR_RNDN);
  return mpfr_get_d(work_, MPFR_RNDN);
}

double TrueSine::rounded(std::int64_t position) {
  mpfr_set_si(position_, static_cast<long>(position), MPFR_RNDN);
  evaluate();
  return mpfr_get_d(value_, MPFR_RNDN);
}

std::int64_t TrueSine::nearest_zero(std::int64_t largest) {
  // Convergents p / q of pi / (2 frequency) ... of frequency / (pi / 2): q * frequency is close to
  // p quarter turns.
  mpfr_const_pi(work_, MPFR_RNDN);
  mpfr_div_2ui(work_, work_, 1, MPFR_RNDN);
  mpfr_div(value_, frequency_, work_, MPFR_RNDN);
  std::int64_t p[2] = {0, 1};
  std::int64_t q[2] = {1, 0};
  std::int64_t best = 1;
  for (int i = 0; i < 60; ++i) {
    const double whole = mpfr_get_d(value_, MPFR_RNDD);
    if (std::floor(whole) * static_cast<double>(q[1]) + static_cast<double>(q[0]) >
        static_cast<double>(largest))
      break;
    const auto a = static_cast<std::int64_t>(std::floor(whole));
    const std::int64_t next_p = a * p[1] + p[0];
    const std::int64_t next_q = a * q[1] + q[0];
    p[0] = p[1];
    p[1] = next_p;
    q[0] = q[1];
    q[1] = next_q;
    if (next_q > 0 && (next_p % 2 != 0) == cosine_) best = next_q;
    mpfr_sub_si(value_, value_, static_cast<long>(a), MPFR_RNDN);
    if (mpfr_zero_p(value_)) break;
    mpfr_ui_div(value_, 1, value_, MPFR_RNDN);
  }
  return best;
}

}  // namespace sextant::reference

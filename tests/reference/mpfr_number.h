// MPFR numbers that hold wide numbers exactly.
#pragma once

#include <mpfr.h>

#include <cstddef>

#include "core/numbers/wide_float.h"

namespace sextant::reference {

// MPFR numbers of 600 bits that clean up after themselves.
struct Number {
  mpfr_t x;
  Number() { mpfr_init2(x, 600); }
  ~Number() { mpfr_clear(x); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
};

inline void set(Number& to, const WideFloat& from) {
  Number part;
  mpfr_set_zero(to.x, 1);
  for (int i = 0; i < WideFloat::kLimbs; ++i) {
    mpfr_set_ui(part.x, from.limbs()[static_cast<std::size_t>(i)], MPFR_RNDN);
    mpfr_mul_2si(part.x, part.x, 64 * (i - WideFloat::kLimbs) + static_cast<long>(from.exponent()),
                 MPFR_RNDN);
    mpfr_add(to.x, to.x, part.x, MPFR_RNDN);
  }
  if (from.is_negative()) mpfr_neg(to.x, to.x, MPFR_RNDN);
}

// log2 of |a - b| / |b|.
inline double relative_bits(Number& a, Number& b) {
  mpfr_sub(a.x, a.x, b.x, MPFR_RNDN);
  mpfr_div(a.x, a.x, b.x, MPFR_RNDN);
  return mpfr_zero_p(a.x) ? -1000 : static_cast<double>(mpfr_get_exp(a.x));
}

}  // namespace sextant::reference

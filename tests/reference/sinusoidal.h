// What each column of the sinusoidal family is, written down from the papers and sources one form
// at a time, and what float32 frameworks compute.
#pragma once

#include <cstdint>
#include <memory>

#include "reference/mpfr_sines.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::reference {

// sin or cos of position * base^(-numerator / denominator), or nothing at all.
struct Column {
  bool zero = false;
  bool cosine = false;
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
};
Column column_of(const Sinusoidal& options, std::int64_t column);

std::unique_ptr<TrueSine> true_column(const Sinusoidal& options,
                                      std::int64_t column);  // not for zero columns

}  // namespace sextant::reference

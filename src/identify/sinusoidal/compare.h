// The given table against a table made again from options: every value, in blocks of rows.
#pragma once

#include <cstdint>

#include "identify/sinusoidal/ratio.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::identify {

struct Comparison {
  double max_deviation = 0;  // |given - remade|, both in the type of `unit_roundoff`
  std::int64_t row = 0;      // where
  std::int64_t column = 0;
  std::int64_t compared = 0;    // values that the noise leaves worth comparing
  std::int64_t useless = 0;     // the others
  std::int64_t outside = 0;     // values further off than the noise allows
  std::int64_t rows_empty = 0;  // rows of zeros, not compared: padding
};

// Row n of the table against position options.first + n, over all rows or about `sample_rows` of
// them. The columns are the first ones of the remade table, which may be wider. `scale_tolerance`
// is added to the noise, relative to the value.
Comparison compare(View<const double> table, const Sinusoidal& options, const Noise& noise,
                   double scale_tolerance, double unit_roundoff, std::int64_t sample_rows);
inline constexpr std::int64_t kAllRows = INT64_MAX;

}  // namespace sextant::identify

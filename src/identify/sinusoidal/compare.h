// Compares the given table with candidates, and lists the options near a fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "identify/sinusoidal/search.h"
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

  double share_outside() const;  // 1 where too little is left to judge
};
// Row n of the table against position options.first + n, over all rows or about `sample_rows` of
// them. The columns are the first ones of the remade table, which may be wider. `scale_error` is
// added to the noise, relative to the value.
Comparison compare(View<const double> table, const Sinusoidal& options, const Noise& noise,
                   double scale_error, double unit_roundoff, std::int64_t sample_rows);

// A fit under one name; a smaller preference is likelier, roughness is about the digits of the
// base.
struct Candidate {
  Sinusoidal options;
  double preference;
  double roughness;
};
// Every reading of the structure with the roundest base and scale that the fit allows, likeliest
// first.
std::vector<Candidate> candidates_of(const Structure& structure, const Fit& fit,
                                     std::int64_t length, std::int64_t width, const Noise& noise);

// The result, in one or two sentences for a person.
struct Finding {
  Sinusoidal options;
  std::int64_t rows, columns;    // of the given table
  std::vector<Sinusoidal> also;  // other options that make the same numbers
  Comparison comparison;
  bool sure_of_first;
  bool base_matters;    // false: every base makes this table
  bool rounded_before;  // the values were rounded to a shorter type than they are stored in
};
std::string explain(const Finding& finding);

}  // namespace sextant::identify

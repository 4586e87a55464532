// What was found, in one or two sentences for a person.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "identify/sinusoidal/compare.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::identify {

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
std::string explain_undetermined_base(std::int64_t first, std::int64_t rows);
std::string explain_unknown(double deviation, bool guessed);

}  // namespace sextant::identify

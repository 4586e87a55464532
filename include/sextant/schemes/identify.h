// Whose table is this? Finds the scheme and every option of a table of positions from its numbers
// alone.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/schemes/sinusoidal.h"

namespace sextant {

struct Identification {
  std::string scheme = "unknown";  // "sinusoidal" or "unknown"
  Sinusoidal options;   // how to make the table again, when the scheme is known: length, width,
                        // base, first, ...
  std::string mistake;  // empty, or a name: "doubled_exponent", "doubled_exponent_unpaired", ...
  std::string explanation;  // one or two sentences for a person
  double confidence = 0;    // 0 .. 1
  double max_deviation =
      0;  // largest |given - remade| over the whole table; of the best guess when unknown
};

// `table` is [length, width] with at least one row and two columns, of any float type widened to
// float64; `unit_roundoff` is that of the type it was stored in (2^-53, 2^-24, 2^-11, 2^-8; above 0
// and at most 2^-6). Rows
// are consecutive and may start anywhere within
// +-2^31 (a slice of a longer table). When only the first columns of a wider interleaved table are
// given, options.width is that of the whole. A table with damaged values (up to 2 %) is still
// named, with half the confidence. docs/identify.md says which reading is preferred when several
// options make the same numbers. Up to `threads` threads (0: default_threads()); the result does
// not depend on them. Throws Error for values that are not finite, a shape that cannot be a table
// or a number out of its range.
Identification identify_table(View<const double> table, double unit_roundoff, int threads = 0);

}  // namespace sextant

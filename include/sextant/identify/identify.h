// Finds the scheme and every option of a table of positions from its numbers alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

struct Identification {
  std::string scheme = "unknown";  // "sinusoidal", another name of the list of schemes, "unknown",
                                   // or "rotary_unknown": rotations by frequencies of no known rule
  Sinusoidal options;  // for "sinusoidal": the options that make the table again: length, width,
                       // base, first, ...
  std::string
      mistake;  // empty, or a name: "doubled_exponent", "positions_rounded_to_bfloat16", ...
  std::string explanation;  // one or two sentences for a person
  double confidence = 0;    // 0 .. 1
  double max_deviation =
      0;  // largest |given - remade| over the whole table; for the best guess if unknown

  // For known schemes, also "sinusoidal": the scheme's parameters by name, as text, without
  // defaults.
  std::map<std::string, std::string> parameters = {};
  // For schemes other than "sinusoidal": the scheme's numbers in the array ("cosines", "cosines,
  // then sines", "slopes", "buckets [query, key]", ...), and the request for them.
  std::string form = {};
  std::int64_t first = 0;             // for rotations: the position of row 0
  std::int64_t head_dim = 0;          // for rotations: the rotated channels
  std::int64_t heads = 0;             // for biases: the heads
  std::int64_t length = 0;            // for biases by distance: the number of positions
  std::vector<double> inv_freq = {};  // for rotations: radians per position of every pair
  double attention_factor = 1;        // the factor of cosines and sines
};

// Identifies `table`, [length, width] with at least one row and two columns, of any float type
// widened to float64. `unit_roundoff` is that of the stored type (2^-53, 2^-24, 2^-11, 2^-8; above
// 0 and at most 2^-6). Rows are consecutive and may start anywhere within +-2^31 (a slice of a
// longer table). If only the first columns of a wider interleaved table are given, options.width is
// that of the whole. A table with damaged values (up to 2 %) is still named, with half the
// confidence. docs/tables.md says which result is preferred if several options give the same
// numbers. It uses up to `threads` threads (0: default_threads()); the result does not depend on
// them. Throws Error for values that are not finite, a shape that cannot be a table or a number out
// of its range.
Identification identify_table(View<const double> table, double unit_roundoff, int threads = 0);

// Identifies arrays of other schemes too: tables as above; caches of rotations ([positions, pairs]
// of cosines or of sines, each twice in either layout, side by side, or [positions, pairs, 2]) and
// their frequencies ([pairs], 4 or more), plain, linear, YaRN, Llama 3 and proportional; ALiBi's
// slopes ([heads]) and biases ([heads, keys], [heads, 2 L - 1], [heads, queries, keys]; hidden keys
// may be -infinity); T5's buckets ([queries, keys], or by distance). Axes of length one are
// dropped. Throws Error for NaN, for no values, for more than 2^31 of them, and for a unit_roundoff
// out of its range.
Identification identify_array(View<const double> array, double unit_roundoff, int threads = 0);

}  // namespace sextant

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
  Sinusoidal options;  // of "sinusoidal": how to make the table again: length, width, base, first,
                       // ...
  std::string
      mistake;  // empty, or a name: "doubled_exponent", "positions_rounded_to_bfloat16", ...
  std::string explanation;  // one or two sentences for a person
  double confidence = 0;    // 0 .. 1
  double max_deviation =
      0;  // largest |given - remade| over the whole table; of the best guess when unknown

  // Of known schemes, "sinusoidal" too: what the scheme's parameters must be, by name and as text;
  // defaults are left out.
  std::map<std::string, std::string> parameters = {};
  // Of other schemes than "sinusoidal": which numbers of the scheme the array holds ("cosines",
  // "cosines, then sines", "slopes", "buckets [query, key]", ...), and for which request.
  std::string form = {};
  std::int64_t first = 0;             // position of row 0, of rotations
  std::int64_t head_dim = 0;          // rotated channels, of rotations
  std::int64_t heads = 0;             // of biases
  std::int64_t length = 0;            // of biases by distance: how many positions they are for
  std::vector<double> inv_freq = {};  // radians per position of every pair, of rotations
  double attention_factor = 1;        // what multiplies cosines and sines
};

// `table` is [length, width] with at least one row and two columns, of any float type widened to
// float64; `unit_roundoff` is that of the type it was stored in (2^-53, 2^-24, 2^-11, 2^-8; above 0
// and at most 2^-6). Rows are consecutive and may start anywhere within +-2^31 (a slice of a longer
// table). When only the first columns of a wider interleaved table are given, options.width is that
// of the whole. A table with damaged values (up to 2 %) is still named, with half the confidence.
// docs/tables.md says which result is preferred when several options give the same numbers. Up to
// `threads` threads (0: default_threads()); the result does not depend on them. Throws Error for
// values that are not finite, a shape that cannot be a table or a number out of its range.
Identification identify_table(View<const double> table, double unit_roundoff, int threads = 0);

// The same for arrays of other schemes: tables as above; caches of rotations ([positions, pairs] of
// cosines or of sines, each twice in either layout, side by side, or [positions, pairs, 2]) and
// their frequencies ([pairs], 4 or more), plain, linear, YaRN, Llama 3 and proportional; ALiBi's
// slopes ([heads]) and biases ([heads, keys], [heads, 2 L - 1], [heads, queries, keys]; hidden keys
// may be -infinity); T5's buckets ([queries, keys], or by distance). Axes of length one are
// dropped. Throws Error for NaN, for no values, for more than 2^31 of them, and for a unit_roundoff
// out of its range.
Identification identify_array(View<const double> array, double unit_roundoff, int threads = 0);

}  // namespace sextant

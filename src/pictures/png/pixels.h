// A matrix as the bytes of one small PNG image.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/core/tensor.h"
#include "sextant/pictures/color.h"

namespace sextant::pictures {

// The values at the ends of a colour scale.
struct Scale {
  double low = 0, high = 1;
  ColorMap map = ColorMap::viridis;
  bool hides = false;                // -infinity is a hidden pair
  double place(double value) const;  // in [0, 1]; NaN when the value is not finite
  bool is_hidden(double value) const;
  Rgb color_of(double value) const;
};

// Beyond it, differences of two numbers could overflow; a colour scale ends there.
inline constexpr double kLargest = 1e300;

// A range that is shorter is drawn as one number: its steps would be denormal, or no numbers at
// all.
inline constexpr double kShortest = 1e-290;

// Smallest and largest finite value, within kLargest of zero; {0, 0} when there is none.
// The others are -infinity, or none of the two.
struct Extent {
  double low = 0, high = 0;
  bool has_minus_infinity = false, has_other = false;
};
Extent extent_of(View<const double> values);  // of any rank from 1

// Means of blocks so that there are at most `max_rows` x `max_columns` pixels; where a block holds
// no finite number -infinity if it holds nothing else, and NaN. The last block of a side may be
// smaller.
struct Blocks {
  Tensor<double> means;                // or other numbers of blocks
  std::int64_t rows = 1, columns = 1;  // elements per block
};
Blocks average(View<const double> matrix, std::int64_t max_rows, std::int64_t max_columns);
// The same with the number of the largest magnitude instead of the mean: one large weight among
// hundreds must not vanish.
Blocks largest(View<const double> matrix, std::int64_t max_rows, std::int64_t max_columns);

// Writes up to 253 colours of the scale and two greys. Each element is `across` x `down` equal
// pixels: a renderer that always smooths enlarged images, as librsvg does, would blur single ones
// into each other.
std::string matrix_png(View<const double> matrix, const Scale& scale, int across = 1, int down = 1);

// From this many CSS pixels per element a viewer may enlarge or shrink an image without smoothing;
// narrower ones would lose lines.
inline constexpr double kCrisp = 2;

// Returns the pixels per element for an element drawn `size` CSS pixels wide: enough that a
// smoothing renderer blurs about two CSS pixels, and few, because they are bytes.
int repeats(double size);

}  // namespace sextant::pictures

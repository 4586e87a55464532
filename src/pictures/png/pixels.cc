// A matrix as one PNG image of up to 255 colours.
#include "pictures/png/pixels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "pictures/png/png_writer.h"

namespace sextant::pictures {
namespace {

// Then a colour for values that are not finite, and that of hidden pairs.
constexpr int kShades = 253;

void extend(View<const double> values, Extent& extent, bool& any) {
  for (std::int64_t i = 0; i < values.size(0); ++i) {
    if (values.rank() > 1) {
      extend(values.select(0, i), extent, any);
    } else if (const double value = values(i); std::isfinite(value)) {
      extent.low = any ? std::min(extent.low, value) : value;
      extent.high = any ? std::max(extent.high, value) : value;
      any = true;
    } else {
      (value == -HUGE_VAL ? extent.has_minus_infinity : extent.has_other) = true;
    }
  }
}

}  // namespace

double Scale::place(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

bool Scale::is_hidden(double value) const { return hides && value == -HUGE_VAL; }

Rgb Scale::color_of(double value) const {
  return is_hidden(value) ? kHiddenColor : color(map, place(value));
}

Extent extent_of(View<const double> values) {
  Extent extent;
  bool any = false;
  extend(values, extent, any);
  extent.low = std::clamp(extent.low, -kLargest, kLargest);
  extent.high = std::clamp(extent.high, -kLargest, kLargest);
  return extent;
}

namespace {

Blocks empty_blocks(View<const double> matrix, std::int64_t max_rows, std::int64_t max_columns) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  Blocks blocks;
  blocks.rows = (rows + max_rows - 1) / max_rows;
  blocks.columns = (columns + max_columns - 1) / max_columns;
  const std::int64_t down = (rows + blocks.rows - 1) / blocks.rows;
  const std::int64_t across = (columns + blocks.columns - 1) / blocks.columns;
  blocks.means = Tensor<double>({down, across});
  return blocks;
}

}  // namespace

Blocks largest(View<const double> matrix, std::int64_t max_rows, std::int64_t max_columns) {
  Blocks blocks = empty_blocks(matrix, max_rows, max_columns);
  // Numbers rank above NaN, and NaN above -infinity.
  const auto rank = [](double value) {
    return std::isfinite(value) ? std::abs(value) : value == -HUGE_VAL ? -2.0 : -1.0;
  };
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    for (std::int64_t j = 0; j < matrix.size(1); ++j) {
      double& block = blocks.means(i / blocks.rows, j / blocks.columns);
      const bool is_first = i % blocks.rows == 0 && j % blocks.columns == 0;
      if (is_first || rank(matrix(i, j)) > rank(block)) block = matrix(i, j);
    }
  }
  return blocks;
}

Blocks average(View<const double> matrix, std::int64_t max_rows, std::int64_t max_columns) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  Blocks blocks = empty_blocks(matrix, max_rows, max_columns);
  const std::int64_t down = blocks.means.size(0), across = blocks.means.size(1);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(across));
  for (std::int64_t block = 0; block < down; ++block) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::int64_t j = 0; j < across; ++j) blocks.means(block, j) = -HUGE_VAL;
    const std::int64_t end = std::min(rows, (block + 1) * blocks.rows);
    for (std::int64_t i = block * blocks.rows; i < end; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t to = j / blocks.columns;
        double& mean = blocks.means(block, to);
        if (!std::isfinite(matrix(i, j))) {
          const bool is_first = counts[static_cast<std::size_t>(to)] == 0;
          if (is_first && matrix(i, j) != -HUGE_VAL)
            mean = std::numeric_limits<double>::quiet_NaN();
          continue;
        }
        // Two numbers beyond the scale's ends could be too far apart for a difference.
        const double value = std::clamp(matrix(i, j), -kLargest, kLargest);
        const double count = static_cast<double>(++counts[static_cast<std::size_t>(to)]);
        mean = count == 1 ? value : mean + (value - mean) / count;  // a sum could overflow
      }
    }
  }
  return blocks;
}

int repeats(double size) {
  constexpr double kMost = 24;
  return static_cast<int>(std::clamp(std::ceil(size / 2), 1.0, kMost));
}

namespace {

// The colours that a matrix needs, numbered as they occur.
class Palette {
 public:
  explicit Palette(const Scale& scale) : scale_(scale) { numbers_.fill(-1); }

  std::uint8_t number_of(double value) {
    const double place = scale_.place(value);
    const int shade = scale_.is_hidden(value) ? kShades + 1
                      : std::isnan(place)     ? kShades
                                              : static_cast<int>(place * (kShades - 1) + 0.5);
    int& number = numbers_[static_cast<std::size_t>(shade)];
    if (number < 0) {
      number = static_cast<int>(colors_.size());
      colors_.push_back(shade > kShades    ? kHiddenColor
                        : shade == kShades ? color(scale_.map, NAN)
                                           : color(scale_.map, shade / (kShades - 1.0)));
    }
    return static_cast<std::uint8_t>(number);
  }
  const std::vector<Rgb>& colors() const { return colors_; }

 private:
  const Scale& scale_;
  std::array<int, kShades + 2> numbers_{};
  std::vector<Rgb> colors_;
};

}  // namespace

std::string matrix_png(View<const double> matrix, const Scale& scale, int across, int down) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  Palette palette(scale);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(rows * columns * across * down));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::size_t line = pixels.size();
    for (std::int64_t j = 0; j < columns; ++j) {
      pixels.insert(pixels.end(), static_cast<std::size_t>(across),
                    palette.number_of(matrix(i, j)));
    }
    const std::size_t length = pixels.size() - line;
    for (int copy = 1; copy < down; ++copy) {
      for (std::size_t k = 0; k < length; ++k) pixels.push_back(pixels[line + k]);
    }
  }
  return write_png(pixels, static_cast<std::size_t>(columns * across), palette.colors());
}

}  // namespace sextant::pictures

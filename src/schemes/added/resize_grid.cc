// Grids of learned positions in other sizes: each axis by a matrix of weights.
#include "sextant/schemes/added/resize_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/options.h"

namespace sextant {
namespace {

constexpr IntegerRange kGridSides{1, 1 << 20};

// The weight of a sample at distance x (Keys 1981, equation 4; `a` is his -1/2 or OpenCV's -3/4).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

struct Sample {
  std::int64_t index;
  double weight;
};

// The samples of one place of an axis.
using Samples = std::vector<Sample>;

void add(Samples& samples, std::int64_t index, double weight, std::int64_t size) {
  samples.push_back({std::clamp<std::int64_t>(index, 0, size - 1), weight});
}

// torch without antialiasing: 2 or 4 neighbours, those beyond the edge are the edge.
Samples neighbours(double at, std::int64_t size, ResizeMethod method) {
  Samples samples;
  if (method == ResizeMethod::bilinear) {
    at = std::max(at, 0.0);
    const double below = std::floor(at);
    add(samples, static_cast<std::int64_t>(below), 1 - (at - below), size);
    add(samples, static_cast<std::int64_t>(below) + 1, at - below, size);
    return samples;
  }
  const double below = std::floor(at);
  for (int n = -1; n <= 2; ++n) {
    add(samples, static_cast<std::int64_t>(below) + n, cubic(at - below - n, -0.75), size);
  }
  return samples;
}

// All samples that the kernel reaches, made wider when the axis shrinks; weights add up to 1.
Samples antialiased(double at, double scale, std::int64_t size, ResizeMethod method) {
  const double stretch = std::max(scale, 1.0);
  const double reach = stretch * (method == ResizeMethod::bilinear ? 1 : 2);
  Samples samples;
  double total = 0;
  const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(at - reach)));
  for (std::int64_t index = first; index < size && static_cast<double>(index) <= at + reach;
       ++index) {
    const double x = (at - static_cast<double>(index)) / stretch;
    const double weight =
        method == ResizeMethod::bilinear ? std::max(0.0, 1 - std::abs(x)) : cubic(x, -0.5);
    if (weight == 0) continue;
    samples.push_back({index, weight});
    total += weight;
  }
  for (Sample& sample : samples) sample.weight /= total;
  return samples;
}

std::vector<Samples> axis(std::int64_t from, std::int64_t to, const ResizeGrid& options) {
  std::vector<Samples> all;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t n = 0; n < to; ++n) {
    const auto place = static_cast<double>(n);
    const double middle = scale * (place + 0.5) - 0.5;
    switch (options.convention) {
      case ResizeConvention::torch:
        all.push_back(neighbours(middle, from, options.method));
        break;
      case ResizeConvention::torch_corners:
        all.push_back(neighbours(
            to == 1 ? 0 : place * static_cast<double>(from - 1) / static_cast<double>(to - 1), from,
            options.method));
        break;
      case ResizeConvention::torch_antialias:
      case ResizeConvention::jax:
        all.push_back(antialiased(middle, scale, from, options.method));
        break;
    }
  }
  return all;
}

// Sums over one axis of x [outer, size, inner].
std::vector<double> resized(const std::vector<double>& x, std::int64_t outer, std::int64_t size,
                            std::int64_t inner, const std::vector<Samples>& axis) {
  const auto count = static_cast<std::int64_t>(axis.size());
  std::vector<double> to(static_cast<std::size_t>(outer * count * inner));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t n = 0; n < count; ++n) {
      double* row = to.data() + (o * count + n) * inner;
      for (const Sample& sample : axis[static_cast<std::size_t>(n)]) {
        const double* from = x.data() + (o * size + sample.index) * inner;
        for (std::int64_t c = 0; c < inner; ++c) row[c] += sample.weight * from[c];
      }
    }
  }
  return to;
}

// The size of the table's grid.
GridSize checked_size(View<const double> table, const ResizeGrid& options) {
  GridSize old = options.old_size;
  check_range(IntegerRange{0, 1 << 20}, "resize_grid.prefix", options.prefix);
  if (old.rows == 0 && old.columns == 0 && table.rank() == 2) {
    const std::int64_t patches = table.size(0) - options.prefix;
    old.rows = old.columns =
        std::llround(std::sqrt(static_cast<double>(std::max<std::int64_t>(patches, 0))));
    if (patches < 1 || old.rows * old.columns != patches) {
      throw Error("resize_grid.old_size", "must be given for a table that is not square, got " +
                                              std::to_string(patches) +
                                              " patches after the prefix");
    }
  }
  check_range(kGridSides, "resize_grid.old_size", old.rows);
  check_range(kGridSides, "resize_grid.old_size", old.columns);
  check_range(kGridSides, "resize_grid.new_size", options.new_size.rows);
  check_range(kGridSides, "resize_grid.new_size", options.new_size.columns);
  const std::int64_t rows = options.prefix + old.rows * old.columns;
  if (table.rank() != 2 || table.size(0) != rows) {
    throw Error("resize_grid.table", "must be [" + std::to_string(rows) +
                                         ", width], a row for each patch after the prefix, got " +
                                         table.shape().to_string());
  }
  const std::int64_t wanted = options.prefix + options.new_size.rows * options.new_size.columns;
  if (wanted > (std::int64_t{1} << 31) / std::max<std::int64_t>(table.size(1), 1)) {
    throw Error("resize_grid.new_size", "must give at most 2^31 numbers, got " +
                                            std::to_string(wanted) + " rows of " +
                                            std::to_string(table.size(1)));
  }
  return old;
}

}  // namespace

std::string_view name_of(ResizeMethod method) noexcept {
  constexpr std::array<std::string_view, 2> kNames{"bilinear", "bicubic"};
  const auto index = static_cast<std::size_t>(method);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::string_view name_of(ResizeConvention convention) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"torch", "torch_antialias", "torch_corners",
                                                   "jax"};
  const auto index = static_cast<std::size_t>(convention);
  return index < kNames.size() ? kNames[index] : "unknown";
}

Tensor<double> resize_grid(View<const double> table, const ResizeGrid& options) {
  const auto [rows, columns] = checked_size(table, options);
  const std::int64_t width = table.size(1), prefix = options.prefix;
  Tensor<double> result(Shape{prefix + options.new_size.rows * options.new_size.columns, width});
  const auto copied = copy_of(table);
  std::copy_n(copied.data(), prefix * width, result.data());
  std::vector<double> grid(copied.data() + prefix * width, copied.data() + copied.count());
  if (options.new_size.rows != rows) {
    grid = resized(grid, 1, rows, columns * width, axis(rows, options.new_size.rows, options));
  }
  if (options.new_size.columns != columns) {
    grid = resized(grid, options.new_size.rows, columns, width,
                   axis(columns, options.new_size.columns, options));
  }
  std::copy(grid.begin(), grid.end(), result.data() + prefix * width);
  return result;
}

}  // namespace sextant

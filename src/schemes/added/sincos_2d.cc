// Image positions: a sinusoidal table of the rows beside one of the columns.
#include "sextant/schemes/added/sincos_2d.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/option_checks.h"
#include "core/quoted_text.h"
#include "schemes/added/sine_blocks.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

constexpr double kEpsilon = 1e-6;  // DETR's, in the denominator of normalized coordinates

void check(const Sincos2d& options) {
  check_named("sincos_2d.layout", options.layout);
  check_named("sincos_2d.ladder", options.ladder);
  const std::int64_t least = options.ladder == Ladder::d_half_minus_1 ? 8 : 4;
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (options.width < least || options.width > kMost || options.width % 4 != 0) {
    throw Error("sincos_2d.width", "must be a multiple of 4, " + std::to_string(least) +
                                       " .. 2^30, got " + std::to_string(options.width));
  }
  if (!(options.base > 0) || !std::isfinite(options.base)) {
    throw Error("sincos_2d.base", "must be a finite number above 0, got " + shortest(options.base));
  }
  if (!std::isfinite(options.first)) {
    throw Error("sincos_2d.first", "must be finite, got " + shortest(options.first));
  }
  if (!std::isfinite(options.step)) {
    throw Error("sincos_2d.step", "must be finite, got " + shortest(options.step));
  }
  check_threads("sincos_2d.threads", options.threads);
}

void check_grid(std::string_view where, std::int64_t side) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (side < 1 || side > kMost) {
    throw Error(where, "must be 1 .. 2^30, got " + std::to_string(side));
  }
}

// The coordinates of one axis whose grid has `side` patches.
std::vector<double> coordinates_of(const Sincos2d& options, std::vector<double> patches,
                                   std::int64_t side) {
  const double last = options.first + options.step * static_cast<double>(side - 1) + kEpsilon;
  for (double& x : patches) {
    x = options.first + options.step * x;
    if (options.normalized) x = x / last * (2 * std::numbers::pi);
  }
  check_coordinates(patches, "sincos_2d.positions");
  return patches;
}

template <Floating T, class Position>
Tensor<T> make(const Sincos2d& options, std::span<const Position> positions) {
  check(options);
  if (positions.size() % 2 != 0) {
    throw Error("sincos_2d.positions", "must be pairs of row and column, got " +
                                           std::to_string(positions.size()) + " numbers");
  }
  if (options.normalized) {
    check_grid("sincos_2d.rows", options.rows);
    check_grid("sincos_2d.columns", options.columns);
  }
  const auto rows = static_cast<std::int64_t>(positions.size() / 2);
  if (rows > (std::int64_t{1} << 60) / options.width) {
    throw Error("sincos_2d.positions", "times width must be below 2^60, got " +
                                           std::to_string(rows) + " x " +
                                           std::to_string(options.width));
  }
  // Whole coordinates take the fast way: with whole steps up to 2^53 they are exact.
  const bool whole = std::is_same_v<Position, std::int64_t> && !options.normalized &&
                     options.first == std::trunc(options.first) &&
                     options.step == std::trunc(options.step);
  Sinusoidal block;
  block.width = options.width / 2;
  block.base = options.base;
  block.layout = options.layout;
  block.ladder = options.ladder;
  block.threads = options.threads;
  check_sinusoidal(block);
  Tensor<T> out = Tensor<T>::uninitialized({rows, options.width});
  for (const std::int64_t axis : {0, 1}) {
    const std::vector<Position> listed = axis_of(positions, 2, axis);
    const std::vector<double> coordinates =
        coordinates_of(options, std::vector<double>(listed.begin(), listed.end()),
                       axis == 0 ? options.rows : options.columns);
    T* columns = out.data() + ((axis == 1) == options.column_first ? 0 : block.width);
    if (whole) {
      const std::vector<std::int64_t> ids(coordinates.begin(), coordinates.end());
      fill_sine_block<T, std::int64_t>(block, ids, columns, options.width);
    } else {
      fill_sine_block<T, double>(block, coordinates, columns, options.width);
    }
  }
  return out;
}

}  // namespace

Sincos2d sincos_2d_form(std::string_view form) {
  Sincos2d options;
  if (form == "mae") return options;
  if (form == "moco" || form == "detr" || form == "detr_normalized") options.column_first = false;
  if (form == "moco") return options;
  if (form == "big_vision") {
    options.ladder = Ladder::d_half_minus_1;
    return options;
  }
  if (form == "detr" || form == "detr_normalized") {
    options.layout = SinusoidalLayout::interleaved;
    options.first = 1;
    options.normalized = form == "detr_normalized";
    return options;
  }
  throw Error(
      "sincos_2d.form",
      "must be one of mae, moco, big_vision, detr, detr_normalized, got " + quoted_text(form));
}

template <Floating T>
Tensor<T> sincos_2d(const Sincos2d& options) {
  check_grid("sincos_2d.rows", options.rows);
  check_grid("sincos_2d.columns", options.columns);
  if (options.rows * options.columns > std::int64_t{1} << 40) {
    throw Error("sincos_2d.rows", "times columns must be at most 2^40, got " +
                                      std::to_string(options.rows) + " x " +
                                      std::to_string(options.columns));
  }
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(2 * options.rows * options.columns));
  for (std::int64_t row = 0; row < options.rows; ++row) {
    for (std::int64_t column = 0; column < options.columns; ++column) {
      positions.push_back(row);
      positions.push_back(column);
    }
  }
  return make<T, std::int64_t>(options, positions);
}

template <Floating T>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const std::int64_t> positions) {
  for (const std::int64_t position : positions) {
    if (position < -(std::int64_t{1} << 53) || position > std::int64_t{1} << 53) {
      throw Error("sincos_2d.positions", "must be within +-2^53, got " + std::to_string(position));
    }
  }
  return make<T>(options, positions);
}

template <Floating T>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const double> positions) {
  return make<T>(options, positions);
}

#define SEXTANT_INSTANTIATE(T)                                                     \
  template Tensor<T> sincos_2d<T>(const Sincos2d&);                                \
  template Tensor<T> sincos_2d<T>(const Sincos2d&, std::span<const std::int64_t>); \
  template Tensor<T> sincos_2d<T>(const Sincos2d&, std::span<const double>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

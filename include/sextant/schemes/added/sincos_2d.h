// Computes sines and cosines of a row and a column: positions of image patches (MAE, MoCo v3,
// big_vision, DETR).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// The models with these tables.
enum class Sincos2dForm { mae, moco, big_vision, detr, detr_normalized };

// The axis of the first half of the columns.
enum class Sincos2dAxes { column_first, row_first };

// Sinusoidal tables of the row and the column, each of ceil(width / 4) * 2, side by side and cut
// off at the width. Patch n of an axis is at c = first + step * n; normalized (Carion et al. 2020,
// 2005.12872): at 2 pi c / (the last patch's c + 1e-6). Unset options are those of the form.
struct Sincos2d {
  std::int64_t width = 0;                 // even, 2 .. 2^30; at least 6 for ladder d/2-1
  Sincos2dForm form = Sincos2dForm::mae;  // He et al. 2021, 2111.06377
  std::optional<Sincos2dAxes> axes{};
  std::optional<SinusoidalLayout> layout{};  // layout of each half
  std::optional<Ladder> ladder{};            // ladder of each table
  std::optional<double> first{};             // finite; DETR counts from 1
  std::optional<double> step{};  // finite; diffusers: base_size / grid size / interpolation_scale
  std::optional<bool> normalized{};  // needs rows and columns
  double base = 10000;               // > 0, finite
  // Size of the grid, 1 .. 2^30; listed positions use it only if `normalized`.
  std::optional<std::int64_t> rows{};
  std::optional<std::int64_t> columns{};
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Returns the same options with axes, layout, ladder, first, step and normalized set.
Sincos2d with_form(const Sincos2d& options);

// Returns the whole grid row by row, [rows * columns, width].
template <Floating T = float>
Tensor<T> sincos_2d(const Sincos2d& options);
// Returns listed patches, [patches, width] for [patches, 2] of row and column. Values are as exact
// as sinusoidal()'s at the coordinates, which are rounded to float64. Throws Error if an option is
// out of its range, positions are not pairs, or a coordinate is beyond +-2^53.
template <Floating T = float>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const std::int64_t> positions);
// Returns the same for real coordinates.
template <Floating T = float>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const double> positions);

// Returns "mae", "moco", "big_vision", "detr", "detr_normalized"; "column_first", "row_first".
std::string_view name_of(Sincos2dForm) noexcept;
std::string_view name_of(Sincos2dAxes) noexcept;

}  // namespace sextant

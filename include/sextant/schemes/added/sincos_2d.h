// Sines and cosines of a row and a column: positions of image patches (MAE, MoCo v3, big_vision,
// DETR).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// Two sinusoidal tables of width / 2 side by side, one of the row and one of the column. Those of
// MAE (He et al. 2021, 2111.06377) are the defaults. The coordinate of patch n of an axis is c =
// first + step * n; normalized (DETR, Carion et al. 2020, 2005.12872): 2 pi c / (the last patch's c
// + 1e-6).
struct Sincos2d {
  std::int64_t width = 0;    // a multiple of 4, up to 2^30; at least 8 for ladder d/2-1
  double base = 10000;       // > 0, finite
  bool column_first = true;  // the columns' half comes before the rows' half
  SinusoidalLayout layout = SinusoidalLayout::half_split;  // inside each half
  Ladder ladder = Ladder::d;                               // of width / 2
  double first = 0;                                        // finite; DETR counts from 1
  double step = 1;          // finite; diffusers: base_size / grid size / interpolation_scale
  bool normalized = false;  // needs rows and columns
  std::int64_t rows = 0;    // of the grid; not used for listed positions unless normalized
  std::int64_t columns = 0;
  int threads = 0;  // 0 .. kMostThreads; 0: default_threads(); the result does not depend on it
};

// The options of one of the forms in use, width and grid left open: "mae", "moco", "big_vision",
// "detr" or "detr_normalized"; throws Error that lists them.
Sincos2d sincos_2d_form(std::string_view form);

// The whole grid row by row, [rows * columns, width].
template <Floating T = float>
Tensor<T> sincos_2d(const Sincos2d& options);
// Of listed patches, [patches, 2] of row and column: [patches, width]. Values are as exact as
// sinusoidal()'s at the coordinates, which are rounded to float64. Throws Error when an option is
// out of its range, positions are not pairs, or a coordinate is beyond +-2^53.
template <Floating T = float>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const std::int64_t> positions);
// The same between patches.
template <Floating T = float>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const double> positions);

}  // namespace sextant

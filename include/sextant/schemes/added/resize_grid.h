// Resizes learned positions of a grid of patches to a grid of another size (ViT: Dosovitskiy et al.
// 2020, 2010.11929, section 3.2).
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/core/names.h"
#include "sextant/core/tensor.h"

namespace sextant {

enum class ResizeMethod { bilinear, bicubic };

// The framework whose weights are used: frameworks differ in the cubic function and at the edges.
enum class ResizeConvention {
  torch,            // F.interpolate(align_corners=False): HF's ViT; cubic a = -0.75
  torch_antialias,  // with antialias=True: timm; cubic a = -0.5, wider when it shrinks
  torch_corners,    // align_corners=True: the first and the last patch keep their places
  jax,              // jax.image.resize(): cubic a = -0.5, antialiased when it shrinks
};
std::string_view name_of(ResizeMethod method) noexcept;
std::string_view name_of(ResizeConvention convention) noexcept;

struct GridSize {
  std::int64_t rows = 0, columns = 0;
};

struct ResizeGrid {
  GridSize old_size{};      // each side 1 .. 2^20; 0: the square with the table's rows
  GridSize new_size{};      // each side 1 .. 2^20
  std::int64_t prefix = 0;  // rows before the grid that stay: of a class token, of registers
  ResizeMethod method = ResizeMethod::bicubic;
  ResizeConvention convention = ResizeConvention::torch;
};

// Returns [prefix + rows * columns of new_size, width] from a table [prefix + rows * columns of
// old_size, width] whose patches are in rows. Weights and sums are float64; a grid of the same size
// is unchanged. Throws an Error with resize_grid.table for another number of rows, and for sizes
// out of their ranges.
Tensor<double> resize_grid(View<const double> table, const ResizeGrid& options);

}  // namespace sextant

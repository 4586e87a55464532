// Tables of several axes: each axis has a sinusoidal table in some of the columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/numbers/max_position.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sinusoidal_columns.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// The exact sinusoidal table `block` at whole or real positions (int64 or double, within +-2^53),
// rows row_stride apart.
template <Floating T, class Position>
void fill_sine_block(const Sinusoidal& block, std::span<const Position> positions, T* out,
                     std::int64_t row_stride) {
  const SinusoidalColumns resolved = sinusoidal_columns(block);
  const std::vector<kernels::Turns> turns = turns_of(resolved.frequencies);
  const kernels::SineTable table{turns, resolved.columns, block.scale};
  const auto rows = static_cast<std::int64_t>(positions.size());
  if constexpr (std::is_same_v<Position, double>) {
    kernels::fill_sines_one_by_one(table, positions, rows, out, row_stride, block.threads);
  } else {
    kernels::fill_sines(table, kernels::Positions{0, rows, positions.data()}, out, row_stride,
                        block.threads);
  }
}

// The first `columns` of that table, where there is no room for the others.
template <Floating T, class Position>
void fill_sine_columns(const Sinusoidal& block, std::span<const Position> positions,
                       std::int64_t columns, T* out, std::int64_t row_stride) {
  if (columns == block.width) {
    fill_sine_block<T, Position>(block, positions, out, row_stride);
    return;
  }
  const auto rows = static_cast<std::int64_t>(positions.size());
  Tensor<T> whole = Tensor<T>::uninitialized({rows, block.width});
  fill_sine_block<T, Position>(block, positions, whole.data(), block.width);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(whole.data() + row * block.width, columns, out + row * row_stride);
  }
}

// Throws Error naming `where` for a coordinate that is not finite or beyond +-2^53.
inline void check_coordinates(std::span<const double> coordinates, std::string_view where) {
  for (const double coordinate : coordinates) {
    if (!(std::fabs(coordinate) <= kMaxCoordinate)) {
      throw Error(where, "must be finite and within +-2^53, got " + shortest(coordinate));
    }
  }
}

// The ids of one axis of a list [rows, axes].
template <class Position>
std::vector<Position> axis_of(std::span<const Position> ids, std::int64_t axes, std::int64_t axis) {
  std::vector<Position> result;
  result.reserve(ids.size() / static_cast<std::size_t>(axes));
  for (auto i = static_cast<std::size_t>(axis); i < ids.size(); i += static_cast<std::size_t>(axes))
    result.push_back(ids[i]);
  return result;
}

}  // namespace sextant

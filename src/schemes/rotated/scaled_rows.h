// Tables that are a rotation times numbers of their own for every row or pair, rounded once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/simd/float_rows.h"
#include "schemes/rotated/rotation_generator.h"
#include "sextant/core/parallel.h"
#include "sextant/core/tensor.h"

namespace sextant {

// to[k] = values[k] * factors[k], rounded once.
template <Floating T>
void scale_row(const double* values, const double* factors, std::int64_t pairs, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    kernels::scaled_floats(values, factors, static_cast<std::size_t>(pairs), to);
  } else {
    for (std::int64_t k = 0; k < pairs; ++k) to[k] = static_cast<T>(values[k] * factors[k]);
  }
}

// Calls use(row, sin, cos, room) for every row of a table of type T, with its sines and cosines in
// float64 and room for as many numbers, [pairs] each, from several threads.
template <Floating T, class Use>
void for_each_wide_row(const Rotation& rotation, const kernels::Positions& positions,
                       const Use& use) {
  // Some rows at a time stay in the cache, and share the set-up of a table of sines.
  constexpr std::int64_t kRows = 2048, kTaskRows = 64;
  const std::int64_t pairs = rotation.pairs();
  std::vector<std::int32_t> all(static_cast<std::size_t>(pairs));
  std::iota(all.begin(), all.end(), 0);
  Tensor<double> wide =
      Tensor<double>::uninitialized({std::min(kRows, positions.count), 2 * pairs});
  for (std::int64_t first = 0; first < positions.count; first += kRows) {
    kernels::Positions block = positions;
    block.count = std::min(kRows, positions.count - first);
    if (block.listed != nullptr) {
      block.listed += first;
    } else {
      block.first += first;
    }
    fill_rotation_rows(rotation, all, block, wide.data(), !std::is_same_v<T, double>);
    parallel_for((block.count + kTaskRows - 1) / kTaskRows, rotation.threads,
                 [&](std::int64_t task) {
                   std::vector<double> room(static_cast<std::size_t>(pairs));
                   const std::int64_t end = std::min(block.count, (task + 1) * kTaskRows);
                   for (std::int64_t row = task * kTaskRows; row < end; ++row) {
                     const double* sin = wide.data() + row * 2 * pairs;
                     use(first + row, sin, sin + pairs, room.data());
                   }
                 });
  }
}

}  // namespace sextant

// Makes mixed rotary positions (rope-vit, Heo et al. 2024, 2403.13298): every pair of every head is
// rotated by a learned mixture of the ids. With one id per row: learned frequencies per head.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryMixed {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10;  // base of the initial frequencies
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
};

// Return tables [heads, rows, pairs] of angles sum over axes of ids[row, axis] * frequencies[head,
// axis, pair]. frequencies: [heads, axes, pairs], finite and within +-2^64, not rounded; ids:
// [rows, axes], 1 or 2 axes (column and row for rope-vit), within +-2^53. Exactness as rotary():
// float32 within 0.5001 units in the last place. With precision framework the ids, products and
// their sum are rounded to float32.
template <Floating T = float>
RotationTable<T> rotary_mixed(const RotaryMixed& options, View<const double> frequencies,
                              View<const std::int64_t> ids);

// Returns the initial frequencies, [heads, axes, pairs]. Two axes, with n channels: magnitudes
// base^(-4k / n) for the first half of the pairs (rounded up) in a direction of the plane that is
// random for each head, and the same for the other half at right angles to it. One axis: base^(-2k
// / n).
Tensor<double> rotary_mixed_frequencies(const RotaryMixed& options, std::int64_t heads,
                                        std::int64_t axes = 2, std::uint32_t seed = 0);

// Returns the gradient of the angles, [heads, rows, pairs], from q (or k) before rotation and its
// gradient: x1 dx2 - x2 dx1 of each pair, summed over the batch. x and dx: [batch, heads, rows,
// head_dim]. Gradients of q and k add up if both are rotated by the same table.
template <Floating T>
Tensor<double> rotary_mixed_angle_gradient(const RotaryMixed& options, View<const T> x,
                                           View<const T> dx);
// Returns the gradient of the frequencies, [heads, axes, pairs]: sums over rows of the angles'
// gradient times the id.
Tensor<double> rotary_mixed_backward(const RotaryMixed& options, View<const double> angle_gradient,
                                     View<const std::int64_t> ids);

// Returns the frequencies one after another, [heads, axes, pairs].
RotationFrequencies rotation_frequencies(const RotaryMixed& options,
                                         View<const double> frequencies);

}  // namespace sextant

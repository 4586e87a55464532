// Computes sines and cosines of a frame, a row and a column: positions of video patches and of
// voxels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

enum class Sincos3dForm {
  multidim,   // [frame | row | column], each interleaved, of width 2 ceil(width / 6), cut off at
              // `width`; any width
  diffusers,  // [frame | column | row], each half-split, of widths width / 4, 3/8, 3/8; width a
              // multiple of 16
  tensor2tensor,  // [frame | row | column], each half-split with ladder d/2-1, of width 2
                  // floor(width / 6), zeros after; width at least 12
};

struct Sincos3d {
  std::int64_t width = 0;  // depends on the form, up to 2^30
  Sincos3dForm form = Sincos3dForm::multidim;
  double base = 10000;  // > 0, finite
  int threads = 0;      // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Returns [patches, width] for positions [patches, 3], frame, row and column, as exact as
// sinusoidal(). The forms are those of diffusers' get_3d_sincos_pos_embed, tensor2tensor's
// add_timing_signal_nd (Vaswani et al. 2018, 1803.07416) and tatp22/multidim-positional-encoding.
// Throws Error if an option is out of its range, positions are not triples, or one is beyond
// +-2^53.
template <Floating T = float>
Tensor<T> sincos_3d(const Sincos3d& options, std::span<const std::int64_t> positions);
// Returns the same for real coordinates.
template <Floating T = float>
Tensor<T> sincos_3d(const Sincos3d& options, std::span<const double> positions);

// Returns "multidim", "diffusers", "tensor2tensor".
std::string_view name_of(Sincos3dForm) noexcept;

}  // namespace sextant

// Computes Fourier features of real coordinates: random ones (Tancik et al. 2020, 2006.10739),
// NeRF's (Mildenhall et al. 2020, 2003.08934), and bands of evenly spaced frequencies (Perceiver,
// Jaegle et al. 2021, 2103.03206).
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// Coordinates are [rows, axes], finite and within +-2^53. Angles are reduced exactly: values are
// good to 2^-50 before the rounding to T. All functions throw Error for other shapes and values.

// Returns a matrix [axes, features] of normal numbers times `scale`, the same on every machine.
// axes and features at least 1, their product at most 2^40; scale finite.
Tensor<double> gaussian_frequencies(std::int64_t axes, std::int64_t features, double scale,
                                    std::uint32_t seed);

// Returns cos and sin of 2 pi times coordinates x frequencies, [rows, 2 features]. Tancik et al.
// use cos_first, SAM and diffusers half_split. frequencies: [axes, features], within +-2^53.
template <Floating T = float>
Tensor<T> fourier_features(View<const double> coordinates, View<const double> frequencies,
                           SinusoidalLayout layout = SinusoidalLayout::cos_first);
// Returns the gradient of the frequencies from that of the features, [rows, 2 features].
Tensor<double> fourier_backward(View<const double> coordinates, View<const double> frequencies,
                                SinusoidalLayout layout, View<const double> gradient);

// The place of the coordinates themselves among the features.
enum class FourierInput { none, first, last };

// The sines of 2^l x for every axis, then the cosines, for l = 0, 1, ...: [rows, axes * (2 levels +
// 1)], or `axes` columns fewer without the input. This is NeRF's code; its paper has pi = true and
// no input.
struct NerfFeatures {
  std::int64_t levels = 10;  // 1 .. 64
  bool pi = false;           // sines of 2^l pi x
  FourierInput input = FourierInput::first;
};
template <Floating T = float>
Tensor<T> nerf_features(const NerfFeatures& options, View<const double> coordinates);

// Frequencies evenly from 1 to max_frequency / 2, times pi: the sines of every axis and frequency
// (axis by axis), then the cosines; columns as above. For coordinates in [-1, 1].
struct BandFeatures {
  std::int64_t bands = 6;     // 1 .. 2^20
  double max_frequency = 10;  // finite, within +-2^53; unused for one band
  FourierInput input = FourierInput::last;
};
template <Floating T = float>
Tensor<T> band_features(const BandFeatures& options, View<const double> coordinates);

// Returns "none", "first", "last".
std::string_view name_of(FourierInput) noexcept;

}  // namespace sextant

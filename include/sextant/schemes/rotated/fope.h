// Makes Fourier position embeddings (FoPE, Hua et al. 2024, 2412.17739): rotary whose cosine and
// sine of a pair are sums of the cosines and sines of all frequencies.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct Fope {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  // 7 .. 2^53: pairs whose wavelength is above it are not rotated, for training shows no full
  // period of them.
  std::int64_t train_length = 512;
  double gain = 0.3;  // 0 .. 1000: of the initial coefficients
};

// Coefficients [heads, frequencies, frequencies], finite: (h, j, k) multiplies the cosine, or the
// sine, of frequency j in pair k of head h.
struct FopeWeights {
  Tensor<double> cos_coef{};
  Tensor<double> sin_coef{};
};

// Returns the number of frequencies that are kept, w_j = base^(-2j / n) >= 2 pi / train_length, of
// the pairs j = 0, 1, ...: 1 .. n / 2 for n rotated channels.
std::int64_t fope_frequencies(const Fope& options);

// Returns tables [heads, rows, pairs] for the positions, within +-2^53. For the pairs k of kept
// frequencies
//   cos[h, p, k] = sum over j of cos_coef[h, j, k] cos(p w_j), and the same for sin;
// the others have cosine 1 and sine 0. Sums are taken in float64, within (frequencies + 1) 2^-53
// times the sum of the coefficients' magnitudes, and rounded to T. With precision framework,
// coefficients, angles, cosines and sines are rounded to float32, and then the sums.
template <Floating T = float>
RotationTable<T> fope(const Fope& options, const FopeWeights& weights,
                      std::span<const std::int64_t> positions);

// Returns the initial coefficients: 1 for a pair's own frequency, plus normal numbers of standard
// deviation gain sqrt(2 / (f (f + heads))) for f frequencies (Glorot and Bengio 2010, with the fans
// that torch counts for this shape, as in the authors' code).
FopeWeights fope_weights(const Fope& options, std::int64_t heads, std::uint32_t seed = 0);

// Returns the gradients of the coefficients from those of the table, [2, heads, rows, pairs], of
// the cosines and then of the sines.
FopeWeights fope_backward(const Fope& options, const FopeWeights& weights,
                          View<const double> gradient, std::span<const std::int64_t> positions);

// Returns the own frequency of each pair; 0 for those that are not kept.
RotationFrequencies rotation_frequencies(const Fope& options);

}  // namespace sextant

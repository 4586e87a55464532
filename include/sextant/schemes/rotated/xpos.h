// Makes xPos (Sun et al. 2022, 2212.10554): rotary with scores that also decay with the distance,
// fastest for the fast pairs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct Xpos {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::interleaved;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  double scale_base = 512;  // > 0, finite; positions over which a pair shrinks by zeta
  double gamma = 0.4;       // > 0, finite
  std::int64_t center = 0;  // within +-2^53; the position with scale 1
};

// Return tables that rotate queries as rotary() does and multiply them by rho_k(p) = zeta_k^((p -
// center) / scale_base) with zeta_k = (2k + gamma n) / ((1 + gamma) n), n rotated channels; keys by
// 1 / rho_k(p), so that the score of a pair has zeta_k^((p_q - p_k) / scale_base). The table has
// rho cos and rho sin, that of keys is in `keys`. float32 and narrower are within 0.5001 units in
// the last place, float64 within 4. Throw Error if rho or 1 / rho would leave the normal range of
// T: with the defaults float32 and bfloat16 allow positions within about 35,000 of the center,
// float16 3,900, float64 280,000. Otherwise errors as rotary().
template <Floating T = float>
RotationTable<T> xpos(const Xpos& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> xpos(const Xpos& options, std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const Xpos& options);
// Returns zeta of each pair.
std::vector<double> xpos_zeta(const Xpos& options);

}  // namespace sextant

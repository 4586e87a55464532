// Makes a temperature by position (Llama 4; log-n scaling): queries are multiplied by a number that
// grows slowly with the position, keys are not; there is no rotation.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/schemes/rotated/query_scale.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct Temperature {
  std::int64_t head_dim = 0;  // even, 2 .. 2^30
  QueryScale scale{.attn_scale = 0.1};
  Precision precision = Precision::exact;
};

// Return a table whose row p multiplies all channels of a query by tau(p), see QueryScale: cosines
// tau, sines 0; the table of keys has cosines 1. Positions 0 .. 2^53. float32 and narrower are
// within 0.5001 units in the last place, float64 within 4.
template <Floating T = float>
RotationTable<T> temperature(const Temperature& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> temperature(const Temperature& options, std::span<const std::int64_t> positions);

// Returns only zeros: there is no rotation.
RotationFrequencies rotation_frequencies(const Temperature& options);

}  // namespace sextant

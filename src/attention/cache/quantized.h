// Rows of a cache of 8 bits: numbers and the float32 before them, their scale.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/simd/stored_rows.h"

namespace sextant::attention_detail {

// What a row has before its numbers, in elements of the cache.
template <class T>
inline constexpr std::int64_t kRowHead = 0;
template <>
inline constexpr std::int64_t kRowHead<std::int8_t> = kernels::kScaleBytes;

// The largest number that is stored: no scaled or rotated one overflows.
inline constexpr float kLargestQuantized = 1e38F;

inline void set_row_scale(std::int8_t* row, float scale) noexcept {
  std::memcpy(row - kernels::kScaleBytes, &scale, kernels::kScaleBytes);
}

// The scale of a row of numbers up to `largest`: largest / 127 rounded up to 17 significant bits.
// So products with 8-bit numbers are exact, and a row that was read is stored with the same bits
// again. 0 where it would be a denormal number, which kernels take as 0.
inline float quantization_scale(float largest) noexcept {
  const float scale = largest / 127;
  if (!(scale >= std::numeric_limits<float>::min())) return 0;
  constexpr std::uint32_t kDropped = 0x7f;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(scale) + kDropped) & ~kDropped);
}

// Whether a file may have this scale.
inline bool is_scale(float scale) noexcept {
  return scale == 0 || (scale >= std::numeric_limits<float>::min() && scale <= 0x1p120F);
}

// to = from / scale, to nearest, ties to even; and the scale. Loops over bits, because compilers
// vectorise them without further options.
inline void quantize_row(const float* from, std::int64_t channels, std::int8_t* to) noexcept {
  std::uint32_t largest = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(from[c]) & 0x7fffffffU);
  }
  const float scale = quantization_scale(std::bit_cast<float>(largest));
  set_row_scale(to, scale);
  const float divisor = scale == 0 ? std::numeric_limits<float>::infinity() : scale;
  constexpr float kRound = 0x1.8p23F;  // the sum's last bits are those of the nearest integer
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto bits = std::bit_cast<std::uint32_t>(from[c] / divisor + kRound);
    to[c] = static_cast<std::int8_t>(static_cast<std::uint8_t>(bits));
  }
}

inline void dequantize_row(const std::int8_t* from, std::int64_t channels, float* to) noexcept {
  const float scale = kernels::row_scale(from);
  for (std::int64_t c = 0; c < channels; ++c) to[c] = static_cast<float>(from[c]) * scale;
}

}  // namespace sextant::attention_detail

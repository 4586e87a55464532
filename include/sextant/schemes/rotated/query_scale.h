// Multiplies queries by a number that grows slowly with the position (Llama 4; Ministral 3).
#pragma once

#include <cstdint>

namespace sextant {

// tau(p) = 1 + attn_scale ln(floor((p + floor_offset) / floor_scale) + 1), positions 0 .. 2^53.
struct QueryScale {
  double attn_scale = 0;          // 0 .. 1000; 0: tau is 1
  double floor_scale = 8192;      // >= 1, finite; positions per step of tau
  std::int64_t floor_offset = 1;  // 0 or 1: Llama 4 counts positions from 1, Ministral 3 from 0
};

}  // namespace sextant

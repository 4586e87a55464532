// Holds the parts of a sum over many keys while it is computed.
#pragma once

#include <array>
#include <cstdint>

namespace sextant::kernels {

// The value is chain + spans + low.
struct LongSum {
  float* chain = nullptr;  // over the blocks of the present span
  float* spans = nullptr;  // over the spans before; null, as low is: all keys are in one span
  float* low = nullptr;    // the rounding errors of `spans`

  std::array<float*, 3> parts() const noexcept { return {chain, spans, low}; }
  // The sum of the numbers from `index` on.
  LongSum from(std::int64_t index) const noexcept {
    if (spans == nullptr) return {.chain = chain + index};
    return {chain + index, spans + index, low + index};
  }
};

}  // namespace sextant::kernels

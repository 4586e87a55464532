// The numbers of a call as kernels take them. arguments.cc checks that float32 holds them.
#pragma once

#include <cstdint>

#include "attention/call/arguments.h"
#include "kernels/attention/block.h"

namespace sextant::attention_detail {

struct KernelNumbers {
  float scale, softcap, sink;
};

// Of one head, times `factor`: log2(e) where the softmax is computed in powers of two, 1 in natural
// units.
inline KernelNumbers kernel_numbers(const AttentionCall& a, std::int64_t head,
                                    double factor = kernels::kLog2E) {
  return {.scale = static_cast<float>(a.scale * factor),
          .softcap = static_cast<float>(a.softcap * factor),
          .sink = static_cast<float>(a.sink(head) * factor)};
}

}  // namespace sextant::attention_detail

// Looks once what the processor and the system allow.
#include "kernels/bf16/bf16_products.h"

#include "kernels/bf16/x86.h"
#include "kernels/simd/targets.h"

namespace sextant::kernels {

const Bf16Products* bf16_products() noexcept {
  static const Bf16Products* const products = []() -> const Bf16Products* {
    if (!is_avx512_allowed()) return nullptr;  // all use its vectors
    const Bf16Products* const amx = amx_products();
    return amx == nullptr && has_fast_dot_products() ? dot_products() : amx;
  }();
  return products;
}

}  // namespace sextant::kernels

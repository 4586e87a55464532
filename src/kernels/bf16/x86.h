// Instructions of x86-64 for products of bfloat16.
#pragma once

#include "kernels/bf16/bf16_products.h"

// The compilers and systems for which they are written.
#if defined(__x86_64__) && defined(__linux__) && (defined(__GNUC__) || defined(__clang__))
#define SEXTANT_X86_BF16 1
#else
#define SEXTANT_X86_BF16 0
#endif

namespace sextant::kernels {

// AMX (Intel, from Sapphire Rapids on) and vdpbf16ps (AVX512_BF16); null: the processor, the system
// or the compiler does not have it.
const Bf16Products* amx_products() noexcept;
const Bf16Products* dot_products() noexcept;
// Whether the second is faster than products in float32: AMD's processors, from Zen 4 on. Intel's
// take twice as long for it as for two multiply-adds.
bool has_fast_dot_products() noexcept;

#if SEXTANT_X86_BF16
void amx_begin() noexcept;
void amx_end() noexcept;
void amx_product(const Bf16Operands& operands) noexcept;
// Whether the system lets this process use the tiles, which it must be asked for.
bool request_amx() noexcept;

void dot_product(const Bf16Operands& operands) noexcept;

void round_rows(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t steps,
                bfloat16* to, std::int64_t to_stride) noexcept;
void round_columns(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t steps,
                   bool finite_only, bfloat16* to, std::int64_t to_stride) noexcept;
void transpose(const bfloat16* from, std::int64_t stride, std::int64_t rows, std::int64_t steps,
               bfloat16* to, std::int64_t to_stride) noexcept;
void round_lanes(const float* from, std::int64_t stride, std::int64_t begin, std::int64_t end,
                 std::int64_t first, std::int64_t last, std::uint32_t* to,
                 std::int64_t to_stride) noexcept;
#endif

}  // namespace sextant::kernels

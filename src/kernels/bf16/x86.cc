// Finds out which instructions the processor has.
#include "kernels/bf16/x86.h"

#if SEXTANT_X86_BF16
#include <cpuid.h>
#endif

namespace sextant::kernels {

#if SEXTANT_X86_BF16
namespace {

struct CpuidLeaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  CpuidLeaf(unsigned leaf, unsigned part) { __get_cpuid_count(leaf, part, &eax, &ebx, &ecx, &edx); }
};

bool has_bit(unsigned word, int bit) { return (word >> bit & 1) != 0; }

// The kinds of registers that the system saves for each thread.
unsigned saved_registers() {
  if (!has_bit(CpuidLeaf(1, 0).ecx, 27)) return 0;  // OSXSAVE
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool saves(unsigned kinds) { return (saved_registers() & kinds) == kinds; }

constexpr unsigned kAvx512Registers = 0xE6, kTileRegisters = 3U << 17;

void nothing() noexcept {}

constexpr Bf16Products kAmx{"AMX",     32,          32,         amx_begin,
                            amx_end,   amx_product, round_rows, round_columns,
                            transpose, round_lanes};
constexpr Bf16Products kDot{"AVX512_BF16", 4,           64,         nothing,
                            nothing,       dot_product, round_rows, round_columns,
                            transpose,     round_lanes};

}  // namespace

const Bf16Products* dot_products() noexcept {
  const bool has_instructions = has_bit(CpuidLeaf(7, 1).eax, 5);  // AVX512_BF16
  return has_instructions && saves(kAvx512Registers) ? &kDot : nullptr;
}

const Bf16Products* amx_products() noexcept {
  if (dot_products() == nullptr) return nullptr;  // its instructions round
  const unsigned features = CpuidLeaf(7, 0).edx;
  const bool has_tiles = has_bit(features, 22) && has_bit(features, 24);  // AMX-BF16, AMX-TILE
  return has_tiles && saves(kTileRegisters) && request_amx() ? &kAmx : nullptr;
}

bool has_fast_dot_products() noexcept {
  return CpuidLeaf(0, 0).ebx == 0x68747541;  // "Auth": AuthenticAMD
}

#else

const Bf16Products* dot_products() noexcept { return nullptr; }
const Bf16Products* amx_products() noexcept { return nullptr; }
bool has_fast_dot_products() noexcept { return false; }

#endif

}  // namespace sextant::kernels

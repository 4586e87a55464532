// Products by AMX: tiles of 16 rows of 64 bytes, eight of them. (Intel, "Instruction Set Extensions
// Programming Reference", 319433, chapter 3.)
#include "kernels/bf16/x86.h"

#if SEXTANT_X86_BF16

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEXTANT_AMX __attribute__((target("amx-tile,amx-bf16")))

namespace sextant::kernels {
namespace {

constexpr std::int64_t kSecondTile = 16;  // rows, or lanes, from a tile to the next

// All tiles are whole.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

// C of one or two tiles of rows by one or two of lanes. Tiles 0 to 3 are C, 4 and 5 A, 6 and 7 B.
template <bool kTwoRows, bool kTwoLanes>
SEXTANT_AMX void tiles(const Bf16Operands& o, std::int64_t row, std::int64_t lane) noexcept {
  const bfloat16* a = o.a + row * o.a_row;
  const std::uint32_t* b = o.b + lane;
  const std::int64_t a_bytes = o.a_row * 2, b_bytes = o.b_row * 4;
  _tile_zero(0);
  if constexpr (kTwoLanes) _tile_zero(1);
  if constexpr (kTwoRows) _tile_zero(2);
  if constexpr (kTwoRows && kTwoLanes) _tile_zero(3);
  for (std::int64_t step = 0; step < o.steps; step += kBf16Steps) {
    _tile_loadd(4, a, a_bytes);
    _tile_loadd(6, b, b_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kTwoLanes) {
      _tile_loadd(7, b + kSecondTile, b_bytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTwoRows) {
      _tile_loadd(5, a + kSecondTile * o.a_row, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kTwoRows && kTwoLanes) _tile_dpbf16ps(3, 5, 7);
    a += kBf16Steps;
    b += kBf16Steps / 2 * o.b_row;
  }
  float* c = o.c + row * o.c_row + lane;
  const std::int64_t c_bytes = o.c_row * 4;
  _tile_stored(0, c, c_bytes);
  if constexpr (kTwoLanes) _tile_stored(1, c + kSecondTile, c_bytes);
  c += kSecondTile * o.c_row;
  if constexpr (kTwoRows) _tile_stored(2, c, c_bytes);
  if constexpr (kTwoRows && kTwoLanes) _tile_stored(3, c + kSecondTile, c_bytes);
}

template <bool kTwoRows>
SEXTANT_AMX void rows_of_tiles(const Bf16Operands& o, std::int64_t row) noexcept {
  std::int64_t lane = 0;
  for (; lane + 2 * kBf16Lanes <= o.lanes; lane += 2 * kBf16Lanes) {
    tiles<kTwoRows, true>(o, row, lane);
  }
  if (lane < o.lanes) tiles<kTwoRows, false>(o, row, lane);
}

}  // namespace

// g++ does not know that the intrinsics read and write memory: what they use is static, or comes
// from a caller in another file.
SEXTANT_AMX void amx_begin() noexcept {
  static constexpr TileConfig kConfig;
  _tile_loadconfig(&kConfig);
}

SEXTANT_AMX void amx_end() noexcept { _tile_release(); }

void amx_product(const Bf16Operands& o) noexcept {
  std::int64_t row = 0;
  for (; row + 2 * kBf16Rows <= o.rows; row += 2 * kBf16Rows) rows_of_tiles<true>(o, row);
  if (row < o.rows) rows_of_tiles<false>(o, row);
}

bool request_amx() noexcept {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace sextant::kernels

#endif

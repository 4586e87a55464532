// Products by AMX: tiles of 16 rows of 64 bytes, eight of them. (Intel, "Instruction Set Extensions
// Programming Reference", 319433, chapter 3.)
#include "kernels/bf16/x86.h"

#if SEXTANT_X86_BF16

#include <sys/syscall.h>
#include <unistd.h>
#include "kernels/bf16/intrinsics.h"

#include <algorithm>

#define SEXTANT_AMX __attribute__((target("amx-tile,amx-bf16,avx512f")))

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

// Tiles 0 to 3 are C, of one or two tiles of rows by one or two of lanes, 4 and 5 A, 6 and 7 B.
template <bool kTwoRows, bool kTwoLanes>
SEXTANT_AMX inline void multiply(const Bf16Operands& o, std::int64_t row,
                                 std::int64_t lane) noexcept {
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
    if constexpr (kTwoRows) _tile_loadd(5, a + kSecondTile * o.a_row, a_bytes);
    if constexpr (kTwoLanes) _tile_loadd(7, b + kSecondTile, b_bytes);
    if constexpr (kTwoRows) {  // the rows after these, half of them at a time
      const bfloat16* next =
          a + (2 * kBf16Rows + (lane / kSecondTile % 4 == 0 ? 0 : kBf16Rows)) * o.a_row;
      for (std::int64_t r = 0; r < kBf16Rows; ++r) __builtin_prefetch(next + r * o.a_row);
    }
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kTwoLanes) _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwoRows) _tile_dpbf16ps(2, 5, 6);
    if constexpr (kTwoRows && kTwoLanes) _tile_dpbf16ps(3, 5, 7);
    a += kBf16Steps;
    b += kBf16Steps / 2 * o.b_row;
  }
}

template <bool kTwoRows, bool kTwoLanes>
SEXTANT_AMX inline void store(float* c, std::int64_t c_row) noexcept {
  const std::int64_t c_bytes = c_row * 4;
  _tile_stored(0, c, c_bytes);
  if constexpr (kTwoLanes) _tile_stored(1, c + kSecondTile, c_bytes);
  c += kSecondTile * c_row;
  if constexpr (kTwoRows) _tile_stored(2, c, c_bytes);
  if constexpr (kTwoRows && kTwoLanes) _tile_stored(3, c + kSecondTile, c_bytes);
}

// Returns the address as one that the tiles have written: g++ does not know that they write memory.
inline const float* written(const float* memory) noexcept {
  asm volatile("" : "+r"(memory) : : "memory");
  return memory;
}

template <bool kTwoRows, bool kTwoLanes>
SEXTANT_AMX void tiles(const Bf16Operands& o, std::int64_t row, std::int64_t lane) noexcept {
  multiply<kTwoRows, kTwoLanes>(o, row, lane);
  float* c = o.c + row * o.c_row + lane;
  if (o.added_rows == 0) return store<kTwoRows, kTwoLanes>(c, o.c_row);
  constexpr std::int64_t kRows = kTwoRows ? 32 : 16, kLanes = kTwoLanes ? 32 : 16;
  alignas(64) float sums[kRows * kLanes];
  store<kTwoRows, kTwoLanes>(sums, kLanes);
  const float* sum = written(sums);
  const std::int64_t rows = std::min(kRows, o.added_rows - row);
  for (std::int64_t r = 0; r < rows; ++r, c += o.c_row, sum += kLanes) {
    for (std::int64_t v = 0; v < kLanes; v += kBf16Lanes) {
      _mm512_storeu_ps(c + v, _mm512_add_ps(_mm512_loadu_ps(c + v), _mm512_load_ps(sum + v)));
    }
  }
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

// Defines the tiles of all kernels: the width and number of their vectors. Only this file depends
// on the instruction set, by the width of its vectors: new names with AVX-512 (AVX3_DL, AVX3_ZEN4,
// AVX3_SPR) need no line here. Included again for each.
#if defined(SEXTANT_KERNELS_TILE_GEOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_TILE_GEOMETRY_INL_H_
#undef SEXTANT_KERNELS_TILE_GEOMETRY_INL_H_
#else
#define SEXTANT_KERNELS_TILE_GEOMETRY_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

// float32 lanes of a tile's vectors; whether these are AVX-512's, with its intrinsics.
#undef SEXTANT_TILE_LANES
#undef SEXTANT_AVX512
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
#define SEXTANT_TILE_LANES 16
#define SEXTANT_AVX512 1
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
#define SEXTANT_TILE_LANES 8
#define SEXTANT_AVX512 0
#else  // elsewhere vectors may be wider than tiles
#define SEXTANT_TILE_LANES 4
#define SEXTANT_AVX512 0
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using TileTag = hn::FixedTag<float, SEXTANT_TILE_LANES>;
constexpr int kSimdWidth = SEXTANT_TILE_LANES;

// Attention (tile-inl.h): vectors of a tile, and rows for that number of vectors. With 32
// registers 16 accumulators hide the latency of two multiply-adds per cycle and leave room; with 16
// registers 12 do. (One vector alone waits for its broadcasts anyway.) In WebAssembly 10 do: a
// step also needs two vectors, a broadcast and a product, and V8 has 15 registers on x86. One more
// sum would be stored and loaded in every step, which takes longer than the step.
//
// Matrix products (matmul/tile-inl.h) are two vectors wide: 24 accumulators of 32 registers, or 12
// of 16; in WebAssembly 8.
//
// Decoding (score_tiles-inl.h): a word is 32 bits of a key, one float32 or float16 channel
// (widened) or two bfloat16 ones. A square of kSimdWidth keys and kWords words is transposed at a
// time; with 32 registers two squares, for up to 4 rows, so that there are 8 chains and a broadcast
// of q serves two squares.
//
// Transpositions (pack-inl.h) go by squares of kSquareSide, and of 4 at the edges.
#if SEXTANT_AVX512
constexpr int kTileVectors = 4;
constexpr int tile_rows(int vectors) { return vectors <= 2 ? 8 : 4; }
constexpr int kTallTile = 12;
constexpr int kWords = 8;
constexpr int max_squares(int rows) { return rows <= 4 ? 2 : 1; }
constexpr int kValueVectors = 4;
constexpr std::int64_t kSquareSide = 16;
#elif HWY_ARCH_ARM_A64  // 32 registers as well, of 4 lanes
constexpr int kTileVectors = 2;
constexpr int tile_rows(int) { return 8; }
constexpr int kTallTile = 12;
constexpr int kWords = 4;
constexpr int max_squares(int) { return 1; }
constexpr int kValueVectors = 4;
constexpr std::int64_t kSquareSide = 4;
#else
constexpr int kTileVectors = 2;
#if HWY_ARCH_WASM
constexpr int tile_rows(int) { return 5; }
constexpr int kTallTile = 4;
#else
constexpr int tile_rows(int) { return 6; }
constexpr int kTallTile = 6;
#endif
constexpr int kWords = 4;
constexpr int max_squares(int) { return 1; }
constexpr int kValueVectors = 2;
constexpr std::int64_t kSquareSide = 4;
#endif

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

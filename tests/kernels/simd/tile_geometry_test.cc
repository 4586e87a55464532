// The tiles of every compiled instruction set: as wide as its vectors, and within its registers. A
// new name for wide vectors must not fall to narrow tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/tile_geometry_test.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/decode/score_tiles-inl.h"
#include "kernels/decode/value_tiles-inl.h"
#include "kernels/matmul/tile-inl.h"

#ifndef SEXTANT_TILE_GEOMETRY_TEST
#define SEXTANT_TILE_GEOMETRY_TEST
namespace sextant::kernels {

struct TileGeometry {
  std::int64_t target;
  int vector_lanes;  // of the instruction set
  int tile_lanes, tile_vectors;
  int rows[4];  // of a tile of 1, 2, 3, 4 vectors
  int product_lanes, product_rows;
  int words, squares[2], value_vectors;  // decoding; squares for up to 4 rows, and for 8
};

inline std::vector<TileGeometry>& geometries() {
  static std::vector<TileGeometry> all;
  return all;
}

}  // namespace sextant::kernels
#endif

// Without the target's instructions, because the processor need not have them.
namespace sextant::kernels::HWY_NAMESPACE {

constexpr TileGeometry kGeometry{
    .target = HWY_TARGET,
    .vector_lanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<float>())),
    .tile_lanes = kSimdWidth,
    .tile_vectors = kTileVectors,
    .rows = {tile_rows(1), tile_rows(2), tile_rows(3), tile_rows(4)},
    .product_lanes = static_cast<int>(kSimdWidth),
    .product_rows = kTallTile,
    .words = kWords,
    .squares = {max_squares(4), max_squares(8)},
    .value_vectors = kValueVectors};

const bool kIsListed = (geometries().push_back(kGeometry), true);

}  // namespace sextant::kernels::HWY_NAMESPACE

#if HWY_ONCE
namespace sextant::kernels {
namespace {

TEST(TileGeometry, IsKnownOfEveryCompiledTarget) {
  EXPECT_EQ(geometries().size(),
            static_cast<std::size_t>(std::popcount(static_cast<std::uint64_t>(HWY_TARGETS))));
}

TEST(TileGeometry, IsAsWideAsTheVectors) {
  for (const TileGeometry& g : geometries()) {
    SCOPED_TRACE(hwy::TargetName(g.target));
    EXPECT_EQ(g.product_lanes, g.tile_lanes);
#if HWY_ARCH_X86
    EXPECT_EQ(g.tile_lanes, std::min<int>(g.vector_lanes, kQueryGroup));
    const std::string_view name = hwy::TargetName(g.target);
    EXPECT_EQ(g.tile_lanes, name.starts_with("AVX3") ? 16 : name == "AVX2" ? 8 : 4);
#endif
  }
}

// What a tile adds up, a vector of b for each column and one number of a.
int registers(int rows, int vectors) { return rows * vectors + vectors + 1; }

TEST(TileGeometry, StaysInRegisters) {
  for (const TileGeometry& g : geometries()) {
    SCOPED_TRACE(hwy::TargetName(g.target));
    const int most = g.vector_lanes == 16 || HWY_ARCH_ARM_A64 ? 32 : 16;
    for (int vectors = 1; vectors <= g.tile_vectors; ++vectors) {
      EXPECT_LE(registers(g.rows[vectors - 1], vectors), most) << vectors << " vectors";
    }
    EXPECT_LE(registers(g.product_rows, 2), most);
    EXPECT_LE(registers(4, g.value_vectors), most);
    EXPECT_LE(g.squares[0] * (4 + g.words), most);
    EXPECT_LE(g.squares[1] * (8 + g.words), most);
    // At least half of them add up, or latency would show.
    EXPECT_GE(g.rows[g.tile_vectors - 1] * g.tile_vectors, most / 2);
    EXPECT_GE(g.product_rows * 2, most / 2);
  }
}

}  // namespace
}  // namespace sextant::kernels
#endif  // HWY_ONCE

// Tiles of scores and weights: transposed, summed by key, searched for the largest.
#include "kernels/attention/score_tiles.h"

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/score_tiles.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/pack-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

void transpose_tile(const float* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns, float* to, std::int64_t to_stride) {
  transpose(from, from_stride, rows, columns, to, to_stride,
            [](auto, auto x) HWY_ATTR { return x; });
}

void add_tile(const float* tile, std::int64_t keys, double* mass) {
  const TileTag d;
  for (std::int64_t key = 0; key < keys; ++key, tile += kQueryBlock) {
    auto sum = hn::LoadU(d, tile);
    for (std::int64_t lane = kSimdWidth; lane < kQueryBlock; lane += kSimdWidth) {
      sum = hn::Add(sum, hn::LoadU(d, tile + lane));
    }
    mass[key] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
}

void keep_top_keys(const float* tile, std::int64_t first_key, std::int64_t keys,
                   TopKeys& top_keys) {
  const TileTag d;
  for (std::int64_t key = 0; key < keys; ++key, tile += kQueryBlock) {
    for (std::int64_t lane = 0; lane < kQueryBlock; lane += kSimdWidth) {
      const auto larger =
          hn::Gt(hn::LoadU(d, tile + lane), hn::LoadU(d, top_keys.threshold + lane));
      if (hn::AllFalse(d, larger)) continue;
      for (std::int64_t i = lane; i < lane + kSimdWidth; ++i) {
        top_keys.add(i, first_key + key, tile[i]);
      }
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(transpose_tile);
HWY_EXPORT(add_tile);
HWY_EXPORT(keep_top_keys);

void transpose_tile(const float* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns, float* to, std::int64_t to_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(transpose_tile)(from, from_stride, rows, columns, to, to_stride);
}

void add_tile(const float* tile, std::int64_t keys, double* mass) noexcept {
  HWY_DYNAMIC_DISPATCH(add_tile)(tile, keys, mass);
}

void keep_top_keys(const float* tile, std::int64_t first_key, std::int64_t keys,
                   TopKeys& top_keys) noexcept {
  HWY_DYNAMIC_DISPATCH(keep_top_keys)(tile, first_key, keys, top_keys);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

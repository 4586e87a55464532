// Dropout of weights whose queries are in lanes. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_DROPOUT_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_DROPOUT_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_DROPOUT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/attention/visible_rects.h"
#include "kernels/attention/weight_dropout.h"
#include "kernels/simd/philox-inl.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Multiplies numbers of a rectangle by the factor, or makes them 0 where the weight is dropped. The
// tile begins at the rectangle's first key and at lane 0, which is query `first_query`.
inline HWY_NOINLINE void drop_weights(const WeightDropout& dropout, const VisibleRect& rect,
                                      std::int64_t first_query, float* tile, std::ptrdiff_t row) {
  const TileTag d;
  const hn::RebindToUnsigned<TileTag> du;
  const hn::RebindToSigned<TileTag> di;
  const auto factor = hn::Set(d, static_cast<float>(dropout.factor));
  const auto sign = hn::Set(di, INT32_MIN);  // unsigned order as signed order
  const auto threshold = hn::Xor(hn::BitCast(di, hn::Set(du, dropout.threshold)), sign);
  const std::int64_t begin = rect.first_group * kQueryGroup;
  const std::int64_t end = begin + rect.groups * kQueryGroup;
  alignas(64) std::int32_t numbers[4 * kSimdWidth];
  for (std::int64_t lane = begin; lane < end; lane += kSimdWidth) {
    const auto query =
        hn::Iota(du, static_cast<std::uint32_t>(dropout.first_query + first_query + lane));
    float* at = tile + lane;
    for (std::int64_t key = rect.first_key, next = 0; key < rect.end_key; key = next) {
      auto c0 = hn::Set(du, static_cast<std::uint32_t>(key / 4)), c1 = query;
      auto c2 = hn::Set(du, static_cast<std::uint32_t>(dropout.head));
      auto c3 = hn::Set(du, static_cast<std::uint32_t>(dropout.head >> 32));
      philox(du, dropout.seed, c0, c1, c2, c3);
      hn::Store(hn::BitCast(di, c0), di, numbers);
      hn::Store(hn::BitCast(di, c1), di, numbers + kSimdWidth);
      hn::Store(hn::BitCast(di, c2), di, numbers + 2 * kSimdWidth);
      hn::Store(hn::BitCast(di, c3), di, numbers + 3 * kSimdWidth);
      next = std::min(key / 4 * 4 + 4, rect.end_key);
      for (std::int64_t j = key; j < next; ++j, at += row) {
        const auto number = hn::Xor(hn::Load(di, numbers + j % 4 * kSimdWidth), sign);
        const auto dropped = hn::RebindMask(d, hn::Lt(number, threshold));
        hn::StoreU(hn::IfThenZeroElse(dropped, hn::Mul(hn::LoadU(d, at), factor)), d, at);
      }
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

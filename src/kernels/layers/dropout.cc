// Dropout by a counter-based generator: sixteen to sixty-four elements at a time.
#include "kernels/layers/rows.h"

#include <algorithm>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/row_blocks.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/dropout.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/lanes-inl.h"
#include "kernels/simd/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

using Numbers = hn::ScalableTag<std::uint32_t>;
using Number = hn::Vec<Numbers>;

// The numbers of counters (first + lane, stream), four for each lane, in the order of elements.
HWY_INLINE void numbers_of(std::uint64_t seed, std::uint32_t stream, std::uint64_t first,
                           std::uint32_t* to) {
  const Numbers d;
  auto c0 = hn::Iota(d, static_cast<std::uint32_t>(first));
  auto c1 = hn::Set(d, static_cast<std::uint32_t>(first >> 32));
  auto c2 = hn::Set(d, stream);
  auto c3 = hn::Zero(d);
  philox(d, seed, c0, c1, c2, c3);
  hn::StoreInterleaved4(c0, c1, c2, c3, d, to);
}

// Elements of one vector: those whose number is at least `threshold` stay. residual may be null.
template <class D>
HWY_INLINE void put(D d, const std::uint32_t* numbers, std::uint32_t threshold, float factor,
                    const float* residual, const float* x, float* y) {
  const hn::RebindToSigned<D> di;
  const auto sign = hn::Set(di, INT32_MIN);  // unsigned order as signed order
  const auto number = hn::Xor(hn::LoadU(di, reinterpret_cast<const std::int32_t*>(numbers)), sign);
  const auto out = hn::Lt(number, hn::Xor(hn::Set(di, static_cast<std::int32_t>(threshold)), sign));
  const auto kept =
      hn::IfThenZeroElse(hn::RebindMask(d, out), hn::Mul(hn::LoadU(d, x), hn::Set(d, factor)));
  hn::StoreU(residual == nullptr ? kept : hn::Add(hn::LoadU(d, residual), kept), d, y);
}

// Elements [first, first + count).
void dropout_block(const RowDropout& options, std::uint32_t threshold, float factor,
                   const float* residual, const float* x, std::int64_t first, std::int64_t count,
                   float* y) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t numbers[4 * hn::MaxLanes(Numbers())];
  const std::int64_t end = first + count;
  std::int64_t taken = 0;
  for (std::int64_t i = first; i < end; i += taken) {
    // A call may begin within the four numbers of a counter; after the first vectors blocks do not.
    const std::int64_t index = options.first + i, skipped = index % 4;
    numbers_of(options.seed, options.stream, static_cast<std::uint64_t>(index) / 4, numbers);
    taken = std::min(4 * n - skipped, end - i);
    std::int64_t j = 0;
    const auto step = [&](auto tag) HWY_ATTR {
      const std::int64_t at = i + j;
      put(tag, numbers + skipped + j, threshold, factor,
          residual == nullptr ? nullptr : residual + at, x + at, y + at);
    };
    for (; j + n <= taken; j += n) step(d);
    for (; j < taken; ++j) step(one);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(dropout_block);

namespace {

void drop(const RowDropout& options, const float* residual, const float* x, std::int64_t count,
          float* y, int threads) {
  apply_requested_target();
  const auto threshold = static_cast<std::uint32_t>(std::min(options.rate * 0x1p32, 0x1p32 - 1));
  const auto factor = static_cast<float>(1 / (1 - options.rate));
  for_blocks(count, kElementBlock, threads,
             [&](std::int64_t, std::int64_t first, std::int64_t size) {
               const DenormalsOff denormals_off;
               HWY_DYNAMIC_DISPATCH(dropout_block)
               (options, threshold, factor, residual, x, first, size, y);
             });
}

}  // namespace

void dropout(const RowDropout& options, const float* x, std::int64_t count, float* y, int threads) {
  drop(options, nullptr, x, count, y, threads);
}

void add_dropout(const RowDropout& options, const float* residual, const float* x,
                 std::int64_t count, float* y, int threads) {
  drop(options, residual, x, count, y, threads);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

// Additive positions fused with the look-up of tokens (Vaswani et al. 2017, sections 3.4 and 3.5):
// it is limited by reading random rows of a table, so the next row is prefetched while one is
// computed; float64 arithmetic is free compared with that.
#include "kernels/layers/embed_rows.h"

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/embed_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_FLOAT64
using Wide = hn::ScalableTag<double>;
using Half = hn::Rebind<float, Wide>;

HWY_INLINE hn::Vec<Half> sum_of(hn::Vec<Wide> scale, const float* token, const float* position) {
  const Wide d;
  const Half f;
  // No fused operation: its bits would depend on the instruction set.
  const auto product = hn::Mul(hn::PromoteTo(d, hn::LoadU(f, token)), scale);
  return hn::DemoteTo(f, hn::Add(product, hn::PromoteTo(d, hn::LoadU(f, position))));
}

// In whole vectors of floats; returns the first column that is left. `next` is the row to prefetch.
template <bool stream>
HWY_INLINE std::int64_t embed_vectors(const float* token, const float* next, const float* position,
                                      double factor, std::int64_t width, float* out) {
  const hn::ScalableTag<float> whole;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Wide()));
  const auto scale = hn::Set(Wide(), factor);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    hwy::Prefetch(next + i);
    const auto low = sum_of(scale, token + i, position + i);
    const auto high = sum_of(scale, token + i + lanes, position + i + lanes);
    const auto both = hn::Combine(whole, high, low);
    if constexpr (stream) {
      hn::Stream(both, whole, out + i);
    } else {
      hn::StoreU(both, whole, out + i);
    }
  }
  return i;
}
#endif

template <bool stream>
HWY_INLINE void embed(const EmbeddingTables& tables, const std::int64_t* token_rows,
                      const std::int64_t* position_rows, std::int64_t count, float* out) {
  const std::int64_t width = tables.width;
  for (std::int64_t row = 0; row < count; ++row, out += width) {
    const float* token = tables.tokens + token_rows[row] * width;
    const float* position = tables.positions + position_rows[row] * tables.position_stride;
    std::int64_t i = 0;
#if HWY_HAVE_FLOAT64
    const float* next = tables.tokens + token_rows[row + 1 < count ? row + 1 : row] * width;
    i = embed_vectors<stream>(token, next, position, tables.scale, width, out);
#endif
    for (; i < width; ++i) {
      out[i] = static_cast<float>(static_cast<double>(token[i]) * tables.scale +
                                  static_cast<double>(position[i]));
    }
  }
}

void embed_floats(const EmbeddingTables& tables, const std::int64_t* token_rows,
                  const std::int64_t* position_rows, std::int64_t count, float* out, bool stream) {
  if (stream && reinterpret_cast<std::uintptr_t>(out) % 64 == 0 && tables.width % 16 == 0) {
    embed<true>(tables, token_rows, position_rows, count, out);
    hwy::FlushStream();
  } else {
    embed<false>(tables, token_rows, position_rows, count, out);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(embed_floats);

void embed_rows(const EmbeddingTables& tables, const std::int64_t* token_rows,
                const std::int64_t* position_rows, std::int64_t count, float* out,
                bool stream) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(embed_floats)(tables, token_rows, position_rows, count, out, stream);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

// The logarithm of a row's sum of exponentials, l 2^m: one function for the forward kernel, the
// scores and decoding, so that all give the same bits. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_LOG_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_LOG_SUMS_INL_H_
#undef SEXTANT_KERNELS_LOG_SUMS_INL_H_
#else
#define SEXTANT_KERNELS_LOG_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The natural logarithms of l 2^m of `rows` rows; arrays of kQueryBlock. A row's bits do not depend
// on its index.
HWY_INLINE void log_sums(const float* running_max, const float* sum, std::int64_t rows,
                         float* logs) {
#if HWY_HAVE_FLOAT64
  constexpr std::int64_t n = kSimdWidth / 2;
  const hn::FixedTag<float, n> d;
  const hn::FixedTag<double, n> wide;
  for (std::int64_t i = 0; i < rows; i += n) {
    const auto log = hn::Log(wide, hn::PromoteTo(wide, hn::LoadU(d, sum + i)));
    const auto m = hn::PromoteTo(wide, hn::LoadU(d, running_max + i));
    hn::StoreU(hn::DemoteTo(d, hn::MulAdd(m, hn::Set(wide, kLn2), log)), d, logs + i);
  }
#else
  for (std::int64_t i = 0; i < rows; ++i) {
    const double m = running_max[i];
    logs[i] = static_cast<float>(m * kLn2 + std::log(static_cast<double>(sum[i])));
  }
#endif
  for (std::int64_t i = 0; i < rows; ++i) {
    if (sum[i] > 0 && std::isfinite(sum[i])) continue;  // Log() is for these
    logs[i] = sum[i] == 0 ? -std::numeric_limits<float>::infinity() : running_max[i] + sum[i];
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

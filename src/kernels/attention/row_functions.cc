// Functions of the scores of a row, in vectors of the processor's width.
#include "kernels/attention/row_functions.h"

#include <algorithm>

#include "kernels/attention/block.h"
#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/row_functions.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/simd/exp-inl.h"
#include "kernels/simd/lanes-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

void sigmoids(const float* x, std::int64_t count, float* y) {
  each_vector(count, [=](auto d, std::int64_t n)
                         HWY_ATTR { hn::StoreU(sigmoid(d, hn::LoadU(d, x + n)), d, y + n); });
}

void softplus(const float* x, std::int64_t count, float* y) {
  each_vector(count, [=](auto d, std::int64_t n) HWY_ATTR {
    const auto score = hn::LoadU(d, x + n);
    const auto power = exp_of(d, hn::Neg(hn::Abs(score)));
    const auto sum = hn::Add(hn::Max(score, hn::Zero(d)), hn::Log1p(d, power));
    hn::StoreU(hn::IfThenElse(hn::Eq(score, score), sum, score), d, y + n);
  });
}

void softcaps(const float* x, std::int64_t count, float cap, float* y) {
  const TileTag d;
  const auto caps = hn::Set(d, cap), rate = hn::Set(d, 2 * static_cast<float>(kLog2E) / cap);
  std::int64_t n = 0;
  for (; n + kSimdWidth <= count; n += kSimdWidth) {
    hn::StoreU(softcap(d, hn::LoadU(d, x + n), caps, rate), d, y + n);
  }
  if (n == count) return;
  float rest[kSimdWidth] = {};
  std::copy(x + n, x + count, rest);
  hn::StoreU(softcap(d, hn::LoadU(d, rest), caps, rate), d, rest);
  std::copy_n(rest, count - n, y + n);
}

void score_differences(const float* with, const float* x, std::int64_t count, float* y) {
  each_vector(count, [=](auto d, std::int64_t n) HWY_ATTR {
    const auto infinity = hn::Inf(d), score = hn::LoadU(d, x + n);
    const auto lacks = hn::Sub(hn::LoadU(d, with + n), score);
    const auto of_hidden = hn::IfThenZeroElse(hn::Eq(score, hn::Neg(infinity)), lacks);
    hn::StoreU(hn::IfThenElse(hn::Eq(score, infinity), hn::NaN(d), of_hidden), d, y + n);
  });
}

void add_interpolated(const float* p, std::int64_t count, const float* table, std::int64_t last,
                      float factor, float* to) {
  each_vector(count, [=](auto d, std::int64_t n) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const auto position = hn::LoadU(d, p + n);
    const auto known = hn::Eq(position, position);
    const auto at =
        hn::IfThenElseZero(known, hn::Min(position, hn::Set(d, static_cast<float>(last))));
    const auto floor = hn::Floor(at), part = hn::IfThenElse(known, hn::Sub(at, floor), position);
    const auto below = hn::GatherIndex(d, table, hn::ConvertTo(di, floor));
    const auto above = hn::GatherIndex(d, table, hn::ConvertTo(di, hn::Ceil(at)));
    const auto whole = hn::Sub(hn::Set(d, 1.0F), part);
    const auto number = hn::MulAdd(part, above, hn::Mul(whole, below));
    const auto product = hn::Mul(hn::Set(d, factor), number);
    hn::StoreU(hn::Add(hn::LoadU(d, to + n), product), d, to + n);
  });
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(sigmoids);
HWY_EXPORT(softplus);
HWY_EXPORT(softcaps);
HWY_EXPORT(score_differences);
HWY_EXPORT(add_interpolated);

void sigmoids(const float* x, std::int64_t count, float* y) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(sigmoids)(x, count, y);
}

void softplus(const float* x, std::int64_t count, float* y) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(softplus)(x, count, y);
}

void softcaps(const float* x, std::int64_t count, float cap, float* y) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(softcaps)(x, count, cap, y);
}

void score_differences(const float* with, const float* x, std::int64_t count, float* y) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(score_differences)(with, x, count, y);
}

void add_interpolated(const float* p, std::int64_t count, const float* table, std::int64_t last,
                      float factor, float* to) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(add_interpolated)(p, count, table, last, factor, to);
}

namespace {

// Adds the next numbers of all rows, by `next` from `first` on.
template <std::int64_t kRows>
void sum_rows(const SummedRows& x, std::int64_t first, std::int64_t count, std::int64_t next,
              double* sums) noexcept {
  double sum[kRows];
  for (std::int64_t r = 0; r < kRows; ++r) sum[r] = sums[r];
  for (float* at = x.data + first; count-- > 0; at += next) {
    for (std::int64_t r = 0; r < kRows; ++r) {
      float& number = at[r * x.stride];
      sum[r] += static_cast<double>(number);
      number = static_cast<float>(sum[r]);
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) sums[r] = sum[r];
}

void sum_rows(const SummedRows& x, std::int64_t first, std::int64_t count, std::int64_t next,
              double* sums) noexcept {
  if (x.rows == kSummedRows) return sum_rows<kSummedRows>(x, first, count, next, sums);
  SummedRows row = x;
  for (std::int64_t r = 0; r < x.rows; ++r, row.data += x.stride) {
    sum_rows<1>(row, first, count, next, sums + r);
  }
}

}  // namespace

void sum_from_end(const SummedRows& x, std::int64_t begin, std::int64_t end,
                  double* sums) noexcept {
  sum_rows(x, end - 1, end - begin, -1, sums);
}

void sum_from_begin(const SummedRows& x, std::int64_t begin, std::int64_t end,
                    double* sums) noexcept {
  sum_rows(x, begin, end - begin, 1, sums);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

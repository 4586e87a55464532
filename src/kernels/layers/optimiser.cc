// One step of AdamW, and the square of a gradient's norm.
#include "kernels/layers/rows.h"

#include <cmath>
#include <vector>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/row_blocks.h"
#include "kernels/simd/targets.h"

#ifndef SEXTANT_KERNELS_ADAMW_FACTORS_
#define SEXTANT_KERNELS_ADAMW_FACTORS_
namespace sextant::kernels {

// The step as factors of single numbers.
struct AdamWFactors {
  float gradient, keep, m_keep, m_take, v_keep, v_take, v_scale, eps, move;
};

}  // namespace sextant::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/optimiser.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

void adamw_block(const AdamWFactors& f, float* gradient, std::int64_t count, float* p, float* m,
                 float* v) {
  each_vector(count, [=, &f](auto d, std::int64_t i) HWY_ATTR {
    for (float* x : {gradient, m, v, p}) prefetch_ahead_for_write(x + i);
    const auto g = hn::Mul(hn::LoadU(d, gradient + i), hn::Set(d, f.gradient));
    const auto m_new =
        hn::MulAdd(hn::Set(d, f.m_take), g, hn::Mul(hn::LoadU(d, m + i), hn::Set(d, f.m_keep)));
    const auto v_new = hn::MulAdd(hn::Mul(g, hn::Set(d, f.v_take)), g,
                                  hn::Mul(hn::LoadU(d, v + i), hn::Set(d, f.v_keep)));
    hn::StoreU(hn::Zero(d), d, gradient + i);
    hn::StoreU(m_new, d, m + i);
    hn::StoreU(v_new, d, v + i);
    const auto below = hn::MulAdd(hn::Sqrt(v_new), hn::Set(d, f.v_scale), hn::Set(d, f.eps));
    const auto kept = hn::Mul(hn::LoadU(d, p + i), hn::Set(d, f.keep));
    hn::StoreU(hn::NegMulAdd(hn::Set(d, f.move), hn::Div(m_new, below), kept), d, p + i);
  });
}

double squares_of_block(const float* x, std::int64_t count) {
  double sum = 0;
  std::int64_t i = 0;
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0;
  for (; i + 2 * n <= count; i += 2 * n) {
    prefetch_ahead(x + i);
    const auto a = hn::PromoteTo(d, hn::LoadU(half, x + i));
    const auto b = hn::PromoteTo(d, hn::LoadU(half, x + i + n));
    s0 = hn::MulAdd(a, a, s0);
    s1 = hn::MulAdd(b, b, s1);
  }
  sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
#endif
  for (; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(adamw_block);
HWY_EXPORT(squares_of_block);

void adamw(const AdamWStep& options, float* gradient, std::int64_t count, float* p, float* m,
           float* v, int threads) {
  apply_requested_target();
  const auto step = static_cast<double>(options.step);
  const double m_bias = 1 - std::pow(options.beta1, step);
  const double v_bias = 1 - std::pow(options.beta2, step);
  const AdamWFactors factors{.gradient = static_cast<float>(options.factor),
                             .keep = static_cast<float>(1 - options.rate * options.decay),
                             .m_keep = static_cast<float>(options.beta1),
                             .m_take = static_cast<float>(1 - options.beta1),
                             .v_keep = static_cast<float>(options.beta2),
                             .v_take = static_cast<float>(1 - options.beta2),
                             .v_scale = static_cast<float>(1 / std::sqrt(v_bias)),
                             .eps = static_cast<float>(options.eps),
                             .move = static_cast<float>(options.rate / m_bias)};
  for_blocks(count, kElementBlock, threads,
             [&](std::int64_t, std::int64_t first, std::int64_t size) {
               const DenormalsOff denormals_off;
               HWY_DYNAMIC_DISPATCH(adamw_block)
               (factors, gradient + first, size, p + first, m + first, v + first);
             });
}

double sum_of_squares(const float* x, std::int64_t count, int threads) {
  apply_requested_target();
  std::vector<double> block_sums(
      static_cast<std::size_t>((count + kElementBlock - 1) / kElementBlock));
  for_blocks(count, kElementBlock, threads,
             [&](std::int64_t block, std::int64_t first, std::int64_t size) {
               block_sums[static_cast<std::size_t>(block)] =
                   HWY_DYNAMIC_DISPATCH(squares_of_block)(x + first, size);
             });
  double sum = 0;
  for (const double block_sum : block_sums) sum += block_sum;
  return sum;
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

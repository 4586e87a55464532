// Softmax cross entropy with label smoothing, and its gradient in place of the logits.
#include "kernels/layers/rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd/row_blocks.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/cross_entropy.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/exp-inl.h"
#include "kernels/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

float largest_of(const float* x, std::int64_t width) {
  const hn::ScalableTag<float> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  float max = x[0];
  std::int64_t i = 0;
  if (width >= n) {
    auto v = hn::LoadU(d, x);
    for (i = n; i + n <= width; i += n) {
      prefetch_ahead(x + i);
      v = hn::Max(v, hn::LoadU(d, x + i));
    }
    max = hn::GetLane(hn::MaxOfLanes(d, v));
  }
  for (; i < width; ++i) max = x[i] > max ? x[i] : max;
  return max;
}

// Whether one of `count` numbers is `value`.
bool holds(const float* x, std::int64_t count, float value) {
  const hn::ScalableTag<float> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) {
    if (!hn::AllFalse(d, hn::Eq(hn::LoadU(d, x + i), hn::Set(d, value)))) return true;
  }
  return std::find(x + i, x + count, value) != x + count;
}

// The sums of e^(x - max) and of x - max.
void sums_of_row(const float* x, std::int64_t width, float max, float* powers, float* rest) {
  *powers = sum_of(width, [=](auto d, std::int64_t i) HWY_ATTR {
    return exp_of(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, max)));
  });
  *rest = sum_of(width, [=](auto d, std::int64_t i)
                            HWY_ATTR { return hn::Sub(hn::LoadU(d, x + i), hn::Set(d, max)); });
}

// x = e^(x - max) factor - even
void probabilities(float* x, std::int64_t width, float max, float factor, float even) {
  each_vector(width, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto e = exp_of(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, max)));
    hn::StoreU(hn::MulSub(e, hn::Set(d, factor), hn::Set(d, even)), d, x + i);
  });
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(largest_of);
HWY_EXPORT(holds);
HWY_EXPORT(sums_of_row);
HWY_EXPORT(probabilities);

namespace {

struct RowSums {
  float max, powers, rest;
};

RowSums sums_of(const float* x, std::int64_t width) {
  RowSums sums{HWY_DYNAMIC_DISPATCH(largest_of)(x, width), 0, 0};
  HWY_DYNAMIC_DISPATCH(sums_of_row)(x, width, sums.max, &sums.powers, &sums.rest);
  return sums;
}

TargetLoss loss_of(const float* x, std::int64_t width, std::int64_t target, double smoothing,
                   const RowSums& sums) {
  const double total = std::log(static_cast<double>(sums.powers));
  const double target_logit = static_cast<double>(x[target]) - static_cast<double>(sums.max);
  const double mean = static_cast<double>(sums.rest) / static_cast<double>(width);
  const bool correct = x[target] == sums.max && !HWY_DYNAMIC_DISPATCH(holds)(x, target, sums.max);
  // Where nothing is smoothed, an infinite distance of some other column must not count.
  const double even = smoothing == 0 ? 0 : smoothing * mean;
  return {total - target_logit, total - (1 - smoothing) * target_logit - even, true, correct};
}

}  // namespace

void cross_entropy(RowShape shape, const float* logits, const std::int64_t* targets,
                   double smoothing, TargetLoss* losses, int threads) {
  apply_requested_target();
  for_rows(shape.rows, shape.width, threads, [&](std::int64_t r) {
    losses[r] = {};
    if (targets[r] < 0) return;
    const float* x = logits + r * shape.width;
    losses[r] = loss_of(x, shape.width, targets[r], smoothing, sums_of(x, shape.width));
  });
}

void cross_entropy_backward(RowShape shape, float* logits, const std::int64_t* targets,
                            double smoothing, double scale, TargetLoss* losses, int threads) {
  apply_requested_target();
  for_rows(shape.rows, shape.width, threads, [&](std::int64_t r) {
    float* x = logits + r * shape.width;
    losses[r] = {};
    if (targets[r] < 0) {
      std::fill_n(x, shape.width, 0.0F);
      return;
    }
    const RowSums sums = sums_of(x, shape.width);
    losses[r] = loss_of(x, shape.width, targets[r], smoothing, sums);
    HWY_DYNAMIC_DISPATCH(probabilities)
    (x, shape.width, sums.max, static_cast<float>(scale / static_cast<double>(sums.powers)),
     static_cast<float>(scale * smoothing / static_cast<double>(shape.width)));
    float& target = x[targets[r]];
    target = static_cast<float>(static_cast<double>(target) - scale * (1 - smoothing));
  });
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

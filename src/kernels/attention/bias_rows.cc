// Rows of terms of scores, in vectors of the processor's width.
#include "kernels/attention/bias_rows.h"

#include <limits>

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/bias_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void add_row(const float* from, std::int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t n = 0;
  for (; n + width <= count; n += width) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + n), hn::LoadU(d, from + n)), d, to + n);
  }
  for (; n < count; ++n) to[n] += from[n];
}

void add_line(const double* from, double slope, double intercept, std::int64_t count, float* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, slope), constant = hn::Set(d, intercept);
  std::int64_t n = 0;
  for (; n + width <= count; n += width) {
    const auto line = hn::Add(hn::Mul(factor, hn::LoadU(d, from + n)), constant);
    hn::StoreU(hn::Add(hn::LoadU(narrow, to + n), hn::DemoteTo(narrow, line)), narrow, to + n);
  }
  for (; n < count; ++n) to[n] += static_cast<float>(slope * from[n] + intercept);
}

// `load(n)`: the numbers of a vector from number n on; `number(n)`: one of them.
template <class Load, class Number>
HWY_INLINE void add_visible(const Load& load, const Number& number, float factor,
                            std::int64_t count, float* to) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const hn::ScalableTag<float> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto hidden = hn::Set(d, kHidden), times = hn::Set(d, factor);
  std::int64_t n = 0;
  for (; n + width <= count; n += width) {
    const auto score = hn::LoadU(d, to + n);
    const auto sum = hn::Add(score, hn::Mul(times, load(n)));
    hn::StoreU(hn::IfThenElse(hn::Eq(score, hidden), hidden, sum), d, to + n);
  }
  for (; n < count; ++n) {
    if (to[n] != kHidden) to[n] += factor * number(n);
  }
}

void add_to_visible(const float* from, std::int64_t step, float factor, std::int64_t count,
                    float* to) {
  const hn::ScalableTag<float> d;
  const auto number = [from, step](std::int64_t n) { return from[n * step]; };
  if (step == 1) {
    add_visible([&](std::int64_t n) HWY_ATTR { return hn::LoadU(d, from + n); }, number, factor,
                count, to);
  } else if (step == 0) {
    add_visible([&](std::int64_t) HWY_ATTR { return hn::Set(d, *from); }, number, factor, count,
                to);
  } else {
    const auto last = static_cast<std::int64_t>(hn::Lanes(d)) - 1;
    add_visible([&](std::int64_t n)
                    HWY_ATTR { return hn::Reverse(d, hn::LoadU(d, from - n - last)); },
                number, factor, count, to);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(add_row);
HWY_EXPORT(add_line);
HWY_EXPORT(add_to_visible);

void add_row(const float* from, std::int64_t count, float* to) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_row)(from, count, to);
}

void add_line(const double* from, double slope, double intercept, std::int64_t count,
              float* to) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_line)(from, slope, intercept, count, to);
}

void add_to_visible(const float* from, std::int64_t step, float factor, std::int64_t count,
                    float* to) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_to_visible)(from, step, factor, count, to);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

// Activations and gated activations of feed-forward layers, forward and backward.
#include "kernels/layers/rows.h"

#include <type_traits>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/row_blocks.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/activations.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/bounds-inl.h"
#include "kernels/simd/exp-inl.h"
#include "kernels/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

constexpr float kTanhRate = 1.59576912F;  // 2 sqrt(2 / pi)
constexpr float kTanhCube = 0.044715F;

// Beyond it every activation is 0 or x, and squares of x stay finite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamped(D d, V x, float bound) {
  return at_least(hn::Set(d, -bound), at_most(hn::Set(d, bound), x));
}

// 2 sqrt(2 / pi) (x + 0.044715 x^3): gelu_tanh is x times the sigmoid of it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_argument(D d, V x) {
  const V square = hn::Mul(x, x);
  return hn::Mul(hn::Mul(x, hn::Set(d, kTanhRate)),
                 hn::MulAdd(square, hn::Set(d, kTanhCube), hn::Set(d, 1.0F)));
}

template <RowActivation kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V value_of(D d, V x) {
  if constexpr (kKind == RowActivation::relu) return at_least(hn::Zero(d), x);
  if constexpr (kKind == RowActivation::gelu) {
    return hn::Mul(x, normal(d, clamped(d, x, 14.0F)).cumulative);
  }
  if constexpr (kKind == RowActivation::gelu_tanh) {
    return hn::Mul(x, sigmoid(d, tanh_argument(d, clamped(d, x, 14.0F))));
  }
  return hn::Mul(x, sigmoid(d, x));
}

template <RowActivation kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V slope_of(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  if constexpr (kKind == RowActivation::relu) return relu_slope(d, x);
  if constexpr (kKind == RowActivation::gelu) {
    const V c = clamped(d, x, 14.0F);
    const auto n = normal(d, c);
    return hn::MulAdd(c, n.density, n.cumulative);
  }
  if constexpr (kKind == RowActivation::gelu_tanh) {
    const V c = clamped(d, x, 14.0F);
    const V s = sigmoid(d, tanh_argument(d, c));
    const V rate =
        hn::Mul(hn::MulAdd(hn::Mul(c, c), hn::Set(d, 3 * kTanhCube), one), hn::Set(d, kTanhRate));
    return hn::MulAdd(hn::Mul(c, rate), hn::Mul(s, hn::Sub(one, s)), s);
  }
  const V c = clamped(d, x, 100.0F);
  const V s = sigmoid(d, c);
  return hn::MulAdd(hn::Mul(c, s), hn::Sub(one, s), s);
}

template <RowActivation kKind>
void apply(const float* x, std::int64_t count, float* y) {
  each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(value_of<kKind>(d, hn::LoadU(d, x + i)), d, y + i);
  });
}

template <RowActivation kKind>
void apply_slope(const float* dy, const float* x, std::int64_t count, float* dx) {
  each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto slope = slope_of<kKind>(d, hn::LoadU(d, x + i));
    hn::StoreU(hn::Mul(hn::LoadU(d, dy + i), slope), d, dx + i);
  });
}

template <RowActivation kKind>
void apply_gated(const float* gate, const float* up, std::int64_t count, float* y) {
  each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto open = value_of<kKind>(d, hn::LoadU(d, gate + i));
    hn::StoreU(hn::Mul(open, hn::LoadU(d, up + i)), d, y + i);
  });
}

template <RowActivation kKind>
void apply_gated_slope(const float* dy, const float* gate, const float* up, std::int64_t count,
                       float* dgate, float* dup) {
  each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, gate + i), u = hn::LoadU(d, up + i), t = hn::LoadU(d, dy + i);
    const auto slope = slope_of<kKind>(d, g);
    hn::StoreU(hn::Mul(hn::Mul(t, u), slope), d, dgate + i);
    hn::StoreU(hn::Mul(t, value_of<kKind>(d, g)), d, dup + i);
  });
}

template <RowActivation kKind>
using Constant = std::integral_constant<RowActivation, kKind>;

// use(kind) with the kind as a type, so that the loop inside is made once for each.
template <class Use>
void with_kind(RowActivation kind, const Use& use) {
  switch (kind) {
    case RowActivation::relu:
      return use(Constant<RowActivation::relu>());
    case RowActivation::gelu:
      return use(Constant<RowActivation::gelu>());
    case RowActivation::gelu_tanh:
      return use(Constant<RowActivation::gelu_tanh>());
    case RowActivation::silu:
      return use(Constant<RowActivation::silu>());
  }
}

void activate_block(RowActivation kind, const float* x, std::int64_t count, float* y) {
  with_kind(kind, [=](auto f) HWY_ATTR { apply<f()>(x, count, y); });
}

void activate_backward_block(RowActivation kind, const float* dy, const float* x,
                             std::int64_t count, float* dx) {
  with_kind(kind, [=](auto f) HWY_ATTR { apply_slope<f()>(dy, x, count, dx); });
}

void gated_row(RowActivation kind, const float* gate, const float* up, std::int64_t count,
               float* y) {
  with_kind(kind, [=](auto f) HWY_ATTR { apply_gated<f()>(gate, up, count, y); });
}

void gated_backward_row(RowActivation kind, const float* dy, const float* gate, const float* up,
                        std::int64_t count, float* dgate, float* dup) {
  with_kind(kind,
            [=](auto f) HWY_ATTR { apply_gated_slope<f()>(dy, gate, up, count, dgate, dup); });
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(activate_block);
HWY_EXPORT(activate_backward_block);
HWY_EXPORT(gated_row);
HWY_EXPORT(gated_backward_row);

void activate(RowActivation kind, const float* x, std::int64_t count, float* y, int threads) {
  apply_requested_target();
  for_blocks(count, kElementBlock, threads,
             [&](std::int64_t, std::int64_t first, std::int64_t size) {
               const DenormalsOff denormals_off;
               HWY_DYNAMIC_DISPATCH(activate_block)(kind, x + first, size, y + first);
             });
}

void activate_backward(RowActivation kind, const float* dy, const float* x, std::int64_t count,
                       float* dx, int threads) {
  apply_requested_target();
  for_blocks(count, kElementBlock, threads,
             [&](std::int64_t, std::int64_t first, std::int64_t size) {
               const DenormalsOff denormals_off;
               HWY_DYNAMIC_DISPATCH(activate_backward_block)
               (kind, dy + first, x + first, size, dx + first);
             });
}

void gated(RowActivation f, RowShape shape, const float* gate, const float* up,
           std::int64_t gate_row, float* y, int threads) {
  apply_requested_target();
  for_rows(shape.rows, shape.width, threads, [&](std::int64_t r) {
    HWY_DYNAMIC_DISPATCH(gated_row)
    (f, gate + r * gate_row, up + r * gate_row, shape.width, y + r * shape.width);
  });
}

void gated_backward(RowActivation f, RowShape shape, const float* dy, const float* gate,
                    const float* up, std::int64_t gate_row, float* dgate, float* dup, int threads) {
  apply_requested_target();
  for_rows(shape.rows, shape.width, threads, [&](std::int64_t r) {
    const std::int64_t at = r * gate_row;
    HWY_DYNAMIC_DISPATCH(gated_backward_row)
    (f, dy + r * shape.width, gate + at, up + at, shape.width, dgate + at, dup + at);
  });
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

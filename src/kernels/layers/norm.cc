// Layer norm and RMS norm, forward and backward.
#include "kernels/layers/rows.h"

#include <cmath>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/row_blocks.h"
#include "kernels/simd/targets.h"
#include "sextant/core/tensor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layers/norm.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// One row; the mean is 0 where nothing is centred.
template <bool kCentred>
HWY_INLINE void norm_row(const float* x, const float* gain, const float* bias, std::int64_t width,
                         double eps, float* y, float* mean, float* scale) {
  const auto n = static_cast<float>(width);
  float m = 0;
  if constexpr (kCentred) {
    m = sum_of(width, [=](auto d, std::int64_t i) HWY_ATTR { return hn::LoadU(d, x + i); }) / n;
    *mean = m;
  }
  const float squares = sum_of(width, [=](auto d, std::int64_t i) HWY_ATTR {
    prefetch_ahead(x + i);
    prefetch_ahead_for_write(y + i);
    const auto c = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, m));
    return hn::Mul(c, c);
  });
  const auto s = static_cast<float>(
      1 / std::sqrt(static_cast<double>(squares) / static_cast<double>(width) + eps));
  *scale = s;
  each_vector(width, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto c = hn::Mul(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, m)), hn::Set(d, s));
    const auto g = hn::LoadU(d, gain + i);
    const auto b = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + i);
    hn::StoreU(hn::MulAdd(c, g, b), d, y + i);
  });
}

void layer_norm_row(const float* x, const float* gain, const float* bias, std::int64_t width,
                    double eps, float* y, float* mean, float* scale) {
  norm_row<true>(x, gain, bias, width, eps, y, mean, scale);
}

void rms_norm_row(const float* x, const float* gain, const float*, std::int64_t width, double eps,
                  float* y, float*, float* scale) {
  norm_row<false>(x, gain, nullptr, width, eps, y, nullptr, scale);
}

// With h = (x - mean) scale and g = dy gain: dx = scale (g - mean of g - h mean of g h), the first
// mean only where rows are centred; the sums for gain and bias grow by dy h and dy.
template <bool kCentred>
HWY_INLINE void norm_backward_row(const float* dy, const float* x, const float* gain,
                                  std::int64_t width, float m, float s, float* dx, bool add,
                                  float* dgain, float* dbias) {
  const auto h_of = [=](auto d, std::int64_t i) HWY_ATTR {
    return hn::Mul(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, m)), hn::Set(d, s));
  };
  const auto g_of = [=](auto d, std::int64_t i)
                        HWY_ATTR { return hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, gain + i)); };
  const auto n = static_cast<float>(width);
  const auto gh_of = [=](auto d, std::int64_t i) HWY_ATTR {
    prefetch_ahead(dy + i);
    prefetch_ahead(x + i);
    prefetch_ahead_for_write(dx + i);
    return hn::Mul(g_of(d, i), h_of(d, i));
  };
  const float mean_gh = sum_of(width, gh_of) / n;
  const float mean_g = kCentred ? sum_of(width, g_of) / n : 0;
  each_vector(width, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto h = h_of(d, i);
    const auto t = hn::LoadU(d, dy + i);
    hn::StoreU(hn::MulAdd(t, h, hn::LoadU(d, dgain + i)), d, dgain + i);
    if (dbias != nullptr) hn::StoreU(hn::Add(t, hn::LoadU(d, dbias + i)), d, dbias + i);
    const auto inner =
        hn::NegMulAdd(h, hn::Set(d, mean_gh), hn::Sub(g_of(d, i), hn::Set(d, mean_g)));
    const auto start = add ? hn::LoadU(d, dx + i) : hn::Zero(d);
    hn::StoreU(hn::MulAdd(inner, hn::Set(d, s), start), d, dx + i);
  });
}

void layer_norm_backward_row(const float* dy, const float* x, const float* gain, std::int64_t width,
                             float m, float s, float* dx, bool add, float* dgain, float* dbias) {
  norm_backward_row<true>(dy, x, gain, width, m, s, dx, add, dgain, dbias);
}

void rms_norm_backward_row(const float* dy, const float* x, const float* gain, std::int64_t width,
                           float m, float s, float* dx, bool add, float* dgain, float*) {
  norm_backward_row<false>(dy, x, gain, width, m, s, dx, add, dgain, nullptr);
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(layer_norm_row);
HWY_EXPORT(rms_norm_row);
HWY_EXPORT(layer_norm_backward_row);
HWY_EXPORT(rms_norm_backward_row);

void layer_norm(RowShape shape, const float* x, const float* gain, const float* bias, double eps,
                float* y, float* mean, float* scale, int threads) {
  apply_requested_target();
  for_rows(shape.rows, shape.width, threads, [&](std::int64_t r) {
    HWY_DYNAMIC_DISPATCH(layer_norm_row)
    (x + r * shape.width, gain, bias, shape.width, eps, y + r * shape.width, mean + r, scale + r);
  });
}

void rms_norm(RowShape shape, const float* x, const float* gain, double eps, float* y, float* scale,
              int threads) {
  apply_requested_target();
  for_rows(shape.rows, shape.width, threads, [&](std::int64_t r) {
    HWY_DYNAMIC_DISPATCH(rms_norm_row)
    (x + r * shape.width, gain, nullptr, shape.width, eps, y + r * shape.width, nullptr, scale + r);
  });
}

namespace {

// row(r, dgain block_sum, dbias block_sum) for all rows, then the block_sums together.
template <class Row>
void backward(RowShape shape, const NormGradient& to, int threads, const Row& row) {
  const std::int64_t blocks = (shape.rows + kSumRows - 1) / kSumRows;
  const std::int64_t stride = 2 * shape.width;
  Tensor<float> block_sums(
      {blocks, stride});  // on lines of the cache, which a vector's floats are not
  for_blocks(shape.rows, kSumRows, threads,
             [&](std::int64_t block, std::int64_t first, std::int64_t count) {
               const DenormalsOff denormals_off;
               float* block_sum = block_sums.data() + block * stride;
               for (std::int64_t r = first; r < first + count; ++r) {
                 row(r, block_sum, to.dbias == nullptr ? nullptr : block_sum + shape.width);
               }
             });
  add_block_sums(block_sums.data(), blocks, stride, shape.width, to.dgain);
  if (to.dbias != nullptr) {
    add_block_sums(block_sums.data() + shape.width, blocks, stride, shape.width, to.dbias);
  }
}

}  // namespace

void layer_norm_backward(RowShape shape, const float* dy, const float* x, const float* gain,
                         const float* mean, const float* scale, const NormGradient& to,
                         int threads) {
  apply_requested_target();
  backward(shape, to, threads, [&](std::int64_t r, float* dgain, float* dbias) {
    const std::int64_t at = r * shape.width;
    HWY_DYNAMIC_DISPATCH(layer_norm_backward_row)
    (dy + at, x + at, gain, shape.width, mean[r], scale[r], to.dx + at, to.add_dx, dgain, dbias);
  });
}

void rms_norm_backward(RowShape shape, const float* dy, const float* x, const float* gain,
                       const float* scale, const NormGradient& to, int threads) {
  apply_requested_target();
  backward(shape, to, threads, [&](std::int64_t r, float* dgain, float*) {
    const std::int64_t at = r * shape.width;
    HWY_DYNAMIC_DISPATCH(rms_norm_backward_row)
    (dy + at, x + at, gain, shape.width, 0, scale[r], to.dx + at, to.add_dx, dgain, nullptr);
  });
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE

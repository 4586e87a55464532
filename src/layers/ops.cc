// Which way each operation goes: kernels for float32, plain loops for float64.
#include "layers/ops.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/layers/rows.h"
#include "kernels/matmul/matmul.h"
#include "kernels/simd/row_blocks.h"
#include "layers/plain_ops.h"
#include "sextant/core/parallel.h"

namespace sextant::ops {
namespace {

using kernels::RowActivation, kernels::matmul;

template <class T>
constexpr bool kIsFast = std::is_same_v<T, float>;

template <class T>
void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, plain::Matrix<T> a,
             plain::Matrix<T> b, const T* bias, bool add, T* c, std::int64_t c_row, int threads) {
  if constexpr (kIsFast<T>) {
    matmul({rows, columns, depth}, {a.data, a.row_stride, a.column_stride},
           {b.data, b.row_stride, b.column_stride}, {c, c_row, bias, add}, threads);
  } else {
    plain::product(rows, columns, depth, a, b, bias, add, c, c_row, threads);
  }
}

kernels::StoredMatrix transposed(const WeightView<float>& w) {
  return w.with_rows(
      [](const auto& rows) { return kernels::StoredMatrix(rows.data(), 1, rows.stride(0)); });
}

// The bias's gradient is summed while its product is packed, which reads dy anyway.
void weight_and_bias_gradient(Rows<const float> x, Rows<const float> dy, Rows<float> dw,
                              float* dbias, int threads) {
  const kernels::MatrixRef a{dy.data, 1, dy.stride};
  const bool one_column = !kernels::has_contiguous_columns(a);
  const std::int64_t parts = (dy.rows + kernels::kSumRows - 1) / kernels::kSumRows;
  std::vector<float> sums(static_cast<std::size_t>(one_column ? 0 : parts * dy.columns));
  matmul({dy.columns, x.columns, x.rows}, a, {x.data, x.stride, 1},
         {dw.data, dw.stride, nullptr, true, one_column ? nullptr : sums.data(), dy.columns},
         threads);
  if (one_column) return kernels::add_column_sums({dy.rows, dy.columns}, dy.data, dbias, threads);
  kernels::add_block_sums(sums.data(), parts, dy.columns, dy.columns, dbias);
}

kernels::RowShape shape_of(const Shape& shape) { return {shape[0], shape[1]}; }

RowActivation row_activation(Activation f) {
  switch (function_of(f)) {
    case Activation::relu:
      return RowActivation::relu;
    case Activation::gelu:
      return RowActivation::gelu;
    case Activation::gelu_tanh:
      return RowActivation::gelu_tanh;
    default:
      return RowActivation::silu;
  }
}

}  // namespace

template <class T>
void linear(Rows<const T> x, const WeightView<T>& w, const T* bias, Rows<T> y, int threads) {
  if constexpr (kIsFast<T>) {
    matmul({x.rows, w.size(0), x.columns}, {x.data, x.stride, 1}, transposed(w),
           {y.data, y.stride, bias}, threads);
  } else {
    const View<const T> wide = w.wide();
    plain::product<T>(x.rows, w.size(0), x.columns, {x.data, x.stride, 1},
                      {wide.data(), 1, wide.stride(0)}, bias, false, y.data, y.stride, threads);
  }
}

template <class T>
void linear_relu(View<const T> x, const WeightView<T>& w, const T* bias, View<T> y, int threads) {
  if constexpr (kIsFast<T>) {
    return matmul({x.size(0), w.size(0), x.size(1)}, {x.data(), x.size(1), 1}, transposed(w),
                  {.c = y.data(), .c_row = w.size(0), .bias = bias, .relu = true}, threads);
  }
  linear<T>(x, w, bias, y, threads);
  activate<T>(Activation::relu, y, y, threads);
}

template <class T>
void relu_linear_input_gradient(View<const T> dy, View<const T> w, View<const T> x, View<T> dx,
                                int threads) {
  if constexpr (kIsFast<T>) {
    return matmul({dy.size(0), w.size(1), w.size(0)}, {dy.data(), dy.size(1), 1},
                  {w.data(), w.size(1), 1},
                  {.c = dx.data(), .c_row = dx.size(1), .relu_of = x.data()}, threads);
  }
  linear_input_gradient<T>(dy, w, dx, false, threads);
  activate_gradient<T>(Activation::relu, x, dx, dx, threads);
}

template <class T>
void linear_input_gradient(Rows<const T> dy, Rows<const T> w, Rows<T> dx, bool add, int threads) {
  product<T>(dy.rows, w.columns, w.rows, {dy.data, dy.stride, 1}, {w.data, w.stride, 1}, nullptr,
             add, dx.data, dx.stride, threads);
}

template <class T>
void linear_weight_gradient(Rows<const T> x, Rows<const T> dy, Rows<T> dw, T* dbias, int threads) {
  if constexpr (kIsFast<T>) {
    if (dbias != nullptr && dy.stride == dy.columns) {
      return weight_and_bias_gradient(x, dy, dw, dbias, threads);
    }
  }
  product<T>(dy.columns, x.columns, x.rows, {dy.data, 1, dy.stride}, {x.data, x.stride, 1}, nullptr,
             true, dw.data, dw.stride, threads);
  if (dbias == nullptr) return;
  for (std::int64_t i = 0; i < dy.rows; ++i) {
    for (std::int64_t j = 0; j < dy.columns; ++j) dbias[j] += dy.row(i)[j];
  }
}

template <class T>
void norm(View<const T> x, const T* gain, const T* bias, double epsilon, bool rms, View<T> y,
          View<T> stats, int threads) {
  if constexpr (kIsFast<T>) {
    float *mean = stats.data(), *scale = mean + x.size(0);
    if (rms) {
      kernels::rms_norm(shape_of(x.shape()), x.data(), gain, epsilon, y.data(), scale, threads);
    } else {
      kernels::layer_norm(shape_of(x.shape()), x.data(), gain, bias, epsilon, y.data(), mean, scale,
                          threads);
    }
  } else {
    plain::norm(x, gain, bias, epsilon, rms, y, stats);
  }
}

template <class T>
void norm_gradient(View<const T> x, View<const T> stats, const T* gain, bool rms, View<const T> dy,
                   View<T> dx, bool add, T* dgain, T* dbias, int threads) {
  if constexpr (kIsFast<T>) {
    const float *mean = stats.data(), *scale = mean + x.size(0);
    const kernels::NormGradient to{dx.data(), add, dgain, dbias};
    if (rms) {
      kernels::rms_norm_backward(shape_of(x.shape()), dy.data(), x.data(), gain, scale, to,
                                 threads);
    } else {
      kernels::layer_norm_backward(shape_of(x.shape()), dy.data(), x.data(), gain, mean, scale, to,
                                   threads);
    }
  } else {
    plain::norm_gradient(x, stats, gain, rms, dy, dx, add, dgain, dbias);
  }
}

template <class T>
void activate(Activation f, View<const T> x, View<T> y, int threads) {
  if constexpr (kIsFast<T>) {
    if (is_gated(f)) {
      return kernels::gated(row_activation(f), shape_of(y.shape()), x.data(), x.data() + y.size(1),
                            x.size(1), y.data(), threads);
    }
    kernels::activate(row_activation(f), x.data(), x.count(), y.data(), threads);
  } else {
    plain::activate(f, x, y);
  }
}

template <class T>
void activate_gradient(Activation f, View<const T> x, View<const T> dy, View<T> dx, int threads) {
  if constexpr (kIsFast<T>) {
    if (is_gated(f)) {
      const std::int64_t n = dy.size(1);
      return kernels::gated_backward(row_activation(f), shape_of(dy.shape()), dy.data(), x.data(),
                                     x.data() + n, x.size(1), dx.data(), dx.data() + n, threads);
    }
    kernels::activate_backward(row_activation(f), dy.data(), x.data(), x.count(), dx.data(),
                               threads);
  } else {
    plain::activate_gradient(f, x, dy, dx);
  }
}

template <class T>
void dropout(const T* residual, const T* x, T* y, std::int64_t rows, std::int64_t columns,
             double rate, RandomKey key, int threads) {
  if (!key.rows.empty()) {
    return each_range(key, rows, [&](std::int64_t first, std::int64_t n, std::int64_t place) {
      const std::int64_t at = first * columns;
      dropout<T>(residual != nullptr ? residual + at : nullptr, x + at, y + at, n, columns, rate,
                 {.seed = key.seed, .stream = key.stream, .first_row = place}, threads);
    });
  }
  const std::int64_t count = rows * columns;
  const kernels::RowDropout options{rate, key.seed, key.stream, key.first_row * columns};
  if constexpr (kIsFast<T>) {
    if (rate == 0 && residual != nullptr && residual != y && x == y) {
      return kernels::add_elements(residual, count, y, threads);
    }
    if (residual != nullptr) return kernels::add_dropout(options, residual, x, count, y, threads);
    return kernels::dropout(options, x, count, y, threads);
  } else {
    // The same elements as in float32.
    std::vector<float> factors(static_cast<std::size_t>(count), 1);
    kernels::dropout(options, factors.data(), count, factors.data(), threads);
    for (std::int64_t i = 0; i < count; ++i) {
      const bool stays = factors[static_cast<std::size_t>(i)] != 0;
      const T value = stays ? x[i] / static_cast<T>(1 - rate) : T{0};
      y[i] = residual != nullptr ? residual[i] + value : value;
    }
  }
}

template <class T>
void add(const T* x, T* y, std::int64_t count, int threads) {
  if constexpr (kIsFast<T>) {
    kernels::add_elements(x, count, y, threads);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] += x[i];
  }
}

template <class T>
LossSum cross_entropy(View<T> logits, const std::int64_t* targets, double smoothing, double scale,
                      bool want_gradient, int threads) {
  if constexpr (kIsFast<T>) {
    std::vector<kernels::TargetLoss> losses(static_cast<std::size_t>(logits.size(0)));
    if (want_gradient) {
      kernels::cross_entropy_backward(shape_of(logits.shape()), logits.data(), targets, smoothing,
                                      scale, losses.data(), threads);
    } else {
      kernels::cross_entropy(shape_of(logits.shape()), logits.data(), targets, smoothing,
                             losses.data(), threads);
    }
    LossSum sums;
    for (const kernels::TargetLoss& one : losses) {
      sums.loss += one.loss;
      sums.smoothed += one.smoothed;
      sums.tokens += one.counted ? 1 : 0;
      sums.correct += one.correct ? 1 : 0;
    }
    return sums;
  } else {
    return plain::cross_entropy(logits, targets, smoothing, scale, want_gradient);
  }
}

#define SEXTANT_OPS(T)                                                                           \
  template void linear(Rows<const T>, const WeightView<T>&, const T*, Rows<T>, int);             \
  template void linear_relu(View<const T>, const WeightView<T>&, const T*, View<T>, int);        \
  template void relu_linear_input_gradient(View<const T>, View<const T>, View<const T>, View<T>, \
                                           int);                                                 \
  template void linear_input_gradient(Rows<const T>, Rows<const T>, Rows<T>, bool, int);         \
  template void linear_weight_gradient(Rows<const T>, Rows<const T>, Rows<T>, T*, int);          \
  template void norm(View<const T>, const T*, const T*, double, bool, View<T>, View<T>, int);    \
  template void norm_gradient(View<const T>, View<const T>, const T*, bool, View<const T>,       \
                              View<T>, bool, T*, T*, int);                                       \
  template void activate(Activation, View<const T>, View<T>, int);                               \
  template void activate_gradient(Activation, View<const T>, View<const T>, View<T>, int);       \
  template void dropout(const T*, const T*, T*, std::int64_t, std::int64_t, double, RandomKey,   \
                        int);                                                                    \
  template void add(const T*, T*, std::int64_t, int);                                            \
  template LossSum cross_entropy(View<T>, const std::int64_t*, double, double, bool, int);
SEXTANT_OPS(float)
SEXTANT_OPS(double)
#undef SEXTANT_OPS

}  // namespace sextant::ops

// Provides the operations of layers: products, norms, activations, losses over contiguous rows.
// float32 uses the kernels; float64, for checks, uses plain loops. `T` is float or double; results
// do not depend on the threads.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/layers/activation.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/token_loss.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant::ops {

// Rows [rows, columns] at a distance of `stride`: part of a wider array.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0, stride = 0;

  Rows() = default;
  Rows(T* first, std::int64_t height, std::int64_t width, std::int64_t apart)
      : data(first), rows(height), columns(width), stride(apart) {}
  // Makes rows from a view of rank 2 whose rows are contiguous.
  Rows(View<T> x) : Rows(x.data(), x.size(0), x.size(1), x.stride(0)) {}  // NOLINT
  operator Rows<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }
  T* row(std::int64_t i) const { return data + i * stride; }
};

// y = x w^T + bias: x [rows, in], w [out, in], bias [out] or null, y [rows, out].
template <class T>
void linear(Rows<const T> x, const WeightView<T>& w, const T* bias, Rows<T> y, int threads);
// The same through ReLU, y = max(0, ..); contiguous.
template <class T>
void linear_relu(View<const T> x, const WeightView<T>& w, const T* bias, View<T> y, int threads);
// dx = dy w, or dx += dy w.
template <class T>
void linear_input_gradient(Rows<const T> dy, Rows<const T> w, Rows<T> dx, bool add, int threads);
// The gradient of a ReLU's input whose results x went on to y = x w^T: dx = (dy w) where x is above
// 0, else 0; contiguous.
template <class T>
void relu_linear_input_gradient(View<const T> dy, View<const T> w, View<const T> x, View<T> dx,
                                int threads);
// dw += dy^T x, dbias += column sums of dy (unless null).
template <class T>
void linear_weight_gradient(Rows<const T> x, Rows<const T> dy, Rows<T> dw, T* dbias, int threads);

// y = (x - mean) * scale * gain + bias per row, scale = 1 / sqrt(variance + epsilon) (Ba et al.
// 2016, 1607.06450); stats [2, rows] is set to means and scales. Without a bias (null) it is the
// RMS norm (Zhang and Sennrich 2019, 1910.07467): mean 0 and the mean square for the variance.
template <class T>
void norm(View<const T> x, const T* gain, const T* bias, double epsilon, bool rms, View<T> y,
          View<T> stats, int threads);
// dx (+)= the gradient; dgain, dbias (null: none) += theirs.
template <class T>
void norm_gradient(View<const T> x, View<const T> stats, const T* gain, bool rms, View<const T> dy,
                   View<T> dx, bool add, T* dgain, T* dbias, int threads);

// y = f(x) and dx = dy f'(x), which may be dy itself. Of gated ones x is [rows, 2 n], gate first,
// and y [rows, n].
template <class T>
void activate(Activation f, View<const T> x, View<T> y, int threads);
template <class T>
void activate_gradient(Activation f, View<const T> x, View<const T> dy, View<T> dx, int threads);

// y = residual + dropout(x), or dropout(x) alone where residual is null; all [rows, columns],
// contiguous; y may be x or residual. rate 0: nothing is dropped. The gradient is dropout(dy) with
// the same key.
template <class T>
void dropout(const T* residual, const T* x, T* y, std::int64_t rows, std::int64_t columns,
             double rate, RandomKey key, int threads);

// y += x, n elements.
template <class T>
void add(const T* x, T* y, std::int64_t count, int threads);

// Softmax cross entropy of rows of logits, in place: logits become scale times the gradient of the
// smoothed loss. targets [rows], negative: ignored. Target distribution: (1 - smoothing) on the
// target and smoothing / vocabulary on every token. Without want_gradient logits are left alone.
template <class T>
LossSum cross_entropy(View<T> logits, const std::int64_t* targets, double smoothing, double scale,
                      bool want_gradient, int threads);

}  // namespace sextant::ops

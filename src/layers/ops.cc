// Which way each operation goes: kernels for float32, plain loops for float64.
#include "layers/ops.h"

#include "kernels/matmul.h"
#include "layers/plain_ops.h"
#include "sextant/core/parallel.h"

namespace sextant::ops {
namespace {

template <class T>
void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, plain::Matrix<T> a,
             plain::Matrix<T> b, const T* bias, bool add, T* c, std::int64_t c_row, int threads) {
  if constexpr (std::is_same_v<T, float>) {
    matmul({rows, columns, depth}, {a.data, a.row_stride, a.column_stride},
           {b.data, b.row_stride, b.column_stride}, {c, c_row, bias, add}, threads);
  } else {
    plain::product(rows, columns, depth, a, b, bias, add, c, c_row, threads);
  }
}

}  // namespace

template <class T>
void linear(Rows<const T> x, Rows<const T> w, const T* bias, Rows<T> y, int threads) {
  product<T>(x.rows, w.rows, x.columns, {x.data, x.stride, 1}, {w.data, 1, w.stride}, bias, false,
             y.data, y.stride, threads);
}

template <class T>
void linear_input_gradient(Rows<const T> dy, Rows<const T> w, Rows<T> dx, bool add, int threads) {
  product<T>(dy.rows, w.columns, w.rows, {dy.data, dy.stride, 1}, {w.data, w.stride, 1}, nullptr,
             add, dx.data, dx.stride, threads);
}

template <class T>
void linear_weight_gradient(Rows<const T> x, Rows<const T> dy, Rows<T> dw, T* dbias, int threads) {
  product<T>(dy.columns, x.columns, x.rows, {dy.data, 1, dy.stride}, {x.data, x.stride, 1}, nullptr,
             true, dw.data, dw.stride, threads);
  for (std::int64_t i = 0; i < dy.rows && dbias != nullptr; ++i) {
    for (std::int64_t j = 0; j < dy.columns; ++j) dbias[j] += dy.row(i)[j];
  }
}

template <class T>
void norm(View<const T> x, const T* gain, const T* bias, double epsilon, bool rms, View<T> y,
          View<T> stats, int /*threads*/) {
  plain::norm(x, gain, bias, epsilon, rms, y, stats);
}

template <class T>
void norm_gradient(View<const T> x, View<const T> stats, const T* gain, bool rms, View<const T> dy,
                   View<T> dx, bool add, T* dgain, T* dbias, int /*threads*/) {
  plain::norm_gradient(x, stats, gain, rms, dy, dx, add, dgain, dbias);
}

template <class T>
void activate(Activation f, View<const T> x, View<T> y, int /*threads*/) {
  plain::activate(f, x, y);
}

template <class T>
void activate_gradient(Activation f, View<const T> x, View<const T> dy, View<T> dx,
                       int /*threads*/) {
  plain::activate_gradient(f, x, dy, dx);
}

namespace {

// A number in [0, 1) for (key, place): a mix of 64 bits (Steele et al. 2014, SplitMix64).
double uniform(RandomKey key, std::int64_t place) {
  std::uint64_t z = key.seed + 0x9E3779B97F4A7C15u * (static_cast<std::uint64_t>(place) + 1) +
                    (static_cast<std::uint64_t>(key.stream) << 40);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

template <class T>
void dropout(const T* residual, const T* x, T* y, std::int64_t count, double rate, RandomKey key,
             int /*threads*/) {
  const T factor = static_cast<T>(1 / (1 - rate));
  for (std::int64_t i = 0; i < count; ++i) {
    T value = x[i];
    if (rate > 0) value = uniform(key, i) < rate ? T{0} : value * factor;
    y[i] = residual != nullptr ? residual[i] + value : value;
  }
}

template <class T>
void add(const T* x, T* y, std::int64_t count, int /*threads*/) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += x[i];
}

template <class T>
void scale(T* x, std::int64_t count, double factor, int /*threads*/) {
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(static_cast<double>(x[i]) * factor);
}

template <class T>
CrossEntropySums cross_entropy(View<T> logits, const std::int64_t* targets, double smoothing,
                               double scale, bool want_gradient, int /*threads*/) {
  return plain::cross_entropy(logits, targets, smoothing, scale, want_gradient);
}

#define SEXTANT_OPS(T)                                                                        \
  template void linear(Rows<const T>, Rows<const T>, const T*, Rows<T>, int);                 \
  template void linear_input_gradient(Rows<const T>, Rows<const T>, Rows<T>, bool, int);      \
  template void linear_weight_gradient(Rows<const T>, Rows<const T>, Rows<T>, T*, int);       \
  template void norm(View<const T>, const T*, const T*, double, bool, View<T>, View<T>, int); \
  template void norm_gradient(View<const T>, View<const T>, const T*, bool, View<const T>,    \
                              View<T>, bool, T*, T*, int);                                    \
  template void activate(Activation, View<const T>, View<T>, int);                            \
  template void activate_gradient(Activation, View<const T>, View<const T>, View<T>, int);    \
  template void dropout(const T*, const T*, T*, std::int64_t, double, RandomKey, int);        \
  template void add(const T*, T*, std::int64_t, int);                                         \
  template void scale(T*, std::int64_t, double, int);                                         \
  template CrossEntropySums cross_entropy(View<T>, const std::int64_t*, double, double, bool, int);
SEXTANT_OPS(float)
SEXTANT_OPS(double)
#undef SEXTANT_OPS

}  // namespace sextant::ops

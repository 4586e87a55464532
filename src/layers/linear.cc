// Linear maps as plain loops; float32 weights are summed in float64 and rounded once.
#include "sextant/layers/linear.h"

#include <array>
#include <cmath>
#include <string>

#include "layers/ops.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// <a, b>, both contiguous. Eight running sums hide the latency of an addition; which product goes
// to which sum depends on `count` alone, so that equal rows give equal bits wherever they stand.
template <class T>
double dot(const T* a, const T* b, std::int64_t count) noexcept {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] +=
          static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    sums[lane] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

void check_sizes(std::int64_t in, std::int64_t out) {
  if (in < 1) throw Error("linear.in", "must be at least 1, got " + std::to_string(in));
  if (out < 1) throw Error("linear.out", "must be at least 1, got " + std::to_string(out));
}

}  // namespace

template <class T>
Linear<T> Linear<T>::random(std::int64_t in, std::int64_t out, FirstWeights weights,
                            bool with_bias) {
  check_sizes(in, out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const auto draw = [bound](NumpyRandom& random) { return (2 * random.uniform() - 1) * bound; };
  Linear linear;
  linear.weight = weights.matrix<T>({out, in}, draw);
  if (with_bias) linear.bias = weights.tensor<T>({out}, draw);
  return linear;
}

template <class T>
Tensor<T> Linear<T>::operator()(View<const T> x) const {
  if (weight.rank() != 2) {
    throw Error("linear.weight", "must be [out, in], got " + weight.shape().to_string());
  }
  const std::int64_t out = weight.size(0), in = weight.size(1);
  if (bias.count() != 0 && bias.shape() != Shape{out}) {
    throw Error("linear.bias",
                "must be [" + std::to_string(out) + "] or empty, got " + bias.shape().to_string());
  }
  if (x.rank() != 2 || x.size(1) != in) {
    throw Error("linear.x",
                "must be [rows, " + std::to_string(in) + "], got " + x.shape().to_string());
  }
  const std::int64_t rows = x.size(0);
  const Tensor<T> packed = x.is_contiguous() ? Tensor<T>() : copy_of(x);
  const T* source = x.is_contiguous() ? x.data() : packed.data();
  auto y = Tensor<T>::uninitialized({rows, out});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < out; ++column) {
      const double offset = bias.count() == 0 ? 0 : static_cast<double>(bias(column));
      y(row, column) =
          static_cast<T>(dot(source + row * in, weight.data() + column * in, in) + offset);
    }
  }
  return y;
}

template <class T>
Linear<T> Linear<T>::glorot(std::int64_t in, std::int64_t out, FirstWeights weights, bool with_bias,
                            double gain) {
  check_sizes(in, out);
  const double least = 1 / std::sqrt(static_cast<double>(in));
  const double bound = gain * std::sqrt(6 / static_cast<double>(in + out));
  const double from = std::sqrt(static_cast<double>(in)) * bound;
  Linear linear;
  linear.weight = weights.matrix<T>({out, in}, [=](NumpyRandom& random) {
    // Rounded to T twice, so that a seed gives the weights that it always gave.
    const T value = static_cast<T>((2 * random.uniform() - 1) * least);
    return static_cast<double>(value) * from;
  });
  if (with_bias) linear.bias = Tensor<T>({out});
  return linear;
}

template <class T>
void Linear<T>::forward(View<const T> x, View<T> y, const Pass& pass) const {
  ops::linear<T>(x, weight.weights(), bias.data(), y, pass.threads);
}

template <class T>
void Linear<T>::backward(View<const T> x, View<const T> dy, View<T> dx, Linear& gradient,
                         const Pass& pass) const {
  ops::linear_weight_gradient<T>(x, dy, gradient.weight.view(), gradient.bias.data(), pass.threads);
  if (dx.count() > 0) {
    ops::linear_input_gradient<T>(dy, weight.view(), dx, false, pass.threads);
  }
}

template <class T>
void Linear<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  to.push_back({prefix + "weight", &weight, true});
  if (bias.count() > 0) to.push_back({prefix + "bias", &bias, false});
}

template struct Linear<float>;
template struct Linear<double>;

}  // namespace sextant

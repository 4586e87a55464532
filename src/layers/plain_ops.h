// Implements the float64 side of ops.h: plain loops, one line of mathematics each. float32 uses
// them too if there is no kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "layers/ops.h"
#include "sextant/core/parallel.h"

namespace sextant::ops::plain {

// c(i, j) = start + sum of a(i, k) b(k, j) in the order of k.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t row_stride, column_stride;
};

template <class T>
void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Matrix<T> a, Matrix<T> b,
             const T* bias, bool add, T* c, std::int64_t c_row, int threads) {
  parallel_for(rows, threads, [&](std::int64_t i) {
    T* out = c + i * c_row;
    for (std::int64_t j = 0; j < columns && !add; ++j) out[j] = bias != nullptr ? bias[j] : T{0};
    for (std::int64_t k = 0; k < depth; ++k) {
      const T factor = a.data[i * a.row_stride + k * a.column_stride];
      for (std::int64_t j = 0; j < columns; ++j) {
        out[j] += factor * b.data[k * b.row_stride + j * b.column_stride];
      }
    }
  });
}

template <class T>
void norm(View<const T> x, const T* gain, const T* bias, double epsilon, bool rms, View<T> y,
          View<T> stats) {
  const std::int64_t width = x.size(1);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const T* from = x.data() + i * width;
    T* to = y.data() + i * width;
    double mean = 0, square = 0;
    for (std::int64_t j = 0; j < width && !rms; ++j) mean += static_cast<double>(from[j]);
    mean /= static_cast<double>(width);
    for (std::int64_t j = 0; j < width; ++j) {
      square += (static_cast<double>(from[j]) - mean) * (static_cast<double>(from[j]) - mean);
    }
    const double scale = 1 / std::sqrt(square / static_cast<double>(width) + epsilon);
    for (std::int64_t j = 0; j < width; ++j) {
      const double normal = (static_cast<double>(from[j]) - mean) * scale;
      to[j] = static_cast<T>(normal * static_cast<double>(gain[j]) +
                             (bias != nullptr ? static_cast<double>(bias[j]) : 0));
    }
    stats(0, i) = static_cast<T>(mean);
    stats(1, i) = static_cast<T>(scale);
  }
}

// With n = (x - mean) scale and g = dy gain: dx = scale (g - mean(g) - n mean(g n)); the RMS norm
// has no mean(g).
template <class T>
void norm_gradient(View<const T> x, View<const T> stats, const T* gain, bool rms, View<const T> dy,
                   View<T> dx, bool add, T* dgain, T* dbias) {
  const std::int64_t width = x.size(1);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const T *from = x.data() + i * width, *d = dy.data() + i * width;
    T* to = dx.data() + i * width;
    const auto mean = static_cast<double>(stats(0, i)), scale = static_cast<double>(stats(1, i));
    double sum = 0, sum_normal = 0;
    for (std::int64_t j = 0; j < width; ++j) {
      const double normal = (static_cast<double>(from[j]) - mean) * scale;
      const double g = static_cast<double>(d[j]) * static_cast<double>(gain[j]);
      sum += g;
      sum_normal += g * normal;
      dgain[j] += static_cast<T>(static_cast<double>(d[j]) * normal);
      if (dbias != nullptr) dbias[j] += d[j];
    }
    const double mean_g = rms ? 0 : sum / static_cast<double>(width);
    for (std::int64_t j = 0; j < width; ++j) {
      const double normal = (static_cast<double>(from[j]) - mean) * scale;
      const double g = static_cast<double>(d[j]) * static_cast<double>(gain[j]);
      const double value = scale * (g - mean_g - normal * sum_normal / static_cast<double>(width));
      to[j] = static_cast<T>(value + (add ? static_cast<double>(to[j]) : 0));
    }
  }
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// f(x) and f'(x) of functions of one number.
inline double value(Activation f, double x) {
  switch (function_of(f)) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh:
      return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
    default:
      return x * sigmoid(x);
  }
}
inline double slope(Activation f, double x) {
  switch (function_of(f)) {
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::gelu:
      return std::erfc(-x / std::numbers::sqrt2) / 2 +
             x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    case Activation::gelu_tanh: {
      const double factor = 2 * std::sqrt(2 / std::numbers::pi);
      const double s = sigmoid(factor * (x + 0.044715 * x * x * x));
      return s + x * s * (1 - s) * factor * (1 + 3 * 0.044715 * x * x);
    }
    default: {
      const double s = sigmoid(x);
      return s + x * s * (1 - s);
    }
  }
}

template <class T>
void activate(Activation f, View<const T> x, View<T> y) {
  if (!is_gated(f)) {
    for (std::int64_t i = 0; i < x.count(); ++i) {
      y.data()[i] = static_cast<T>(value(f, static_cast<double>(x.data()[i])));
    }
    return;
  }
  const std::int64_t n = y.size(1);
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      y(i, j) =
          static_cast<T>(value(f, static_cast<double>(x(i, j))) * static_cast<double>(x(i, n + j)));
    }
  }
}

template <class T>
void activate_gradient(Activation f, View<const T> x, View<const T> dy, View<T> dx) {
  if (!is_gated(f)) {
    for (std::int64_t i = 0; i < x.count(); ++i) {
      dx.data()[i] = static_cast<T>(static_cast<double>(dy.data()[i]) *
                                    slope(f, static_cast<double>(x.data()[i])));
    }
    return;
  }
  const std::int64_t n = dy.size(1);
  for (std::int64_t i = 0; i < dy.size(0); ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto gate = static_cast<double>(x(i, j)), up = static_cast<double>(x(i, n + j));
      const auto d = static_cast<double>(dy(i, j));
      dx(i, j) = static_cast<T>(d * up * slope(f, gate));
      dx(i, n + j) = static_cast<T>(d * value(f, gate));
    }
  }
}

// The denominator of a softmax of `count` logits, one or more.
struct ExpSum {
  double largest;  // of the logits
  double sum;      // of e^(logit - largest)

  double log() const { return largest + std::log(sum); }
};
template <class T>
ExpSum exp_sum(const T* logits, std::int64_t count) {
  ExpSum result{static_cast<double>(*std::max_element(logits, logits + count)), 0};
  for (std::int64_t i = 0; i < count; ++i) {
    result.sum += std::exp(static_cast<double>(logits[i]) - result.largest);
  }
  return result;
}

template <class T>
LossSum cross_entropy(View<T> logits, const std::int64_t* targets, double smoothing, double scale,
                      bool want_gradient) {
  LossSum sums;
  const std::int64_t vocabulary = logits.size(1);
  const double share = smoothing / static_cast<double>(vocabulary);
  for (std::int64_t i = 0; i < logits.size(0); ++i) {
    T* row = logits.data() + i * vocabulary;
    if (targets[i] < 0) {
      for (std::int64_t j = 0; j < vocabulary && want_gradient; ++j) row[j] = T{0};
      continue;
    }
    const std::int64_t best = std::max_element(row, row + vocabulary) - row;
    const double log_total = exp_sum(row, vocabulary).log();
    double sum = 0;
    for (std::int64_t j = 0; j < vocabulary; ++j) sum += static_cast<double>(row[j]);
    const double loss = log_total - static_cast<double>(row[targets[i]]);
    sums.loss += loss;
    sums.smoothed +=
        (1 - smoothing) * loss + smoothing * (log_total - sum / static_cast<double>(vocabulary));
    sums.tokens += 1;
    sums.correct += best == targets[i] ? 1 : 0;
    for (std::int64_t j = 0; j < vocabulary && want_gradient; ++j) {
      const double wanted = share + (j == targets[i] ? 1 - smoothing : 0);
      row[j] = static_cast<T>(scale * (std::exp(static_cast<double>(row[j]) - log_total) - wanted));
    }
  }
  return sums;
}

}  // namespace sextant::ops::plain

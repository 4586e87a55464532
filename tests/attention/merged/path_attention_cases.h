// PaTH attention by the paper's product in float64: a key goes through one Householder matrix after
// the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attention/merged/self_extend_cases.h"
#include "sextant/attention/path_attention.h"

namespace sextant::path_attention_test {

using self_extend_test::random_array;

constexpr std::int64_t kBatch = 2, kHeads = 4, kKvHeads = 2, kDim = 8, kValueDim = 5;
constexpr std::int64_t kBlock = 64;  // tokens of a block of the operator
constexpr double kSinks[] = {0.5, -1, 2, 0};

// Rows of length 1.
inline Tensor<float> unit_rows(Tensor<float> x) {
  const std::int64_t width = x.size(3);
  for (std::int64_t n = 0; n < x.count(); n += width) {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += std::pow(double{x.data()[n + c]}, 2);
    for (std::int64_t c = 0; c < width; ++c) x.data()[n + c] /= static_cast<float>(std::sqrt(sum));
  }
  return x;
}

struct PathCase {
  std::int64_t length;
  Tensor<float> q, k, v, dout, w, beta;
  AttentionOptions<float> options{.causal = Causal::top_left};

  explicit PathCase(std::int64_t rows)
      : length(rows),
        q(random_array({kBatch, kHeads, rows, kDim}, 1)),
        k(random_array({kBatch, kKvHeads, rows, kDim}, 2)),
        v(random_array({kBatch, kKvHeads, rows, kValueDim}, 3)),
        dout(random_array({kBatch, kHeads, rows, kValueDim}, 4)),
        w(unit_rows(random_array({kBatch, kKvHeads, rows, kDim}, 5))),
        beta(random_array({kBatch, kKvHeads, rows}, 6)) {
    for (float& b : beta.span()) b = 2 / (1 + std::exp(-b));
  }

  PathAttention path() const { return {.w = w, .beta = beta}; }
  Tensor<float> result(View<float> logs = {}) const {
    Tensor<float> out({kBatch, kHeads, length, kValueDim});
    path_attention(q, k, v, out.view(), path(), options, logs);
    return out;
  }
};

inline Tensor<double> wide(const Tensor<float>& x) {
  Tensor<double> y(x.shape());
  std::copy_n(x.data(), x.count(), y.data());
  return y;
}

inline double largest(const Tensor<double>& x) {
  double most = 0;
  for (const double value : x.span()) most = std::max(most, std::abs(value));
  return most;
}

// The arrays in float64, and what they give.
struct Definition {
  Tensor<double> q, k, v, w, beta, sinks{{kHeads}};
  double scale = 1 / std::sqrt(double{kDim});
  bool has_sinks = false;

  explicit Definition(const PathCase& c)
      : q(wide(c.q)), k(wide(c.k)), v(wide(c.v)), w(wide(c.w)), beta(wide(c.beta)) {
    scale = c.options.scale.value_or(scale);
    has_sinks = !c.options.sinks.empty();
    for (std::int64_t h = 0; has_sinks && h < kHeads; ++h) {
      sinks(h) = c.options.sinks[static_cast<std::size_t>(h)];
    }
  }

  // Row i has the keys H_i .. H_{j+1} k_j: those of the row before through H_i, and its own.
  // Of one batch row and key head, or of all.
  void attend(Tensor<double>& out, Tensor<double>& logs, std::int64_t slice = -1) const {
    const std::int64_t length = q.size(2), group = kHeads / kKvHeads;
    out = Tensor<double>({kBatch, kHeads, length, kValueDim});
    logs = Tensor<double>({kBatch, kHeads, length});
    for (std::int64_t n = 0; n < kBatch * kKvHeads; ++n) {
      if (slice >= 0 && n != slice) continue;
      const std::int64_t b = n / kKvHeads, kv = n % kKvHeads;
      Tensor<double> seen({length, kDim});
      for (std::int64_t i = 0; i < length; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
          double product = 0;
          for (std::int64_t c = 0; c < kDim; ++c) product += w(b, kv, i, c) * seen(j, c);
          for (std::int64_t c = 0; c < kDim; ++c) {
            seen(j, c) -= beta(b, kv, i) * product * w(b, kv, i, c);
          }
        }
        for (std::int64_t c = 0; c < kDim; ++c) seen(i, c) = k(b, kv, i, c);
        for (std::int64_t h = kv * group; h < (kv + 1) * group; ++h)
          attend_row(b, h, i, seen, out, logs);
      }
    }
  }

  // The sum of out dout, whose differences are gradients.
  double loss(const Tensor<double>& dout, std::int64_t slice = -1) const {
    Tensor<double> out, logs;
    attend(out, logs, slice);
    double sum = 0;
    for (std::int64_t n = 0; n < out.count(); ++n) sum += out.data()[n] * dout.data()[n];
    return sum;
  }

  // What float32 may be off by in a score. Reflections do not lengthen a row x, and each rounds its
  // 2 dim + 4 operations by 2^-24 |x|; roundings of random signs add up to the square root of their
  // number. 4 times that. Weights are off by twice as much, relative; so are sums of values,
  // relative to the largest, and gradients of scores, which have two such factors, by four times.
  double error_of_scores() const {
    const auto roundings = static_cast<double>(q.size(2) * (2 * kDim + 4));
    return 4 * 0x1p-24 * std::sqrt(roundings) * largest_score();
  }

  // No score is larger: lengths of rows.
  double largest_score() const {
    const auto longest = [](const Tensor<double>& x) {
      double most = 0;
      for (std::int64_t n = 0; n < x.count(); n += kDim) {
        double sum = 0;
        for (std::int64_t c = 0; c < kDim; ++c) sum += x.data()[n + c] * x.data()[n + c];
        most = std::max(most, std::sqrt(sum));
      }
      return most;
    };
    return scale * longest(q) * longest(k);
  }

 private:
  void attend_row(std::int64_t b, std::int64_t h, std::int64_t i, const Tensor<double>& seen,
                  Tensor<double>& out, Tensor<double>& logs) const {
    std::vector<double> scores(static_cast<std::size_t>(i + 1));
    double most = has_sinks ? sinks(h) : -1e300;
    for (std::int64_t j = 0; j <= i; ++j) {
      double& score = scores[static_cast<std::size_t>(j)];
      for (std::int64_t c = 0; c < kDim; ++c) score += scale * q(b, h, i, c) * seen(j, c);
      most = std::max(most, score);
    }
    double sum = has_sinks ? std::exp(sinks(h) - most) : 0;
    for (double& score : scores) sum += score = std::exp(score - most);
    logs(b, h, i) = most + std::log(sum);
    for (std::int64_t j = 0; j <= i; ++j) {
      const double weight = scores[static_cast<std::size_t>(j)] / sum;
      for (std::int64_t c = 0; c < kValueDim; ++c) {
        out(b, h, i, c) += weight * v(b, h / (kHeads / kKvHeads), j, c);
      }
    }
  }
};

}  // namespace sextant::path_attention_test

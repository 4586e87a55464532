// Merged calls by their definition: every pair's distance, a rotation by that distance in float64,
// one softmax; and its gradients from those of the scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "reference/attention.h"
#include "reference/attention_backward.h"
#include "sextant/attention/self_extend.h"
#include "sextant/core/random.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::self_extend_test {

constexpr std::int64_t kDim = 8, kValueDim = 5, kRows = 64;
constexpr double kBase = 100;

inline const RotationTable<float>& table() {
  static const RotationTable<float> made = rotary<float>({.head_dim = kDim, .base = kBase}, kRows);
  return made;
}

inline Tensor<float> random_array(const Shape& shape, std::uint32_t seed, double size = 1) {
  NumpyRandom random(seed);
  Tensor<float> x(shape);
  for (float& value : x.span()) value = static_cast<float>(size * random.normal());
  return x;
}

// A call in float32 and the same by the definition.
struct Case {
  std::int64_t q_len = 40, k_len = 40;
  SelfExtend extend{.window = 8, .group = 3};
  std::vector<std::int64_t> offsets{0, 0};  // the position of query 0 of both batch rows
  double size = 1;                          // of queries
  AttentionOptions<float> options{.causal = Causal::top_left};
  // The distance of a query and a key by their positions; empty: Self-Extend's.
  std::function<std::int64_t(std::int64_t, std::int64_t)> distances{};
  Tensor<float> q{}, k{}, v{};

  void make() {
    q = random_array({2, 4, q_len, kDim}, 1, size);
    k = random_array({2, 2, k_len, kDim}, 2);
    v = random_array({2, 2, k_len, kValueDim}, 3);
    options.rotation = &table();
  }
};

// The paper's relative position, its equations 3 and 4.
inline std::int64_t distance(const SelfExtend& extend, std::int64_t i, std::int64_t j) {
  if (i - j < extend.window) return i - j;
  return i / extend.group - j / extend.group + extend.window - extend.window / extend.group;
}

inline std::int64_t distance(const Case& call, std::int64_t b, std::int64_t i, std::int64_t j) {
  const std::int64_t position = i + call.offsets[static_cast<std::size_t>(b)];
  return call.distances ? call.distances(position, j) : distance(call.extend, position, j);
}

// cos and sin of the distance for pair c of kDim channels.
struct Turn {
  double cos, sin;
};
inline Turn turn(std::int64_t distance, std::int64_t c) {
  const double angle = static_cast<double>(distance) *
                       std::pow(kBase, -2 * static_cast<double>(c) / static_cast<double>(kDim));
  return {std::cos(angle), std::sin(angle)};
}

inline double score(const Case& call, std::int64_t b, std::int64_t h, std::int64_t i,
                    std::int64_t j) {
  const std::int64_t of = distance(call, b, i, j);
  double sum = 0;
  for (std::int64_t c = 0; c < kDim / 2; ++c) {
    const auto [cos, sin] = turn(of, c);
    const double q1 = call.q(b, h, i, c), q2 = call.q(b, h, i, c + kDim / 2);
    const double k1 = call.k(b, h / 2, j, c), k2 = call.k(b, h / 2, j, c + kDim / 2);
    sum += (q1 * k1 + q2 * k2) * cos + (q1 * k2 - q2 * k1) * sin;
  }
  return sum / std::sqrt(static_cast<double>(kDim));
}

inline Tensor<double> wide(const Tensor<float>& x) {
  Tensor<double> to(x.shape());
  std::copy(x.span().begin(), x.span().end(), to.data());
  return to;
}

inline constexpr auto kNothing = [](std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  return false;
};

// `hidden` says which pairs a mask hides; causal and key_lengths are applied here. Scores are what
// is added to products of zeros.
template <class Hidden>
reference::Attention defined(const Case& call, const Hidden& hidden) {
  reference::Attention all{.q = Tensor<double>(call.q.shape()),
                           .k = Tensor<double>(call.k.shape()),
                           .v = wide(call.v),
                           .sees = {},
                           .added = {},
                           .kept = {}};
  all.sees = [&call, hidden](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    const auto row = static_cast<std::size_t>(b);
    if (!call.options.key_lengths.empty() && j >= call.options.key_lengths[row]) return false;
    return j <= i + call.offsets[row] && !hidden(b, h, i, j);
  };
  all.added = [&call](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return score(call, b, h, i, j);
  };
  return all;
}

// The gradients of q and k from those of the scores, `of_scores` [batch, heads_q, q_len, k_len].
inline std::pair<Tensor<double>, Tensor<double>> of_queries_and_keys(
    const Case& call, const Tensor<double>& of_scores) {
  Tensor<double> dq(call.q.shape()), dk(call.k.shape());
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t i = 0; i < call.q_len; ++i) {
        for (std::int64_t j = 0; j < call.k_len; ++j) {
          const double ds = of_scores(b, h, i, j) / std::sqrt(static_cast<double>(kDim));
          if (ds == 0) continue;
          const std::int64_t of = distance(call, b, i, j);
          for (std::int64_t c = 0; c < kDim / 2; ++c) {
            const std::int64_t d = c + kDim / 2;
            const auto [cos, sin] = turn(of, c);
            const double q1 = call.q(b, h, i, c), q2 = call.q(b, h, i, d);
            const double k1 = call.k(b, h / 2, j, c), k2 = call.k(b, h / 2, j, d);
            dq(b, h, i, c) += ds * (k1 * cos + k2 * sin);
            dq(b, h, i, d) += ds * (k2 * cos - k1 * sin);
            dk(b, h / 2, j, c) += ds * (q1 * cos - q2 * sin);
            dk(b, h / 2, j, d) += ds * (q2 * cos + q1 * sin);
          }
        }
      }
    }
  }
  return {std::move(dq), std::move(dk)};
}

// The largest sum of magnitudes of the products of a score.
inline double magnitude(const Case& call) {
  double found = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t i = 0; i < call.q_len; ++i) {
        for (std::int64_t j = 0; j < call.k_len; ++j) {
          double sum = 0;
          for (std::int64_t c = 0; c < kDim / 2; ++c) {
            const std::int64_t d = c + kDim / 2;
            sum += (std::fabs(call.q(b, h, i, c)) + std::fabs(call.q(b, h, i, d))) *
                   (std::fabs(call.k(b, h / 2, j, c)) + std::fabs(call.k(b, h / 2, j, d)));
          }
          found = std::max(found, sum / std::sqrt(static_cast<double>(kDim)));
        }
      }
    }
  }
  return found;
}

// What float32 may be off by, relative to the largest value of an output. A score is a sum of kDim
// products, of rotations that are rounded twice; a weight moves by twice the error of scores, sums
// by one rounding per key, and merged rows by the rounding of both log-sum-exps, which are below
// the magnitude of scores and ln(keys + 1), and two more.
inline double relative_error(const Case& call) {
  const double scores = magnitude(call), keys = static_cast<double>(call.k_len);
  return 0x1p-24 * (2 * (kDim + 4) * scores + 2 * (scores + std::log(keys + 1)) + keys + 8);
}

inline double largest(const Tensor<double>& x) {
  double found = 0;
  for (const double value : x.span()) found = std::max(found, std::fabs(value));
  return found;
}

}  // namespace sextant::self_extend_test

// Attention of rows with many keys, for tests of what many additions round: what a call gets and
// what is exact, in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"

namespace sextant {

// How far a result may be from the exact one, as a share of the sum of its terms' sizes: a sum over
// keys rounds by at most 160 units of 2^-24, over 2^20 queries by 320 (docs/attention-kernel.md
// counts them), and an output is the quotient of two sums over keys.
constexpr double kLongError = 2e-5;

// What the weights of a row look like.
enum class Row { flat, rising, peaked, noisy };
constexpr Row kRows[] = {Row::flat, Row::rising, Row::peaked, Row::noisy};
inline const char* name_of(Row row) {
  constexpr const char* kNames[] = {"flat", "rising", "peaked", "noisy"};
  return kNames[static_cast<int>(row)];
}

// Inputs of one head, width 16. Flat: key 0 is a little above all others, which are equal, so that
// every addition rounds alike. Rising: each key is a little above the one before. Peaked: a few
// keys far above the others. Noisy: random scores.
struct LongRows {
  static constexpr std::int64_t kWidth = 16;

  LongRows(Row row, std::int64_t queries, std::int64_t keys)
      : q(Shape{1, 1, queries, kWidth}),
        k(Shape{1, 1, keys, kWidth}),
        v(Shape{1, 1, keys, kWidth}),
        dout(Shape{1, 1, queries, kWidth}) {
    NumpyRandom random(1);
    for (float& x : v.span()) x = static_cast<float>(1 + random.normal());
    for (float& x : dout.span()) x = static_cast<float>(1 + random.normal());
    for (std::int64_t i = 0; i < q.count(); ++i) {
      q.data()[i] = row == Row::noisy ? static_cast<float>(random.normal()) : 1.4269F;
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      const bool peak = row == Row::peaked && j % 100003 == 17;
      k(0, 0, j, 0) = j == 0 ? 1.0F : peak ? 40.0F + static_cast<float>(j % 7) : 0.0F;
      if (row == Row::rising) {
        k(0, 0, j, 0) =
            static_cast<float>(30.0 * static_cast<double>(j) / static_cast<double>(keys));
      }
      for (std::int64_t c = 0; c < kWidth && row == Row::noisy; ++c) {
        k(0, 0, j, c) = static_cast<float>(random.normal());
      }
    }
  }

  Tensor<float> q, k, v, dout;
};

// The weights of one query's keys [0, keys), and their log-sum-exp with the sink.
struct ExactRow {
  std::vector<double> weights;
  double log_sum_exp;

  ExactRow(const LongRows& in, std::int64_t query, std::int64_t keys, double sink)
      : weights(static_cast<std::size_t>(keys)) {
    double most = sink;
    for (std::int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < LongRows::kWidth; ++c) {
        score += static_cast<double>(in.q(0, 0, query, c)) * static_cast<double>(in.k(0, 0, j, c));
      }
      weights[static_cast<std::size_t>(j)] = score / 4;
      most = std::max(most, score / 4);
    }
    double sum = std::exp(sink - most);
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (double& weight : weights) weight /= sum;
    log_sum_exp = most + std::log(sum);
  }
};

constexpr double kNoSink = -std::numeric_limits<double>::infinity();

}  // namespace sextant

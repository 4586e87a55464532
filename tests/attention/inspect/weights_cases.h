// Random calls of what shows weights, every option among them, with the float64 oracle's answer and
// how far from it rounding may lead.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "core/arrays/converted.h"
#include "reference/attention.h"
#include "sextant/attention/attention.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Depends on everything it is told.
class StripedBias final : public ScoreTerm {
 public:
  static float at(std::int64_t sequence, std::int64_t head, std::int64_t query, std::int64_t key) {
    const std::int64_t n = 7 * query + 3 * key + head + 5 * sequence;
    return n % 11 == 0 ? -std::numeric_limits<float>::infinity()
                       : 0.125F * static_cast<float>(n % 19);
  }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i)
      for (std::int64_t j = 0; j < tile.keys; ++j)
        tile.add(i, j, at(tile.sequence, tile.head, tile.first_query + i, tile.first_key + j));
  }
};

// What rounds: half a unit in the last place of the arithmetic, and of what is stored.
template <class T>
inline constexpr double kUnit = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
template <class T>
inline constexpr double kStored = std::is_same_v<T, float16>    ? 0x1p-11
                                  : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                                : kUnit<T>;
template <class T>
inline constexpr double kTiniest = std::is_same_v<T, float16> ? 0x1p-24 : 0x1p-126;

template <class T>
class LookCall {
 public:
  explicit LookCall(std::uint32_t seed) : random_(seed) {
    NumpyRandom& random = random_;
    const bool packed = chance(random, 0.3);
    batch = pick(random, 1, 2);
    heads = heads_k_ * pick(random, 1, 2);
    q_len = pick(random, 1, 150);
    k_len = packed ? q_len : pick(random, 1, 300);
    const std::int64_t head_dim = 2 * pick(random, 1, 12);
    const double magnitude = chance(random, 0.3) ? 6 : 1;
    const auto draw = [&] { return magnitude * random.normal(); };
    q = strided<T>(Shape{batch, heads, q_len, head_dim}, random, true, draw);
    k = strided<T>(Shape{batch, heads_k_, k_len, head_dim}, random, true, draw);
    if (packed) {
      segments_ = {0};
      while (segments_.back() < q_len) {
        segments_.push_back(std::min(q_len, segments_.back() + pick(random, 0, 90)));
      }
      options.segments = segments_;
    }
    choose_alignment(packed);
    choose_biases();
    if (chance(random, 0.3)) options.softcap = 0.5 + 20 * random.uniform();
    if (chance(random, 0.5)) options.scale = random.normal();
    if (chance(random, 0.3) && offset_ >= 0 && offsets_.empty()) {
      rotation_ = rotary<float>({.head_dim = head_dim}, std::max(k_len, q_len + offset_));
      rotation_.layout = chance(random, 0.5) ? RotaryLayout::interleaved : RotaryLayout::half_split;
      options.rotation = &rotation_;
    }
    options.threads = static_cast<int>(pick(random, 1, 3));
    ask_the_oracle();
  }
  LookCall(const LookCall&) = delete;
  LookCall& operator=(const LookCall&) = delete;

  Tensor<T> weights(Stage stage) const {
    return attention_weights<T>(q.view, k.view, options, {.stage = stage});
  }
  // Scores are off by one rounding per product and some more for rotation (each rotated number by
  // three of both of its pair), scale, softcap (12), bias and the unit, all of the sum of
  // magnitudes; here and, much less, in the oracle.
  double score_error() const {
    return 2 * (static_cast<double>(q.dense.size(3)) + 20) * kUnit<T> * largest_;
  }
  // Of a weight, relative: its own score's and all others', a rounding per key in the sum, and 2^x.
  double weight_error() const {
    return 2 * score_error() + 4 * (static_cast<double>(k_len) + 10) * kUnit<T>;
  }
  // Whether scores of a pair are shown before masks.
  bool shows(std::int64_t i, std::int64_t j) const { return begin_of(i) == begin_of(j); }

  std::int64_t batch = 0, heads = 0, q_len = 0, k_len = 0;
  Strided<T> q, k;
  AttentionOptions<T> options;
  reference::AttentionResult truth;
  Tensor<double> entropy, log_sum_exp;  // [batch, heads, q_len]

 private:
  void choose_alignment(bool packed) {
    NumpyRandom& random = random_;
    if (chance(random, 0.4)) options.window.left = pick(random, 0, 150);
    if (chance(random, 0.3)) options.window.right = pick(random, 0, 60);
    options.causal = static_cast<Causal>(pick(random, 0, packed ? 2 : 3));
    if (options.causal == Causal::bottom_right) offset_ = k_len - q_len;
    if (options.causal == Causal::at_offsets) {
      for (std::int64_t b = 0; b < batch; ++b) offsets_.push_back(pick(random, -20, k_len));
      options.query_offsets = offsets_;
    }
    if (!packed && chance(random, 0.4)) {
      for (std::int64_t b = 0; b < batch; ++b) lengths_.push_back(pick(random, 0, k_len));
      options.key_lengths = lengths_;
      if (offsets_.empty() && chance(random, 0.4)) {
        options.causal = Causal::at_lengths;
        for (const std::int64_t length : lengths_) offsets_.push_back(length - q_len);
      }
    }
  }

  void choose_biases() {
    NumpyRandom& random = random_;
    // Some axes of size 1, the first ones sometimes left out.
    std::vector<std::int64_t> sizes;
    const std::int64_t whole[] = {batch, heads, q_len, k_len};
    for (std::int64_t axis = pick(random, 0, 3); axis < 4; ++axis)
      sizes.push_back(chance(random, 0.4) ? 1 : whole[axis]);
    const std::int64_t kind = pick(random, 0, 2);
    if (kind == 1) {
      bool_mask_ = strided<bool>(Shape(sizes), random, true, [&] { return chance(random, 0.8); });
      options.mask = bool_mask_.view;
    } else if (kind == 2) {
      float_mask_ = strided<Mask>(Shape(sizes), random, true, [&] {
        return chance(random, 0.2) ? -kInfinity : 3 * random.normal();
      });
      options.mask = float_mask_.view;
    }
    if (chance(random, 0.4)) {  // more distances than any of these shapes has
      bias_.values = Tensor<float>(Shape{chance(random, 0.5) ? 1 : heads, 1401});
      bias_.origin = 700;
      for (float& value : bias_.values.span())
        value = static_cast<float>(chance(random, 0.1) ? -kInfinity : random.normal());
      options.bias = &bias_;
    }
    if (chance(random, 0.3)) {
      for (std::int64_t h = 0; h < heads; ++h)
        bias_.slopes.push_back(chance(random, 0.3) ? 0 : random.uniform());
      options.bias = &bias_;
    }
    if (chance(random, 0.25)) options.terms = {&striped_};
    if (chance(random, 0.3)) {
      for (std::int64_t h = 0; h < heads; ++h)
        sinks_.push_back(chance(random, 0.2) ? -kInfinity : 3 * random.normal());
      options.sinks = sinks_;
    }
  }

  // Segments: where that of a position starts, and its number.
  std::int64_t segment_of(std::int64_t i) const {
    if (segments_.empty()) return 0;
    return std::upper_bound(segments_.begin(), segments_.end(), i) - segments_.begin() - 1;
  }
  std::int64_t begin_of(std::int64_t i) const {
    return segments_.empty() ? 0 : segments_[static_cast<std::size_t>(segment_of(i))];
  }
  std::int64_t distance(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return j - i - (offsets_.empty() ? offset_ : offsets_[static_cast<std::size_t>(b)]);
  }
  template <class M>
  static M at(const Tensor<M>& mask, const std::int64_t (&pair)[4]) {
    std::int64_t n = 0;
    for (int axis = 0; axis < mask.rank(); ++axis)
      n = n * mask.size(axis) + (mask.size(axis) == 1 ? 0 : pair[4 - mask.rank() + axis]);
    return mask.data()[n];
  }

  bool sees(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    const std::int64_t right = distance(b, i, j);
    const Window& window = options.window;
    if (!shows(i, j) || (options.causal != Causal::none && right > 0)) return false;
    if (window.left >= 0 && right < -window.left) return false;
    if (window.right >= 0 && right > window.right) return false;
    if (!lengths_.empty() && j >= lengths_[static_cast<std::size_t>(b)]) return false;
    return bool_mask_.dense.rank() < 1 || bool_mask_.dense.count() == 0 ||
           at(bool_mask_.dense, {b, h, i, j});
  }
  double added(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (!shows(i, j)) return -kInfinity;
    double sum = 0;
    const std::int64_t right = distance(b, i, j);
    if (float_mask_.dense.count() > 0)
      sum += static_cast<double>(at(float_mask_.dense, {b, h, i, j}));
    if (bias_.values.count() > 0 && std::abs(right) <= 700)
      sum += static_cast<double>(bias_.values(bias_.values.size(0) == 1 ? 0 : h, right + 700));
    if (!bias_.slopes.empty())
      sum -= bias_.slopes[static_cast<std::size_t>(h)] * std::abs(static_cast<double>(right));
    if (!options.terms.empty()) {
      const auto count = static_cast<std::int64_t>(segments_.empty() ? 1 : segments_.size() - 1);
      const std::int64_t begin = begin_of(i);
      sum +=
          static_cast<double>(StripedBias::at(b * count + segment_of(i), h, i - begin, j - begin));
    }
    return sum;
  }

  // Rotated by the formula, y = x (cos + i sin), position in the segment.
  Tensor<double> rotated(const Tensor<T>& from, bool queries) const {
    auto x = converted<double>(from);
    if (options.rotation == nullptr) return x;
    const std::int64_t pairs = x.size(3) / 2;
    const bool adjacent = rotation_.layout == RotaryLayout::interleaved;
    for (std::int64_t b = 0; b < x.size(0); ++b)
      for (std::int64_t h = 0; h < x.size(1); ++h)
        for (std::int64_t i = 0; i < x.size(2); ++i)
          for (std::int64_t p = 0; p < pairs; ++p) {
            double& first = x(b, h, i, adjacent ? 2 * p : p);
            double& second = x(b, h, i, adjacent ? 2 * p + 1 : p + pairs);
            const std::int64_t position = i - begin_of(i) + (queries ? offset_ : 0);
            const double cos = static_cast<double>(rotation_.cos(position, p));
            const double sin = static_cast<double>(rotation_.sin(position, p));
            const double y = first * cos - second * sin;
            second = first * sin + second * cos;
            first = y;
          }
    return x;
  }

  void ask_the_oracle() {
    const reference::Attention call{
        .q = rotated(q.dense, true),
        .k = rotated(k.dense, false),
        .v = Tensor<double>(Shape{batch, heads_k_, k_len, 0}),
        .sees = [&](auto b, auto h, auto i, auto j) { return sees(b, h, i, j); },
        .added = [&](auto b, auto h, auto i, auto j) { return added(b, h, i, j); },
        .scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dense.size(3)))),
        .softcap = options.softcap};
    truth = reference::attend(call);
    entropy = Tensor<double>(Shape{batch, heads, q_len});
    log_sum_exp = Tensor<double>(entropy.shape());
    const auto norm = [](const Tensor<double>& x, auto b, auto h, auto i) {
      double squares = 0;
      for (std::int64_t d = 0; d < x.size(3); ++d) squares += x(b, h, i, d) * x(b, h, i, d);
      return std::sqrt(squares);
    };
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < q_len; ++i) {
          const double q_norm = norm(call.q, b, h, i);
          const double sink = sinks_.empty() ? -kInfinity : sinks_[static_cast<std::size_t>(h)];
          double most = sink, sum = 0;
          for (std::int64_t j = 0; j < k_len; ++j) {
            most = std::max(most, truth.biased(b, h, i, j));
            const double bias = added(b, h, i, j);
            largest_ = std::max(largest_, std::abs(call.scale) * q_norm *
                                                  norm(call.k, b, h / (heads / heads_k_), j) +
                                              (std::isfinite(bias) ? std::abs(bias) : 0) +
                                              (std::isfinite(sink) ? std::abs(sink) : 0));
          }
          log_sum_exp(b, h, i) = -kInfinity;
          if (most == -kInfinity) continue;
          for (std::int64_t j = 0; j < k_len; ++j) sum += std::exp(truth.biased(b, h, i, j) - most);
          const double log_sum = most + std::log(sum + std::exp(sink - most));
          log_sum_exp(b, h, i) = log_sum;
          for (std::int64_t j = 0; j < k_len; ++j) {
            const double p = std::exp(truth.biased(b, h, i, j) - log_sum);
            truth.probabilities(b, h, i, j) = p;
            if (p > 0) entropy(b, h, i) += p * (log_sum - truth.biased(b, h, i, j));
          }
        }
  }

  using Mask = std::conditional_t<std::is_same_v<T, double>, double, float>;
  NumpyRandom random_;
  std::int64_t heads_k_ = 2, offset_ = 0;
  std::vector<std::int64_t> segments_, offsets_, lengths_;
  std::vector<double> sinks_;
  DistanceBias bias_;
  StripedBias striped_;
  RotationTable<float> rotation_;
  Strided<bool> bool_mask_;
  Strided<Mask> float_mask_;
  double largest_ = 0;
};

}  // namespace sextant

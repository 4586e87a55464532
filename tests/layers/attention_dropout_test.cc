// Dropout of the weights of attention layers: which are dropped, and what that does not depend on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "gradient_checks.h"
#include "kernels/simd/philox.h"
#include "reference/attention.h"
#include "sextant/core/error.h"
#include "sextant/layers/attention_layer.h"
#include "sextant/layers/context_parallel.h"
#include "support/error_of.h"

namespace sextant::attention_dropout_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHeads = 2;
constexpr double kRate = 0.3;
constexpr RandomKey kKey{.seed = 0x123456789abcdef0, .stream = 4, .first_row = 100};

template <class T>
AttentionLayer<T> layer_of(bool cross = false) {
  NumpyRandom random(3);
  return AttentionLayer<T>({.width = 8, .heads = kHeads, .cross = cross}, random);
}

template <class T>
Tensor<T> normal(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(random.normal());
  return x;
}

// The operator's seed for a key, written once more.
std::uint64_t seed_of(const RandomKey& key) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto numbers = kernels::philox({0, 0, key.stream, 2}, {low(key.seed), low(key.seed >> 32)});
  return std::uint64_t{numbers[1]} << 32 | numbers[0];
}

TEST(AttentionLayerDropout, IsThatOfTheStreamAndOfTheRowsWhereSequencesBegin) {
  const AttentionLayer<double> layer = layer_of<double>();
  const Tensor<double> x = random_tensor({9, 8}, 4);
  const std::int64_t segments[] = {0, 3, 9};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1, .random = kKey, .attention_dropout = kRate};
  Tensor<double> y({9, 8});
  const auto saved = layer.forward(x, {}, {.causal = true, .segments = segments}, y, pass);
  EXPECT_EQ(pass.random.stream, 5U);
  RandomKey key = kKey;
  key.stream = 5;
  int dropped = 0;
  for (std::int64_t s = 0; s < 2; ++s) {
    const Tensor<double> weights = layer.weights(saved, s);  // before dropout
    for (std::int64_t head = 0; head < kHeads; ++head) {
      for (std::int64_t i = 0; i < weights.size(1); ++i) {
        double mixed = 0, sum = 0;
        for (std::int64_t j = 0; j <= i; ++j) {
          const double kept = reference::kept_weight(kRate, seed_of(key),
                                                     (100 + segments[s]) * kHeads + head, i, j);
          dropped += kept == 0;
          sum += weights(head, i, j);
          mixed += kept * weights(head, i, j) * saved.v(0, head, segments[s] + j, 1);
        }
        EXPECT_NEAR(sum, 1, 1e-14);
        EXPECT_NEAR(saved.mixed(0, head, segments[s] + i, 1), mixed, 1e-13);
      }
    }
  }
  EXPECT_GT(dropped, 5);
}

TEST(AttentionLayerDropout, OfNothingTakesNoStream) {
  const AttentionLayer<double> layer = layer_of<double>();
  const Tensor<double> x = random_tensor({5, 8}, 4);
  const std::int64_t segments[] = {0, 5};
  Workspace memory;
  Tensor<double> none({5, 8}), with({5, 8}), next({5, 8});
  Pass pass{.memory = memory, .threads = 1, .random = kKey};
  layer.forward(x, {}, {.segments = segments}, none, pass);
  EXPECT_EQ(pass.random.stream, kKey.stream);
  pass.attention_dropout = kRate;
  layer.forward(x, {}, {.segments = segments}, with, pass);
  layer.forward(x, {}, {.segments = segments}, next, pass);
  EXPECT_EQ(pass.random.stream, kKey.stream + 2);
  EXPECT_FALSE(std::ranges::equal(none.span(), with.span()));
  EXPECT_FALSE(std::ranges::equal(with.span(), next.span())) << "layers differ";
}

// Results of the sequences [first, last) in one call: y, dx and dcontext.
template <class T>
struct Results {
  std::vector<T> y, dx, dcontext;

  void append(const Results& next) {
    for (auto member : {&Results::y, &Results::dx, &Results::dcontext}) {
      (this->*member).insert((this->*member).end(), (next.*member).begin(), (next.*member).end());
    }
  }
  bool operator==(const Results&) const = default;
};

template <class T>
Results<T> run(std::span<const std::int64_t> segments, std::size_t first, std::size_t last,
               const SchemeSpec& scheme, bool cross, int threads) {
  const AttentionLayer<T> layer = layer_of<T>(cross);
  AttentionLayer<T> gradient = layer_of<T>(cross);
  const std::int64_t begin = segments[first], rows = segments[last] - begin, all = segments.back();
  const Tensor<T> xs = normal<T>({all, 8}, 4), dys = normal<T>({all, 8}, 5),
                  contexts = normal<T>({2 * all, 8}, 6);
  std::vector<std::int64_t> own, keys;
  for (std::size_t s = first; s <= last; ++s) {
    own.push_back(segments[s] - begin);
    if (cross) keys.push_back(2 * own.back());
  }
  const PositionModule<T> positions(
      {.schemes = {scheme}, .width = 8, .heads = kHeads, .head_dim = 4, .length = 4});
  const PositionTables<T> tables = positions.tables(own);
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads, .random = kKey, .attention_dropout = kRate};
  pass.random.first_row += begin;
  Tensor<T> y({rows, 8}), dx({rows, 8}), dcontext({cross ? 2 * rows : 0, 8});
  View<const T> context;
  if (cross) context = contexts.view().narrow(0, 2 * begin, 2 * rows);
  const auto saved = layer.forward(
      xs.view().narrow(0, begin, rows), context,
      {.segments = own, .key_segments = keys, .positions = cross ? nullptr : &tables}, y, pass);
  layer.backward(saved, dys.view().narrow(0, begin, rows), dx, dcontext, gradient, nullptr, pass);
  const auto copied = [](const Tensor<T>& x) {
    return std::vector<T>(x.span().begin(), x.span().end());
  };
  return {copied(y), copied(dx), copied(dcontext)};
}

// Sequences of uneven lengths. All have the same tables of the first scheme; of the second each
// length above 4 has tables of its own, and so a call of its own.
TEST(AttentionLayerDropout, DoesNotDependOnTheDivisionIntoCalls) {
  const std::int64_t segments[] = {0, 9, 12, 12, 30, 37};
  for (const bool cross : {false, true}) {
    for (const SchemeSpec& scheme :
         {SchemeSpec("rotary"), SchemeSpec("rotary_dynamic_ntk", {{"max_length", "4"}})}) {
      SCOPED_TRACE(scheme.scheme);
      const auto whole = run<float>(segments, 0, 5, scheme, cross, 1);
      for (const std::size_t border : {1, 2, 4}) {
        auto parts = run<float>(segments, 0, border, scheme, cross, 1);
        parts.append(run<float>(segments, border, 5, scheme, cross, 1));
        EXPECT_TRUE(parts == whole) << border;
      }
    }
  }
}

TEST(AttentionLayerDropout, DoesNotDependOnThreads) {
  const std::int64_t segments[] = {0, 190, 420};
  const auto one = run<float>(segments, 0, 2, "rotary", false, 1);
  EXPECT_TRUE(run<float>(segments, 0, 2, "rotary", false, 4) == one);
}

// The output is linear in the weights, so its mean over masks is that without dropout.
TEST(AttentionLayerDropout, HasTheMeanOfTheOutputWithout) {
  const AttentionLayer<double> layer = layer_of<double>();
  const Tensor<double> x = random_tensor({4, 8}, 4);
  const std::int64_t segments[] = {0, 4};
  Workspace memory;
  Tensor<double> y({4, 8}), plain({4, 8});
  const auto forward = [&](std::uint64_t seed, double rate, Tensor<double>& to) {
    memory.reset();
    Pass pass{.memory = memory, .threads = 1, .random = {.seed = seed}, .attention_dropout = rate};
    layer.forward(x, {}, {.segments = segments}, to, pass);
  };
  forward(0, 0, plain);
  constexpr int kSeeds = 2000;
  std::array<double, 32> sum{}, squares{};
  for (int seed = 0; seed < kSeeds; ++seed) {
    forward(static_cast<std::uint64_t>(seed), kRate, y);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double off = y.span()[i] - plain.span()[i];
      sum[i] += off / kSeeds;
      squares[i] += off * off / kSeeds;
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_GT(squares[i], 0);
    EXPECT_LE(std::abs(sum[i]), 4.5 * std::sqrt(squares[i] / kSeeds)) << i;  // of 32: 1 in 5000
  }
}

// Ranks that share sequences; nothing calls them.
class Divided final : public ContextParallel {
 public:
  std::vector<RowRange> rows(std::int64_t tokens) const override { return {{0, tokens}}; }
  bool is_first() const noexcept override { return true; }
  void attention(View<const float>, View<const float>, View<const float>, View<float>,
                 const AttentionOptions<float>&, View<float>) override {}
  void attention_backward(View<const float>, View<const float>, View<const float>,
                          View<const float>, View<const float>, const AttentionGradients<float>&,
                          const AttentionOptions<float>&, View<const float>) override {}
};

TEST(AttentionLayerDropout, IsRefusedOutsideItsRangeAndOnDividedSequences) {
  const AttentionLayer<float> layer = layer_of<float>();
  const Tensor<float> x = normal<float>({5, 8}, 4);
  const std::int64_t segments[] = {0, 5};
  Workspace memory;
  Tensor<float> y({5, 8});
  Pass pass{.memory = memory, .threads = 1};
  const auto forward = [&] { layer.forward(x, {}, {.segments = segments}, y, pass); };
  for (const double rate : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    pass.attention_dropout = rate;
    expect_error("attention.dropout", forward);
  }
  Divided divided;
  pass.context_parallel = &divided;
  pass.attention_dropout = 0.25;
  EXPECT_THAT(error_of(forward), HasSubstr("[pass.attention_dropout] must be 0 where sequences are "
                                           "divided among processes, got 0.25"));
  pass.attention_dropout = 0;
  forward();
}

}  // namespace
}  // namespace sextant::attention_dropout_test

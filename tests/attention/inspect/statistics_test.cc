// Statistics of weights against the float64 oracle and against the weights themselves.
#include "sextant/attention/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include "attention/inspect/weights_cases.h"

#ifndef SEXTANT_SANITIZED
// What tensors take, counted while a test asks for it. (Sanitizers bring their own.)
namespace {
bool counts_bytes = false;
std::size_t counted_bytes = 0;
}  // namespace

void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (counts_bytes) counted_bytes += size;
  const auto line = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(line, (size + line - 1) / line * line);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace sextant::statistics_test {
namespace {

template <class T>
class Statistics : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, double>;
TYPED_TEST_SUITE(Statistics, Elements);

TYPED_TEST(Statistics, AgreeWithTheOracleWhateverTheOptions) {
  using T = TypeParam;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LookCall<T> call(seed);
    const std::int64_t top = 1 + seed % 7;
    const auto got = attention_statistics<T>(call.q.view, call.k.view, call.options, {.top = top});
    const Shape rows{call.batch, call.heads, call.q_len};
    ASSERT_EQ(got.entropy.shape(), rows);
    ASSERT_EQ(got.log_sum_exp.shape(), rows);
    ASSERT_EQ(got.top_keys.shape(), (Shape{call.batch, call.heads, call.q_len, top}));
    ASSERT_EQ(got.mass.shape(), (Shape{call.batch, call.heads, call.k_len}));
    const double error = call.weight_error();
    for (std::int64_t n = 0; n < rows.count(); ++n) {
      // d(-p ln p) = -(1 + ln p) dp: a relative error of the weights times 1 + entropy, and the
      // rounding of each logarithm and of the result to float32.
      const double entropy = call.entropy.data()[n];
      ASSERT_NEAR(static_cast<double>(got.entropy.data()[n]), entropy,
                  2 * (error + 0x1p-23) * (entropy + 1))
          << "row " << n;
      const double log_sum = call.log_sum_exp.data()[n];
      const double have = static_cast<double>(got.log_sum_exp.data()[n]);
      if (std::isinf(log_sum)) {
        ASSERT_EQ(have, log_sum);
      } else {
        ASSERT_NEAR(have, log_sum, error + 0x1p-24 * std::abs(log_sum)) << "row " << n;
      }
      const double* truth = call.truth.probabilities.data() + n * call.k_len;
      std::vector<double> sorted(truth, truth + call.k_len);
      std::sort(sorted.rbegin(), sorted.rend());
      for (std::int64_t t = 0; t < top; ++t) {
        const double want = t < call.k_len ? sorted[static_cast<std::size_t>(t)] : 0;
        const double weight = static_cast<double>(got.top_weights.data()[n * top + t]);
        const std::int64_t key = got.top_keys.data()[n * top + t];
        ASSERT_NEAR(weight, want, error + 0x1p-24) << "row " << n << ", place " << t;
        ASSERT_EQ(key == -1, weight == 0) << "row " << n << ", place " << t;
        if (key >= 0) {
          ASSERT_NEAR(weight, truth[key], error + 0x1p-24) << "row " << n;
        }
      }
    }
    for (std::int64_t b = 0; b < call.batch; ++b)
      for (std::int64_t h = 0; h < call.heads; ++h)
        for (std::int64_t j = 0; j < call.k_len; ++j) {
          double mass = 0;
          for (std::int64_t i = 0; i < call.q_len; ++i)
            mass += call.truth.probabilities(b, h, i, j);
          // The weights' error, 64 weights added up in float32, and the result rounded to it.
          const double lanes = static_cast<double>(std::min<std::int64_t>(call.q_len, 64));
          const double rounding = std::is_same_v<T, double> ? 0x1p-24 : lanes * 0x1p-24;
          ASSERT_NEAR(static_cast<double>(got.mass(b, h, j)), mass,
                      mass * (error + rounding) + 0x1p-120)
              << b << ", " << h << ", " << j;
        }
  }
}

TEST(AttentionStatistics, ListTheHeaviestOfTheWeightsTiesByTheLowerKey) {
  NumpyRandom random(3);
  const std::int64_t length = 300, top = 9;
  const auto q = normal<float>(Shape{1, 2, length, 8}, random);
  auto k = normal<float>(Shape{1, 2, length, 8}, random);
  for (std::int64_t j = 0; j < length; j += 3)  // ties: every third key is the first one
    for (std::int64_t d = 0; d < 8; ++d) k(0, 0, j, d) = k(0, 0, 0, d);
  const AttentionOptions<float> options{.causal = Causal::top_left};
  const auto weights = attention_weights(q, k, options);
  const auto got = attention_statistics(q, k, options, {.top = top});
  std::vector<std::int64_t> order(static_cast<std::size_t>(length));
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < length; ++i) {
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](auto x, auto y) { return weights(0, h, i, x) > weights(0, h, i, y); });
      for (std::int64_t t = 0; t < top; ++t) {
        const std::int64_t key = t <= i ? order[static_cast<std::size_t>(t)] : -1;
        ASSERT_EQ(got.top_keys(0, h, i, t), key) << h << ", " << i << ", " << t;
        ASSERT_EQ(got.top_weights(0, h, i, t), key < 0 ? 0 : weights(0, h, i, key));
      }
    }
}

TYPED_TEST(Statistics, HaveTheLogSumsOfAttentionBitForBit) {
  using T = TypeParam;
  for (std::uint32_t seed = 200; seed < 208; ++seed) {
    LookCall<T> call(seed);
    const auto got = attention_statistics<T>(call.q.view, call.k.view, call.options);
    Tensor<float> expected(got.log_sum_exp.shape());
    Tensor<T> v(Shape{call.batch, call.k.dense.size(1), call.k_len, 3}),
        out(Shape{call.batch, call.heads, call.q_len, 3});
    attention<T>(call.q.view, call.k.view, v, out, call.options, expected);
    ASSERT_TRUE(same_bits<float>(got.log_sum_exp, expected)) << "seed " << seed;
  }
}

::testing::AssertionResult same(const WeightStatistics& a, const WeightStatistics& b) {
  if (!same_bits<float>(a.entropy, b.entropy)) return ::testing::AssertionFailure() << "entropy";
  if (!same_bits<float>(a.log_sum_exp, b.log_sum_exp))
    return ::testing::AssertionFailure() << "log_sum_exp";
  if (!same_bits<std::int64_t>(a.top_keys, b.top_keys))
    return ::testing::AssertionFailure() << "top_keys";
  if (!same_bits<float>(a.top_weights, b.top_weights))
    return ::testing::AssertionFailure() << "top_weights";
  return same_bits<float>(a.mass, b.mass);
}

TYPED_TEST(Statistics, AreTheSameOnAnyThreadsAndForASequenceAloneOrPacked) {
  using T = TypeParam;
  // Sequences of one run and of several.
  const std::int64_t length = std::is_same_v<T, double> ? 700 : 2300;
  const std::vector<std::int64_t> segments{0, 90, length - 30, length};
  NumpyRandom random(4);
  const auto q = normal<T>(Shape{2, 2, length, 4}, random),
             k = normal<T>(Shape{2, 1, length, 4}, random);
  AttentionOptions<T> options{.causal = Causal::top_left, .segments = segments, .threads = 1};
  const auto one = attention_statistics<T>(q, k, options);
  for (const int threads : {2, 3, 7}) {
    options.threads = threads;
    EXPECT_TRUE(same(attention_statistics<T>(q, k, options), one)) << threads;
  }
  options.segments = {};
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
      const std::int64_t begin = segments[s], count = segments[s + 1] - begin;
      const auto part = [&](const auto& x, int axis) {
        return x.view().narrow(0, b, 1).narrow(axis, begin, count);
      };
      const auto alone = attention_statistics<T>(part(q, 2), part(k, 2), options);
      EXPECT_TRUE(same_bits<float>(alone.entropy, part(one.entropy, 2)));
      EXPECT_TRUE(same_bits<float>(alone.top_weights, part(one.top_weights, 2)));
      EXPECT_TRUE(same_bits<float>(alone.mass, part(one.mass, 2)));
    }
}

TYPED_TEST(Statistics, OfRowsWithInfinitiesNanOrNothing) {
  using T = TypeParam;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // Scores are the products of numbers: +infinity twice, NaN, nothing seen, and as usual.
  Tensor<T> q(Shape{1, 1, 4, 1}), k(Shape{1, 1, 4, 1});
  const double queries[] = {1, kNan, kNan, 0}, keys[] = {kInfinity, 2, kInfinity, 3};
  Tensor<bool> mask(Shape{4, 4});
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      q(0, 0, i, 0) = static_cast<T>(queries[i]);
      k(0, 0, j, 0) = static_cast<T>(keys[j]);
      mask(i, j) = i == 0 || (i == 1 && j == 1) || (i == 3 && j % 2 == 1);
    }
  AttentionOptions<T> options;
  options.mask = mask;
  const auto got = attention_statistics<T>(q, k, options, {.top = 3});
  EXPECT_NEAR(static_cast<double>(got.entropy(0, 0, 0)), std::log(2), 0x1p-24);
  EXPECT_EQ(got.log_sum_exp(0, 0, 0), std::numeric_limits<float>::infinity());
  EXPECT_EQ(got.top_keys(0, 0, 0, 1), 2);
  EXPECT_EQ(got.top_weights(0, 0, 0, 1), 0.5F);
  EXPECT_EQ(got.top_keys(0, 0, 0, 2), -1);
  EXPECT_TRUE(std::isnan(got.entropy(0, 0, 1)));
  EXPECT_TRUE(std::isnan(got.top_weights(0, 0, 1, 0)));
  EXPECT_EQ(got.top_keys(0, 0, 1, 0), -1);
  EXPECT_EQ(got.entropy(0, 0, 2), 0);
  EXPECT_EQ(got.log_sum_exp(0, 0, 2), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(got.top_keys(0, 0, 2, 0), -1);
  EXPECT_EQ(got.top_weights(0, 0, 2, 0), 0);
  // log 2 in float32, from float32 logarithms.
  EXPECT_NEAR(static_cast<double>(got.entropy(0, 0, 3)), std::log(2), 0x1p-22);
  EXPECT_EQ(got.top_keys(0, 0, 3, 0), 1);
  EXPECT_EQ(got.mass(0, 0, 0), 0.5F);
  EXPECT_TRUE(std::isnan(got.mass(0, 0, 1)));  // what the row of NaN looks at
  EXPECT_EQ(got.mass(0, 0, 2), 0.5F);
  EXPECT_EQ(got.mass(0, 0, 3), 0.5F);
}

TEST(AttentionStatistics, AreMadeOfWhatIsWanted) {
  NumpyRandom random(5);
  const auto q = normal<float>(Shape{1, 2, 90, 4}, random),
             k = normal<float>(Shape{1, 2, 140, 4}, random);
  const auto all = attention_statistics(q, k);
  const auto entropy =
      attention_statistics(q, k, {}, {.top = 0, .log_sum_exp = false, .mass = false});
  EXPECT_TRUE(same_bits<float>(entropy.entropy, all.entropy));
  EXPECT_EQ(entropy.log_sum_exp.count() + entropy.mass.count() + entropy.top_keys.count(), 0);
  const auto mass = attention_statistics(q, k, {}, {.top = 0, .entropy = false});
  EXPECT_TRUE(same_bits<float>(mass.mass, all.mass));
  EXPECT_TRUE(same_bits<float>(mass.log_sum_exp, all.log_sum_exp));
  EXPECT_EQ(mass.entropy.count(), 0);
  const auto lists =
      attention_statistics(q, k, {}, {.entropy = false, .log_sum_exp = false, .mass = false});
  EXPECT_TRUE(same_bits<float>(lists.top_weights, all.top_weights));
  EXPECT_THROW(attention_statistics(q, k, {}, {.top = -1}), Error);
  EXPECT_THROW(attention_statistics(q, k, {}, {.top = 1025}), Error);
  // No queries: nobody looks at the keys.
  const auto nobody = attention_statistics(q.view().narrow(2, 0, 0), k.view());
  for (const float value : nobody.mass.span()) EXPECT_EQ(value, 0);
}

#ifndef SEXTANT_SANITIZED
TEST(AttentionStatistics, TakeMemoryForEachPositionAndNotForEachPair) {
  NumpyRandom random(6);
  const auto bytes = [&](std::int64_t length) {
    const auto q = normal<float>(Shape{1, 2, length, 8}, random),
               k = normal<float>(Shape{1, 2, length, 8}, random);
    const AttentionOptions<float> options{.causal = Causal::top_left, .threads = 2};
    attention_statistics(q, k, options);  // threads keep their scratch from here on
    counts_bytes = true;
    counted_bytes = 0;
    attention_statistics(q, k, options);
    counts_bytes = false;
    return counted_bytes;
  };
  const std::size_t at_2048 = bytes(2048), at_4096 = bytes(4096);
  EXPECT_GT(at_2048, 2 * 2048 * sizeof(float));
  EXPECT_LE(at_4096, 2 * at_2048 + 1024);
  // Two heads' results (72 bytes a row, mass included) and sums of eight runs of each.
  EXPECT_LE(at_4096, 4096 * (2 * 76 + 2 * 8 * sizeof(double)));
}
#endif

}  // namespace
}  // namespace sextant::statistics_test

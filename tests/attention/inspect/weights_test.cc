// Weights on demand against the float64 oracle, for every storage type; and their bits, whatever
// else was chosen.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attention/inspect/weights_cases.h"
#include "sextant/attention/attention.h"

namespace sextant::weights_test {
namespace {

constexpr Stage kStages[] = {Stage::scores, Stage::capped, Stage::biased, Stage::probabilities};

template <class T>
class Weights : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, double>;
TYPED_TEST_SUITE(Weights, Elements);

TYPED_TEST(Weights, AgreeWithTheOracleAtEveryStageWhateverTheOptions) {
  using T = TypeParam;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LookCall<T> call(seed);
    for (const Stage stage : kStages) {
      SCOPED_TRACE(name_of(stage));
      const auto got = call.weights(stage);
      const auto& truth = stage == Stage::scores   ? call.truth.scores
                          : stage == Stage::capped ? call.truth.capped
                          : stage == Stage::biased ? call.truth.biased
                                                   : call.truth.probabilities;
      ASSERT_EQ(got.shape(), truth.shape());
      const double error = stage == Stage::probabilities ? call.weight_error() : call.score_error();
      for (std::int64_t n = 0; n < got.count(); ++n) {
        const std::int64_t i = n / call.k_len % call.q_len, j = n % call.k_len;
        const double have = static_cast<double>(got.data()[n]);
        const bool shown = stage == Stage::probabilities || call.shows(i, j);
        const double want = shown ? truth.data()[n] : -kInfinity;
        if (std::isinf(want)) {
          ASSERT_EQ(have, want) << i << ", " << j;
        } else {
          ASSERT_LE(std::abs(have - want), error + kStored<T> * std::abs(want) + kTiniest<T>)
              << i << ", " << j << ": " << have << " for " << want;
        }
      }
    }
  }
}

TYPED_TEST(Weights, OfARowHaveTheSameBitsWhateverElseIsChosenAndOnAnyThreads) {
  using T = TypeParam;
  for (std::uint32_t seed = 100; seed < 106; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LookCall<T> call(seed);
    NumpyRandom random(seed);
    WeightsOptions chosen;
    for (std::int64_t n = pick(random, 1, 3); n > 0; --n)
      chosen.heads.push_back(pick(random, 0, call.heads - 1));
    for (std::int64_t n = pick(random, 1, 200); n > 0; --n)
      chosen.rows.push_back(pick(random, 0, call.q_len - 1));
    for (const Stage stage : kStages) {
      call.options.threads = 1;
      const auto whole = call.weights(stage);
      for (const int threads : {2, 3, 7}) {
        call.options.threads = threads;
        ASSERT_TRUE(same_bits<T>(call.weights(stage), whole)) << threads;
      }
      chosen.stage = stage;
      const auto some = attention_weights<T>(call.q.view, call.k.view, call.options, chosen);
      for (std::int64_t b = 0; b < call.batch; ++b)
        for (std::int64_t h = 0; h < some.size(1); ++h)
          for (std::int64_t i = 0; i < some.size(2); ++i) {
            const auto row = some.view().select(0, b).select(0, h).select(0, i);
            const auto same = whole.view()
                                  .select(0, b)
                                  .select(0, chosen.heads[static_cast<std::size_t>(h)])
                                  .select(0, chosen.rows[static_cast<std::size_t>(i)]);
            ASSERT_TRUE(same_bits<T>(row, same)) << b << ", " << h << ", " << i;
          }
    }
  }
}

// One query of width 1, so that scores are the keys.
template <class T>
std::vector<double> row_of(const std::vector<double>& keys, AttentionOptions<T> options,
                           Stage stage = Stage::probabilities) {
  Tensor<T> q(Shape{1, 1, 1, 1}), k(Shape{1, 1, static_cast<std::int64_t>(keys.size()), 1});
  q(0, 0, 0, 0) = static_cast<T>(1);
  for (std::size_t j = 0; j < keys.size(); ++j) k.data()[j] = static_cast<T>(keys[j]);
  const auto weights = attention_weights<T>(q, k, options, {.stage = stage});
  std::vector<double> row;
  for (const T weight : weights.span()) row.push_back(static_cast<double>(weight));
  return row;
}

TYPED_TEST(Weights, ShareAmongScoresOfInfinityAndShowTheNanThatIsVisibleOnly) {
  using T = TypeParam;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(row_of<T>({kInfinity, 3, kInfinity, -kInfinity}, {}),
            (std::vector<double>{0.5, 0, 0.5, 0}));
  EXPECT_EQ(row_of<T>({-kInfinity, -kInfinity}, {}), (std::vector<double>{0, 0}));
  for (const double weight : row_of<T>({1, kNan, 2}, {})) EXPECT_TRUE(std::isnan(weight));
  Tensor<bool> mask(Shape{4});
  mask(0) = mask(2) = true;
  AttentionOptions<T> options;
  options.mask = mask;
  EXPECT_EQ(row_of<T>({1, kNan, 1, kInfinity}, options), (std::vector<double>{0.5, 0, 0.5, 0}));
  EXPECT_EQ(row_of<T>({1, kNan, 1, kInfinity}, options, Stage::biased),
            (std::vector<double>{1, -kInfinity, 1, -kInfinity}));
  const auto raw = row_of<T>({1, kNan, 1, kInfinity}, options, Stage::scores);
  EXPECT_TRUE(std::isnan(raw[1]));
  EXPECT_EQ(raw[0], 1);
  EXPECT_EQ(raw[3], kInfinity);
}

TYPED_TEST(Weights, OfRowsThatSeeNothingAreZeros) {
  using T = TypeParam;
  NumpyRandom random(1);
  const auto q = normal<T>(Shape{2, 1, 70, 4}, random), k = normal<T>(Shape{2, 1, 140, 4}, random);
  const std::vector<std::int64_t> lengths{0, 140}, offsets{0, -30};
  const std::vector<double> sinks{0.5};
  AttentionOptions<T> options{
      .causal = Causal::at_offsets, .query_offsets = offsets, .key_lengths = lengths};
  for (const bool sink : {false, true}) {
    if (sink) options.sinks = sinks;
    const auto weights = attention_weights<T>(q, k, options);
    const auto biased = attention_weights<T>(q, k, options, {.stage = Stage::biased});
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t i = 0; i < (b == 0 ? 70 : 30); ++i)
        for (std::int64_t j = 0; j < 140; ++j) {
          ASSERT_EQ(static_cast<double>(weights(b, 0, i, j)), 0) << b << ", " << i << ", " << j;
          ASSERT_EQ(static_cast<double>(biased(b, 0, i, j)), -kInfinity);
        }
    EXPECT_GT(static_cast<double>(weights(1, 0, 30, 0)), 0);
  }
}

TYPED_TEST(Weights, BeforeMasksNeedPositionsForPaddingToo) {
  using T = TypeParam;
  NumpyRandom random(2);
  const auto q = normal<T>(Shape{1, 1, 3, 4}, random), k = normal<T>(Shape{1, 1, 9, 4}, random);
  const std::vector<std::int64_t> lengths{5};
  const auto table = rotary<float>({.head_dim = 4}, 5);
  const AttentionOptions<T> options{
      .causal = Causal::none, .key_lengths = lengths, .rotation = &table};
  EXPECT_NO_THROW(attention_weights<T>(q, k, options));
  EXPECT_THROW(attention_weights<T>(q, k, options, {.stage = Stage::scores}), Error);
}

}  // namespace
}  // namespace sextant::weights_test

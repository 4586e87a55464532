// `sextant attention`: every option, by numbers that can be checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/attention/attention_files.h"
#include "sextant/attention/attention.h"

namespace sextant::app_tests {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using List = std::vector<double>;

// A few roundings of numbers up to 8.
constexpr double kRounding = 8 * 0x1p-50;
// The same where angles come from a float32 table.
constexpr double kTableRounding = 0x1p-22;

class AttentionByHand : public AttentionFiles {};

TEST_F(AttentionByHand, ScoresMakeWeights) {
  save<double>("q", {1, 1, 1, 1}, {1});
  save<double>("k", {1, 1, 2, 1}, {0, std::log(3)});
  save<double>("v", {1, 1, 2, 2}, {0, 4, 4, 8});
  EXPECT_THAT(result("--scale 1"), Pointwise(DoubleNear(kRounding), {3.0, 7.0}));
  EXPECT_THAT(result("--scale -1"), Pointwise(DoubleNear(kRounding), {1.0, 5.0}));
  EXPECT_THAT(result(""), Pointwise(DoubleNear(kRounding), {3.0, 7.0}));  // 1 / sqrt(1)
  EXPECT_THAT(result("--scale 0"), ElementsAre(2, 6));
}

TEST_F(AttentionByHand, SoftcapBendsScores) {
  save<double>("q", {1, 1, 1, 1}, {1});
  save<double>("k", {1, 1, 2, 1}, {0, 5});
  save<double>("v", {1, 1, 2, 1}, {0, 1});
  const double score = 2 * std::tanh(5.0 / 2);
  EXPECT_THAT(result("--softcap 2"),
              Pointwise(DoubleNear(kRounding), {1 / (1 + std::exp(-score))}));
  EXPECT_EQ(result("--softcap 0"), result(""));
}

TEST_F(AttentionByHand, CausalIsNamedByItsCorner) {
  save_means(2, 3);
  EXPECT_THAT(result("--causal top_left"), ElementsAre(1, 1.5));
  EXPECT_THAT(result("--causal bottom_right"), Pointwise(DoubleNear(kRounding), {1.5, 7.0 / 3}));
  EXPECT_THAT(result("--causal none"), Pointwise(DoubleNear(kRounding), {7.0 / 3, 7.0 / 3}));
  save_npy(file("n"), filled<std::int64_t>({1}, {0}));
  EXPECT_THAT(result("--causal at_offsets --query-offsets @n"), ElementsAre(1, 1.5));
  save_npy(file("n"), filled<std::int32_t>({1}, {-1}));
  EXPECT_THAT(result("--causal at_offsets --query-offsets @n"), ElementsAre(0, 1));
}

TEST_F(AttentionByHand, WindowsCountFromTheOwnKey) {
  save_means(3, 3);
  EXPECT_THAT(result("--window 0,0"), ElementsAre(1, 2, 4));
  EXPECT_THAT(result("--window 1,0"), ElementsAre(1, 1.5, 3));
  EXPECT_THAT(result("--window 0,1"), ElementsAre(1.5, 3, 4));
  EXPECT_THAT(result("--window -1,0"), result("--causal top_left"));
}

TEST_F(AttentionByHand, SegmentsDoNotSeeOneAnother) {
  save_means(3, 3);
  save_npy(file("cu"), filled<std::int32_t>({3}, {0, 1, 3}));
  EXPECT_THAT(result("--segments @cu"), ElementsAre(1, 3, 3));
  EXPECT_THAT(result("--segments @cu --causal top_left"), ElementsAre(1, 2, 3));
  EXPECT_EQ(result("--segments @cu --causal bottom_right"),
            result("--segments @cu --causal top_left"));
  save_npy(file("cu"), filled<std::int64_t>({2}, {0, 3}));
  EXPECT_EQ(result("--segments @cu"), result(""));
}

TEST_F(AttentionByHand, PackedPairsHaveKeysOfTheirOwn) {
  save_means(3, 4);  // the values are 1, 2, 4, 8
  save_npy(file("cu"), filled<std::int32_t>({4}, {0, 1, 1, 3}));
  save_npy(file("keys"), filled<std::int64_t>({4}, {0, 1, 2, 4}));
  EXPECT_THAT(result("--segments @cu --key-segments @keys"), ElementsAre(1, 6, 6));
  EXPECT_THAT(result("--segments @cu --key-segments @keys --causal bottom_right"),
              ElementsAre(1, 4, 6));
  save_npy(file("keys"), filled<std::int64_t>({4}, {0, 0, 1, 4}));
  const std::string options = "--segments @cu --key-segments @keys --causal bottom_right ";
  const auto means = Pointwise(DoubleNear(kRounding), {0.0, 3.0, 14.0 / 3});
  EXPECT_THAT(result(options), means);
  EXPECT_THAT(result(options + "--scheme none"), means);
}

TEST_F(AttentionByHand, LengthsOfKeysArePaddingAndMoveTheDiagonalOfAtLengthsAlone) {
  save<double>("q", {2, 1, 2, 1}, List(4));
  save<double>("k", {2, 1, 4, 1}, List(8));
  save<double>("v", {2, 1, 4, 1}, {1, 2, 4, 8, 1, 2, 4, 8});
  save_npy(file("n"), filled<std::int32_t>({2}, {3, 1}));
  EXPECT_THAT(result("--key-lengths @n"),
              Pointwise(DoubleNear(kRounding), {7.0 / 3, 7.0 / 3, 1.0, 1.0}));
  // The last query's own key is the last one that is no padding: key 2 and key 0. Row 1's first
  // query stands before every key.
  EXPECT_THAT(result("--key-lengths @n --causal at_lengths"),
              Pointwise(DoubleNear(kRounding), {1.5, 7.0 / 3, 0.0, 1.0}));
  EXPECT_THAT(result("--key-lengths @n --causal at_lengths --window 0,0"), ElementsAre(2, 4, 0, 1));
  // bottom_right means the last key of k, padding or not, as in the library.
  EXPECT_THAT(result("--key-lengths @n --causal bottom_right"),
              Pointwise(DoubleNear(kRounding), {7.0 / 3, 7.0 / 3, 1.0, 1.0}));
  EXPECT_THAT(result("--key-lengths @n --causal bottom_right --window 1,0"),
              ElementsAre(3, 4, 0, 0));
  EXPECT_THAT(result("--key-lengths @n --causal top_left"), ElementsAre(1, 1.5, 1, 1));
  save_npy(file("n"), filled<std::int64_t>({2}, {4, 0}));
  EXPECT_THAT(result("--key-lengths @n"), ElementsAre(3.75, 3.75, 0, 0));
}

TEST_F(AttentionByHand, BiasesGoByDistance) {
  save_means(2, 2);
  const double log3 = std::log(3);  // rounded to float32 by the option: weights off by 2^-25
  save<float>("b", {1, 3}, {log3, 0, -log3});
  EXPECT_THAT(result("--bias @b"), Pointwise(DoubleNear(0x1p-22), {1.25, 1.25}));
  save<double>("b", {1, 3}, {log3, 0, 0});
  EXPECT_THAT(result("--bias @b"), Pointwise(DoubleNear(0x1p-22), {1.5, 1.25}));
  // A causal call reads distances up to 0 only.
  EXPECT_THAT(result("--bias @b --causal top_left"), Pointwise(DoubleNear(0x1p-22), {1.0, 1.25}));
}

TEST_F(AttentionByHand, OneRowOfBiasServesEveryHead) {
  save<double>("q", {1, 2, 2, 1}, List(4));
  save<double>("k", {1, 1, 2, 1}, List(2));
  save<double>("v", {1, 1, 2, 1}, {1, 2});
  save<float16>("one", {1, 3}, {1, 0, -1});
  save<float>("both", {2, 3}, {1, 0, -1, 1, 0, -1});
  save<float>("other", {2, 3}, {1, 0, -1, 2, 0, -1});
  EXPECT_EQ(result("--bias @one"), result("--bias @both"));
  EXPECT_NE(result("--bias @one"), result("--bias @other"));
}

TEST_F(AttentionByHand, AlibiHasThePapersSlopes) {
  // Three heads: 2^-4, 2^-8, and 2^-2 of the doubled series.
  save<double>("q", {1, 3, 2, 1}, List(6));
  save<double>("k", {1, 3, 2, 1}, List(6));
  save<double>("v", {1, 3, 2, 1}, {0, 1, 0, 1, 0, 1});
  List expected;
  for (const double slope : {0x1p-4, 0x1p-8, 0x1p-2}) {
    expected.push_back(0);  // sees itself only
    expected.push_back(1 / (1 + std::exp(-slope)));
  }
  EXPECT_THAT(result("--alibi --causal top_left"), Pointwise(DoubleNear(kRounding), expected));
}

TEST_F(AttentionByHand, SinksTakeTheirShare) {
  save_means(1, 1);
  save<double>("s", {1}, {0});
  EXPECT_THAT(result("--sinks @s"), ElementsAre(0.5));
  save<float>("s", {1}, {-INFINITY});
  EXPECT_THAT(result("--sinks @s"), ElementsAre(1));
}

TEST_F(AttentionByHand, RotationTurnsPairsByTheirDistance) {
  // q and k of the same unit vector: the score is the cosine of the angle between them.
  const auto scores = [&](int channel, const std::string& options) {
    List unit(12);
    for (int row = 0; row < 3; ++row) unit[static_cast<std::size_t>(4 * row + channel)] = 1;
    save<double>("q", {1, 1, 3, 4}, unit);
    save<double>("k", {1, 1, 3, 4}, unit);
    save<double>("v", {1, 1, 3, 4}, unit);
    const Outcome outcome = run("--weights @w --stage scores --scale 1 " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read_numbers<double>(file("w"));
  };
  const auto cosines = [](double angle) {
    List list;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) list.push_back(std::cos(angle * (i - j)));
    }
    return list;
  };
  const auto near = [](const List& list) { return Pointwise(DoubleNear(kTableRounding), list); };
  EXPECT_THAT(scores(1, "--rotary-base 100 --rotary-layout interleaved"), near(cosines(1)));
  EXPECT_THAT(scores(1, "--rotary-base 100 --rotary-layout half_split"), near(cosines(0.1)));
  EXPECT_THAT(scores(1, "--rotary-base 100"), near(cosines(0.1)));
  EXPECT_THAT(scores(1, "--rotary-layout half_split"), near(cosines(0.01)));
  EXPECT_THAT(scores(2, "--rotary-layout interleaved"), near(cosines(0.01)));
  EXPECT_THAT(scores(2, ""), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1));
}

TEST_F(AttentionByHand, RotationFollowsLengthsAndOffsets) {
  // One query against four keys, two of which are padding: its position is 1.
  save<double>("q", {1, 1, 1, 2}, {1, 0});
  save<double>("k", {1, 1, 4, 2}, {1, 0, 1, 0, 1, 0, 1, 0});
  save<double>("v", {1, 1, 4, 2}, List(8));
  const auto scores = [&](const std::string& options) {
    const Outcome outcome =
        run("--weights @w --stage scores --scale 1 --rotary-base 10 " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    List list = read_numbers<double>(file("w"));
    list.resize(2);  // of padding, nothing is said
    return list;
  };
  save_npy(file("n"), filled<std::int64_t>({1}, {2}));
  EXPECT_THAT(scores("--key-lengths @n --causal at_lengths"),
              Pointwise(DoubleNear(kTableRounding), {std::cos(1.0), 1.0}));
  save_npy(file("o"), filled<std::int64_t>({1}, {9}));  // beyond every key
  EXPECT_THAT(scores("--query-offsets @o"),
              Pointwise(DoubleNear(kTableRounding), {std::cos(9.0), std::cos(8.0)}));
}

TEST_F(AttentionByHand, MasksOfEveryRankAndTypeHideTheSame) {
  save<double>("q", {2, 2, 2, 1}, List(8));
  save<double>("k", {2, 2, 2, 1}, List(8));
  save<double>("v", {2, 2, 2, 1}, {1, 2, 1, 2, 1, 2, 1, 2});
  const auto seen = [&](const Shape& shape, const std::vector<double>& visible) {
    List added;
    for (const double sees : visible) added.push_back(sees > 0 ? 0 : -INFINITY);
    save<bool>("bool", shape, visible);
    save<float>("float32", shape, added);
    save<double>("float64", shape, added);
    save<float16>("float16", shape, added);
    const List expected = result("--mask @bool");
    for (const char* type : {"float32", "float64", "float16"}) {
      EXPECT_EQ(result(std::string("--mask @") + type), expected) << type;
    }
    return expected;
  };
  EXPECT_THAT(seen({2}, {0, 1}), ElementsAre(2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(seen({2, 2}, {0, 1, 1, 0}), ElementsAre(2, 1, 2, 1, 2, 1, 2, 1));
  EXPECT_THAT(seen({2, 1, 2}, {0, 1, 1, 0}), ElementsAre(2, 2, 1, 1, 2, 2, 1, 1));
  EXPECT_THAT(seen({2, 1, 1, 2}, {0, 1, 1, 0}), ElementsAre(2, 2, 2, 2, 1, 1, 1, 1));
  EXPECT_THAT(seen({1, 1, 1, 1}, {0}), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(AttentionByHand, WeightsComeAtEveryStage) {
  save<double>("q", {1, 1, 2, 1}, {1, 1});
  save<double>("k", {1, 1, 2, 1}, {0, 3});
  save<double>("v", {1, 1, 2, 1}, {0, 1});
  const auto weights = [&](const std::string& options) {
    const Outcome outcome = run("--weights @w --softcap 2 --causal top_left " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_FALSE(exists("out"));
    EXPECT_EQ(load_npy(file("w")).shape, (Shape{1, 1, 2, 2}));
    return read_numbers<double>(file("w"));
  };
  const double capped = 2 * std::tanh(1.5);
  EXPECT_THAT(weights("--stage scores"), ElementsAre(0, 3, 0, 3));
  EXPECT_THAT(weights("--stage capped"),
              Pointwise(DoubleNear(kRounding), List{0, capped, 0, capped}));
  EXPECT_THAT(weights("--stage biased"),
              ElementsAre(0, -INFINITY, 0, DoubleNear(capped, kRounding)));
  const double share = 1 / (1 + std::exp(-capped));
  const List rows = {1, 0, 1 - share, share};
  EXPECT_THAT(weights("--stage probabilities"), Pointwise(DoubleNear(kRounding), rows));
  EXPECT_EQ(weights(""), weights("--stage probabilities"));
}

TEST_F(AttentionByHand, LogSumExpIsOfEachRow) {
  save_means(2, 2);
  const Outcome outcome = run("--log-sum-exp @l --causal top_left");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(load_npy(file("l")).shape, (Shape{1, 1, 2}));
  EXPECT_THAT(read_numbers<float>(file("l")), ElementsAre(0, static_cast<float>(std::log(2.0))));
}

}  // namespace
}  // namespace sextant::app_tests

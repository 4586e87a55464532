// `sextant attend --step`, and what scores meet before the softmax.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = "attend 'the cat sat' --width 8 --heads 2 ";

TEST(AttendSteps, AllOfThemAreOneJson) {
  const auto json = sextant(std::string(kText) + "--scheme rotary --step all --json").json();
  EXPECT_EQ(json["queries"], (std::vector<std::string>{"the", "cat", "sat"}));
  EXPECT_EQ(json["steps"]["embeddings"].size(), 3U);
  EXPECT_EQ(json["steps"]["q"][1][2].size(), 4U);
  EXPECT_EQ(json["steps"]["weights"],
            sextant(std::string(kText) + "--scheme rotary --json").json()["weights"]);
  EXPECT_EQ(json["steps"].size(), json["meanings"].size());
  const auto one = sextant(std::string(kText) + "--scheme rotary --step rotated_k --json").json();
  EXPECT_EQ(one["values"], json["steps"]["rotated_k"]);
  EXPECT_EQ(one["step"], "rotated_k");
}

TEST(AttendSteps, ATemperatureDividesTheScores) {
  const auto scores = [](const std::string& more) {
    return sextant(std::string(kText) + "--step scores --json " + more)
        .json()["values"][0][1][2]
        .get<double>();
  };
  EXPECT_DOUBLE_EQ(scores("--temperature 4"), scores("") / 4);
}

TEST(AttendSteps, HiddenPairsAreNullBeforeTheSoftmaxAndZeroAfter) {
  const std::string hidden = std::string(kText) + "--hide '2:1,*:0' --json --step ";
  const auto before = sextant(hidden + "biased").json()["values"][1];
  const auto after = sextant(hidden + "weights").json()["values"][1];
  for (const auto& [row, column] : {std::pair{2, 1}, {0, 0}, {1, 0}, {2, 0}}) {
    EXPECT_TRUE(before[row][column].is_null());
    EXPECT_EQ(after[row][column], 0);
  }
  EXPECT_FALSE(before[1][1].is_null());
  EXPECT_EQ(after[2][2], 1);
}

TEST(AttendSteps, AWindowASoftcapAndSinksDoWhatTheySay) {
  const auto at = [](const std::string& more) {
    return sextant(std::string(kText) + "--json --step " + more).json()["values"][0];
  };
  EXPECT_TRUE(at("biased --window 0,1")[2][1].is_null());
  EXPECT_FALSE(at("biased --window 0,1")[0][1].is_null());
  const double score = at("scores")[0][1].get<double>();
  const double capped = at("capped --softcap 2")[0][1].get<double>();
  EXPECT_NEAR(capped, 2 * std::tanh(score / 2), 1e-14);
  double sum = 0, plain = 0;
  const auto weights = at("weights --sinks 1"), logits = at("biased");
  for (const auto& weight : weights.front()) sum += weight.get<double>();
  for (const auto& logit : logits.front()) plain += std::exp(logit.get<double>());
  EXPECT_NEAR(sum, plain / (plain + std::exp(1.0)), 1e-14);
}

TEST(AttendSteps, EveryFormatShowsOneStep) {
  const std::string csv = sextant(std::string(kText) + "--step v --format csv").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);  // two heads of three words
  EXPECT_THAT(sextant(std::string(kText) + "--step v").out, HasSubstr("Head 1, cat"));
  const std::string svg =
      sextant(std::string(kText) + "--step from_positions --scheme alibi --format svg").out;
  EXPECT_THAT(svg, HasSubstr("From positions, ALiBi positions"));
  EXPECT_THAT(svg, HasSubstr("data-rows=\"3\""));
  const std::string weights = sextant(std::string(kText) + "--format csv").out;
  EXPECT_EQ(std::count(weights.begin(), weights.end(), ','), 12);
}

TEST(AttendSteps, RefusesWhatDoesNotFit) {
  const auto problem = [](const std::string& more) {
    const auto result = sextant(std::string(kText) + more);
    EXPECT_NE(result.code, 0);
    return result.err;
  };
  EXPECT_THAT(problem("--step kweights"), HasSubstr("[attend.step] must be"));
  EXPECT_THAT(problem("--step all"),
              HasSubstr("must be one step for text; all of them are --json"));
  EXPECT_THAT(problem("--temperature 0"), HasSubstr("[attend.temperature]"));
  EXPECT_THAT(problem("--softcap nan"), HasSubstr("[attend.softcap]"));
  EXPECT_THAT(problem("--window 1"), HasSubstr("[attend.window]"));
  EXPECT_THAT(problem("--hide 3"),
              HasSubstr("[attend.hide] must be pairs such as 3:1,*:0, got '3'"));
  EXPECT_THAT(problem("--hide 9:0"), HasSubstr("must be pairs of a query below 3"));
  EXPECT_THAT(problem("--sinks 1,2,3"), HasSubstr("must be one number, or one per head, 2, got 3"));
  EXPECT_THAT(problem("--lines --step q -o x.svg"),
              HasSubstr("[attend.lines] must not be combined with --step"));
  EXPECT_THAT(problem("--model shipped --step q"), HasSubstr("must not be combined with"));
}

}  // namespace
}  // namespace sextant::app_tests

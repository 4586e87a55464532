// Mean and deviation over seeds, and tables of several seeds as text.
#include "sextant/experiments/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/json/json.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// A few roundings of logarithms, and exp of their sum.
constexpr double kSeedsRelative = 1e-14;

TEST(OverSeeds, IsTheMeanOfTheLossesAndTheirSampleDeviation) {
  // Losses of 1, 3 and 5 log 2: their mean is 3 log 2, their deviation sqrt((4 + 0 + 4) / 2) log 2.
  const SeedScore score = over_seeds({{2.0, ""}, {32.0, ""}, {8.0, ""}});
  EXPECT_EQ(score.runs, 3);
  EXPECT_EQ(score.scored, 3);
  EXPECT_NEAR(*score.perplexity, 8, 8 * kSeedsRelative);
  EXPECT_NEAR(*score.factor, 4, 4 * kSeedsRelative);
}

TEST(OverSeeds, OfTwoIsTheirDifferenceOverTheRootOfTwo) {
  const SeedScore score = over_seeds({{16.0, ""}, {4.0, ""}});
  EXPECT_NEAR(*score.perplexity, 8, 8 * kSeedsRelative);
  EXPECT_NEAR(*score.factor, std::pow(4, std::sqrt(0.5)), 4 * kSeedsRelative);
}

TEST(OverSeeds, OfOneIsTheVeryNumberWithoutADeviation) {
  for (const double value : {0.1, 3.3, 1e300}) {
    const SeedScore score = over_seeds({{value, ""}});
    EXPECT_EQ(score.perplexity, value);
    EXPECT_FALSE(score.factor);
  }
}

TEST(OverSeeds, LeavesOutWhatHasNoNumberAndCountsIt) {
  SeedScore score =
      over_seeds({{std::nullopt, "nan"}, {2.0, ""}, {std::nullopt, "inf"}, {8.0, ""}});
  EXPECT_EQ(score.runs, 4);
  EXPECT_EQ(score.scored, 2);
  EXPECT_NEAR(*score.perplexity, 4, 4 * kSeedsRelative);
  EXPECT_NEAR(*score.factor, std::pow(4, std::sqrt(0.5)), 4 * kSeedsRelative);
  score = over_seeds({{std::nullopt, "nan"}, {3.0, ""}});
  EXPECT_EQ(score.perplexity, 3);
  EXPECT_FALSE(score.factor);
  score = over_seeds({{std::nullopt, "nan"}, {std::nullopt, "inf"}});
  EXPECT_FALSE(score.perplexity);
  EXPECT_EQ(score.scored, 0);
}

ExtrapolationRow row(const std::string& label, std::uint64_t seed, double first, double second) {
  return {.label = label,
          .seed = seed,
          .schemes = {{"rotary", {}}},
          .segments = {{first, ""}, {second, ""}},
          .sliding = {{10 * first, ""}, {std::nullopt, "it ends"}}};
}

ExtrapolationTable seeds_table() {
  ExtrapolationTable table{.train_length = 8, .steps = 3, .stride = 2, .seeds = 3};
  table.scored = {16, 32};
  table.lengths = {8, 16};
  table.rows = {row("b", 7, 2, 3), row("b", 8, 8, 3), row("a", 7, 5, 6)};
  return table;
}

TEST(OverSeeds, OfATableHasASchemePerLabel) {
  const std::vector<SchemeScores> schemes = over_seeds(seeds_table());
  ASSERT_EQ(schemes.size(), 2U);
  EXPECT_EQ(schemes[0].label, "b");
  EXPECT_THAT(schemes[0].seeds, ElementsAre(7, 8));
  EXPECT_NEAR(*schemes[0].segments[0].perplexity, 4, 4 * kSeedsRelative);
  EXPECT_NEAR(*schemes[0].segments[1].factor, 1, kSeedsRelative);
  EXPECT_NEAR(*schemes[0].sliding[0].perplexity, 40, 40 * kSeedsRelative);
  EXPECT_EQ(schemes[0].sliding[1].scored, 0);
  EXPECT_THAT(schemes[1].seeds, ElementsAre(7));
  EXPECT_EQ(schemes[1].segments[1].perplexity, 6);
}

TEST(TableOfSeeds, ComesBackFromItsJsonWhichHasTheMeansToo) {
  const std::string json = format_json(seeds_table());
  const ExtrapolationTable back = parse_extrapolation(json, "file");
  EXPECT_EQ(format_json(back), json);
  EXPECT_EQ(back.seeds, 3);
  EXPECT_EQ(back.rows[1].seed, 8U);
  const Json means = Json::parse(json).at("means");
  EXPECT_EQ(means[0].at("label"), "b");
  EXPECT_EQ(means[0].at("runs"), 2);
  EXPECT_EQ(means[0].at("segments")[0].at("scored"), 2);
  EXPECT_NEAR(means[0].at("segments")[0].at("perplexity").get<double>(), 4, 4 * kSeedsRelative);
  EXPECT_NEAR(means[0].at("segments")[0].at("factor").get<double>(), std::pow(4, std::sqrt(0.5)),
              4 * kSeedsRelative);
  EXPECT_TRUE(means[0].at("sliding")[1].at("perplexity").is_null());
  EXPECT_TRUE(means[1].at("segments")[0].at("factor").is_null());
}

TEST(TableOfSeeds, IsALineOfCsvPerNumberOfASeed) {
  EXPECT_EQ(format_csv(seeds_table()).substr(0, 110),
            "scheme,seed,scoring,length,perplexity\n"
            "b,7,segments,8,2\nb,7,segments,16,3\nb,7,sliding,8,20\nb,7,sliding,16,\nb,8,");
}

TEST(TableOfSeeds, OfOneIsWrittenWithoutIt) {
  ExtrapolationTable one = seeds_table();
  one.seeds = 1;
  one.rows = {row("a", 7, 5, 6)};
  const std::string json = format_json(one);
  EXPECT_EQ(json.find("seed"), json.npos);
  EXPECT_THAT(json, HasSubstr("\"format\": 2"));
  EXPECT_THAT(format_csv(one), HasSubstr("scheme,scoring,length,perplexity\na,segments,8,5\n"));
  const ExtrapolationTable back = parse_extrapolation(json, "file");
  EXPECT_EQ(back.seeds, 1);
  EXPECT_FALSE(back.rows[0].seed);
}

TEST(TableOfSeeds, RefusesWhatIsNone) {
  const std::string json = format_json(seeds_table());
  const auto refuses = [&](const std::string& from, const std::string& to,
                           const std::string& what) {
    std::string changed = json;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_THAT([&] { parse_extrapolation(changed, "file"); },
                ThrowsMessage<Error>(HasSubstr(what)))
        << to;
  };
  refuses("\"seeds\": 3", "\"seeds\": 0", "[file.seeds] must be 1 .. 1000, got 0");
  refuses("\"seeds\": 3", "\"seeds\": 1001", "[file.seeds] must be 1 .. 1000, got 1001");
  refuses("\"seeds\": 3", "\"sead\": 3", "[file] must be a table of extrapolation");
  refuses("\"seed\": 8", "\"seed\": 7",
          "[file] must have one row per scheme and seed, got b again");
  refuses("\"seed\": 8", "\"seed\": -8", "[file] must be a table of extrapolation");
  refuses("\"seed\": 8", "\"sead\": 8", "[file] must be a table of extrapolation");
  refuses("\"format\": 3", "\"format\": 2", "[file] must have one row per scheme and seed, got b");
  refuses("\"format\": 3", "\"format\": 5", "[file] must be of format 1, 2, 3 or 4");
  refuses("\"format\": 3", "\"format\": 0", "[file] must be of format 1, 2, 3 or 4");
}

}  // namespace
}  // namespace sextant

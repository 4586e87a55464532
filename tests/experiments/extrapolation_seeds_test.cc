// Several seeds of each scheme: which runs they are, in which order, and what is kept of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/json/json.h"
#include "experiments/small_extrapolation.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ExtrapolationSeeds : public SmallExtrapolation {
 protected:
  ExtrapolationOptions options(std::int64_t seeds, const std::string& folder = "runs") const {
    ExtrapolationOptions options = small(folder, {"none", "learned"});
    options.schemes[1] = {"table", {{"learned", {{"seed", "40"}}}}};
    options.data.seed = 5;
    options.model.seed = 9;
    options.dropout = 0.25;
    options.seeds = seeds;
    return options;
  }

  ExtrapolationResult run(const ExtrapolationOptions& options) {
    trained_.clear();
    return extrapolate(options, *tokenizer_, tokens_, held_out_,
                       [&](const ExtrapolationProgress& now) {
                         if (now.doing != "training" || now.training != nullptr) return;
                         trained_.push_back(name_of_run(options, now));
                       });
  }

  std::vector<std::string> trained_;  // in the last run, in their order
};

std::vector<std::string> runs_of(const ExtrapolationTable& table) {
  std::vector<std::string> runs;
  for (const auto& row : table.rows) runs.push_back(row.label + " " + std::to_string(*row.seed));
  return runs;
}

TEST_F(ExtrapolationSeeds, AllSchemesHaveTheirFirstBeforeAnyHasItsSecond) {
  const ExtrapolationResult result = run(options(3));
  EXPECT_THAT(trained_, ElementsAre("none, seed 5", "table, seed 5", "none, seed 6",
                                    "table, seed 6", "none, seed 7", "table, seed 7"));
  EXPECT_THAT(runs_of(result.table),
              ElementsAre("none 5", "none 6", "none 7", "table 5", "table 6", "table 7"));
  EXPECT_EQ(result.table.seeds, 3);
  const ExtrapolationTable file = parse_extrapolation(read_file(path("runs/results.json")), "file");
  EXPECT_EQ(format_csv(file), format_csv(result.table));
}

// Weights, order, dropout and the scheme's own weights.
TEST_F(ExtrapolationSeeds, AreTheRunsOfTheirOwnSeeds) {
  const ExtrapolationTable all = run(options(3)).table;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::string folder = "alone-" + std::to_string(i);
    ExtrapolationOptions alone = options(1, folder);
    alone.data.seed += i;
    alone.model.seed += i;
    alone.schemes[1].schemes = {{"learned", {{"seed", std::to_string(40 + i)}}}};
    const ExtrapolationTable one = run(alone).table;
    const std::string part = i == 0 ? "runs" : "runs/seed-" + std::to_string(5 + i);
    for (std::size_t scheme = 0; scheme < 2; ++scheme) {
      const ExtrapolationRow& row = all.rows[3 * scheme + i];
      EXPECT_EQ(row.seed, one.rows[scheme].seed);
      EXPECT_EQ(row.segments[0].perplexity, one.rows[scheme].segments[0].perplexity);
      EXPECT_EQ(row.sliding[0].perplexity, one.rows[scheme].sliding[0].perplexity);
      EXPECT_EQ(row.validation_loss, one.rows[scheme].validation_loss);
      EXPECT_NE(row.segments[0].perplexity,
                all.rows[3 * scheme + (i + 1) % 3].segments[0].perplexity);
      EXPECT_EQ(differences(path(part + "/" + row.label), path(folder + "/" + row.label)), "");
    }
    EXPECT_EQ(all.rows[3 + i].schemes[0].parameters.at("seed"), "40") << "as it was asked for";
  }
}

// Only the table of learned positions may tell two seeds of it apart from the outside.
TEST_F(ExtrapolationSeeds, ChangeTheOwnWeightsOfASchemeThatHasNoSeedOfItsOwn) {
  ExtrapolationOptions plain = options(2);
  plain.schemes[1] = {"learned", {"learned"}};
  const ExtrapolationTable table = run(plain).table;
  EXPECT_EQ(table.rows[3].schemes[0].parameters.count("seed"), 0U);
  EXPECT_THAT(read_file(path("runs/seed-6/learned/last/config.json")),
              HasSubstr("\"seed\": \"1\""));
  EXPECT_THAT(read_file(path("runs/learned/last/config.json")), Not(HasSubstr("\"seed\": \"")));
  EXPECT_THAT(read_file(path("runs/seed-6/none/last/config.json")), Not(HasSubstr("\"seed\": \"")));
}

TEST_F(ExtrapolationSeeds, GoOnWhereTheyWereStoppedToTheSameFiles) {
  const std::string wanted = format_json(run(options(3, "whole")).table);
  int sittings = 0, asked = 0;
  ExtrapolationOptions parts = options(3);
  parts.should_stop = [&] { return ++asked % 7 == 0; };
  ExtrapolationResult result{.stopped = true};
  bool was_uneven = false;
  for (; result.stopped && sittings < 40; ++sittings) {
    result = run(parts);
    was_uneven = was_uneven || result.table.rows.size() % 2 == 1;
  }
  EXPECT_GT(sittings, 3);
  EXPECT_TRUE(was_uneven) << "some stop lies between two schemes of one seed";
  EXPECT_EQ(format_json(result.table), wanted);
  EXPECT_EQ(differences(path("runs"), path("whole")), "");
}

// As when a rank was killed while others had later seeds.
TEST_F(ExtrapolationSeeds, StandInTheirOrderWhicheverWasMadeLast) {
  run(options(3));
  const std::string whole = read_file(path("runs/results.json"));
  ExtrapolationTable part = parse_extrapolation(whole, "file");
  part.rows.erase(part.rows.begin() + 1);
  Json json = Json::parse(format_json(part));
  json["text"] = Json::parse(whole).at("text");
  write_file(path("runs/results.json"), json.dump());
  EXPECT_THAT(runs_of(run(options(3)).table),
              ElementsAre("none 5", "none 6", "none 7", "table 5", "table 6", "table 7"));
  EXPECT_THAT(trained_, ElementsAre("none, seed 6"));
  EXPECT_EQ(read_file(path("runs/results.json")), whole);
}

TEST_F(ExtrapolationSeeds, OfOneMakeTheFilesWithoutThemAndMoreAreAddedLater) {
  const ExtrapolationTable one = run(options(1)).table;
  EXPECT_THAT(trained_, ElementsAre("none", "table"));
  const std::string plan = read_file(path("runs/plan.json"));
  for (const char* file : {"runs/plan.json", "runs/results.json"}) {
    EXPECT_THAT(read_file(path(file)), Not(HasSubstr("seeds"))) << file;
  }
  EXPECT_THAT(read_file(path("runs/results.json")), Not(HasSubstr("\"seed\": 5")));
  const ExtrapolationTable three = run(options(3)).table;
  EXPECT_THAT(trained_,
              ElementsAre("none, seed 6", "table, seed 6", "none, seed 7", "table, seed 7"));
  EXPECT_EQ(three.rows[0].sliding[0].perplexity, one.rows[0].sliding[0].perplexity);
  EXPECT_EQ(read_file(path("runs/plan.json")), plan);
  const std::string kept = read_file(path("runs/results.json"));
  EXPECT_EQ(format_json(run(options(1)).table), format_json(one));
  EXPECT_THAT(trained_, ElementsAre());
  EXPECT_EQ(read_file(path("runs/results.json")), kept);
  ExtrapolationOptions more = options(1);
  more.schemes.push_back({"alibi", {"alibi"}});
  EXPECT_EQ(run(more).table.rows.size(), 3U);
  const ExtrapolationTable file = parse_extrapolation(read_file(path("runs/results.json")), "file");
  EXPECT_EQ(file.seeds, 3);
  EXPECT_THAT(runs_of(file), ElementsAre("none 5", "none 6", "none 7", "table 5", "table 6",
                                         "table 7", "alibi 5"));
}

TEST_F(ExtrapolationSeeds, ShareTheMinutes) {
  ExtrapolationOptions timed = options(3);
  timed.steps = 0;
  timed.minutes = 10;
  double now = 0;
  timed.clock = [&now] { return now += 0.5; };
  run(timed);
  const Json plan = Json::parse(read_file(path("runs/plan.json")));
  EXPECT_EQ(plan.at("seeds"), 3);
  ASSERT_EQ(plan.at("measured").size(), 2U) << "a seed changes no time";
  // A part of 2 length tokens takes 0.5: all pieces, and windows moved by 4.
  const double scoring = 0.5 * ((64 + 16 * 8) / 16.0 + (64 + 16 * 16) / 32.0);
  EXPECT_EQ(plan.at("steps"), static_cast<std::int64_t>((600.0 / 3 - 2 * scoring) / 1.0));
}

}  // namespace
}  // namespace sextant

// The experiment: equal budgets, plans that stay, results that are not made twice.
#include "sextant/experiments/extrapolation_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/json/json.h"
#include "experiments/extrapolation_plan.h"
#include "experiments/small_extrapolation.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Extrapolation : public SmallExtrapolation {
 protected:
  ExtrapolationOptions options(const std::vector<std::string>& schemes = {"none", "learned"}) {
    return small("runs", schemes);
  }

  ExtrapolationResult run(const ExtrapolationOptions& options) {
    trained_.clear();
    return extrapolate(options, *tokenizer_, tokens_, held_out_,
                       [this](const ExtrapolationProgress& progress) {
                         if (progress.training == nullptr) return;
                         trained_.resize(std::max(trained_.size(), progress.scheme + 1));
                         ++trained_[progress.scheme];
                       });
  }

  Json file(const std::string& name) const { return Json::parse(read_file(path("runs/" + name))); }

  void expect_refused(const ExtrapolationOptions& options, const std::string& message) {
    EXPECT_THAT([&] { run(options); }, ThrowsMessage<Error>(HasSubstr(message)));
  }

  std::vector<int> trained_;  // steps of each scheme in the last run
};

TEST_F(Extrapolation, TrainsEverySchemeForTheSameSteps) {
  const ExtrapolationResult result = run(options({"none", "learned", "alibi", "t5"}));
  EXPECT_THAT(trained_, ElementsAre(6, 6, 6, 6));
  EXPECT_FALSE(result.stopped);
  ASSERT_EQ(result.table.rows.size(), 4u);
  for (const ExtrapolationRow& row : result.table.rows) {
    EXPECT_TRUE(row.segments[0].perplexity) << row.label;
    EXPECT_TRUE(row.sliding[0].perplexity) << row.label;
    EXPECT_EQ(row.segments[1].perplexity.has_value(), row.label != "learned");
    EXPECT_GT(row.validation_loss, 0);
  }
  EXPECT_EQ(result.table.rows[0].weights + 8 * 8, result.table.rows[1].weights);
  EXPECT_EQ(result.table.rows[3].schemes[0].parameters.at("bidirectional"), "no");
  EXPECT_EQ(result.table.scored.first, 16);
  EXPECT_EQ(result.table.scored.count, 64);
  const auto json = file("results.json");
  EXPECT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][0]["segments"][0]["perplexity"],
            *result.table.rows[0].segments[0].perplexity);
}

TEST_F(Extrapolation, DoesNothingTwice) {
  const std::string first = format_json(run(options()).table);
  const std::string second = format_json(run(options()).table);
  EXPECT_THAT(trained_, ElementsAre());
  EXPECT_EQ(first, second);
}

TEST_F(Extrapolation, GoesOnWhereItWasStoppedToTheSameNumbers) {
  ExtrapolationOptions whole = options();
  whole.folder = path("whole");
  const std::string wanted = format_json(run(whole).table);
  // Stopped after every fifth question: within trainings, and between scores.
  int sittings = 0, asked = 0;
  ExtrapolationOptions parts = options();
  parts.should_stop = [&] { return ++asked % 5 == 0; };
  ExtrapolationResult result{.stopped = true};
  for (; result.stopped && sittings < 30; ++sittings) result = run(parts);
  EXPECT_GT(sittings, 2);
  EXPECT_EQ(format_json(result.table), wanted);
  EXPECT_EQ(differences(path("runs"), path("whole")), "");
}

TEST_F(Extrapolation, TakesMoreSchemesIntoTheSamePlan) {
  run(options({"none"}));
  const ExtrapolationResult result = run(options({"alibi", "none"}));
  EXPECT_THAT(trained_, ElementsAre(6));
  EXPECT_EQ(result.table.rows[0].label, "alibi");
  EXPECT_EQ(result.table.rows[1].label, "none");
}

TEST_F(Extrapolation, ScoresAtOtherLengthsWithoutTrainingAgain) {
  const double before = *run(options()).table.rows[0].segments[1].perplexity;
  ExtrapolationOptions other = options();
  other.test_lengths = {4, 8, 16};
  const ExtrapolationResult result = run(other);
  EXPECT_THAT(trained_, ElementsAre());
  EXPECT_EQ(*result.table.rows[0].segments[2].perplexity, before);
  held_out_[20] = held_out_[21];
  EXPECT_NE(*run(other).table.rows[0].segments[2].perplexity, before);
}

TEST_F(Extrapolation, MeasuresHowManyStepsFitAndKeepsThePlan) {
  ExtrapolationOptions timed = options();
  timed.steps = 0;
  timed.minutes = 10;
  double now = 0;
  timed.clock = [&now] { return now += 0.5; };
  run(timed);
  const auto plan = file("plan.json");
  const auto steps = plan["steps"].get<std::int64_t>();
  EXPECT_EQ(plan["limit"]["minutes"], 10);
  ASSERT_EQ(plan["measured"].size(), 2u);
  EXPECT_EQ(plan["measured"][0]["step_seconds"], 0.5);
  // A part of 2 length tokens takes 0.5: all pieces, and windows moved by 4.
  const double scoring = 0.5 * ((64 + 16 * 8) / 16.0 + (64 + 16 * 16) / 32.0);
  EXPECT_EQ(plan["measured"][0]["scoring_seconds"], scoring);
  EXPECT_EQ(steps, static_cast<std::int64_t>((600 - 2 * scoring) / 1.0));
  EXPECT_THAT(trained_, ElementsAre(steps, steps));
  timed.clock = [&now] { return now += 10; };
  run(timed);
  EXPECT_EQ(file("plan.json"), plan);
  timed.minutes = 11;
  expect_refused(timed, "limit.minutes");
}

TEST_F(Extrapolation, RefusesAnotherPlansFolder) {
  run(options());
  ExtrapolationOptions other = options();
  other.steps = 7;
  expect_refused(other, "must have the same limit.steps to continue: it is 6, asked for 7");
  other = options();
  other.learning_rate = 1;
  expect_refused(other, "learning_rate");
  other = options();
  other.model.width = 16;
  expect_refused(other, "model.width");
  other = options();
  other.data.batch_size = 3;
  expect_refused(other, "data.batch_size");
  tokens_[0] = tokens_[1];
  expect_refused(options(), "the same text");
}

TEST_F(Extrapolation, RefusesDamagedFiles) {
  run(options());
  const std::string results = read_file(path("runs/results.json"));
  write_file(path("runs/results.json"), results.substr(0, results.size() / 2));
  expect_refused(options(), "results.json");
  write_file(path("runs/results.json"), results);
  for (const char* text : {"", "[]", "{\"format\": 1}"}) {
    write_file(path("runs/plan.json"), text);
    expect_refused(options(), "plan.json");
  }
}

TEST_F(Extrapolation, RefusesOptionsOutOfRange) {
  const auto refuses = [this](const std::string& message, const auto& change) {
    ExtrapolationOptions changed = options();
    change(changed);
    expect_refused(changed, message);
    EXPECT_FALSE(std::filesystem::exists(path("runs/plan.json"))) << message;
  };
  using Options = ExtrapolationOptions;
  refuses("extrapolation.folder", [](Options& o) { o.folder = ""; });
  refuses("extrapolation.model", [](Options& o) { o.model.kind = ModelKind::masked; });
  refuses("got both", [](Options& o) { o.minutes = 1; });
  refuses("got none", [](Options& o) { o.steps = 0; });
  refuses("extrapolation.steps", [](Options& o) { o.steps = -1; });
  refuses("extrapolation.minutes", [](Options& o) { o.minutes = -1; });
  refuses("extrapolation.scored", [](Options& o) { o.scored = 0; });
  refuses("extrapolation.train_length", [](Options& o) { o.data.length = 1; });
  refuses("extrapolation.test_lengths", [](Options& o) { o.test_lengths = {}; });
  refuses("must be at least 2, got 1", [](Options& o) { o.test_lengths = {1, 2}; });
  refuses("must rise, got 8 after 8", [](Options& o) { o.test_lengths = {8, 8}; });
  refuses("extrapolation.stride", [](Options& o) { o.stride = 9; });
  refuses("extrapolation.schemes", [](Options& o) { o.schemes.clear(); });
  refuses("must not repeat", [](Options& o) { o.schemes[1].label = "none"; });
  refuses("labels for folders", [](Options& o) { o.schemes[1].label = ".."; });
  refuses("labels for folders", [](Options& o) { o.schemes[1].label = "plan.json"; });
  refuses("labels for folders", [](Options& o) { o.schemes[1].label = "seed 1"; });
  refuses("must be 1 .. 1000, got 0", [](Options& o) { o.seeds = 0; });
  refuses("must be 1 .. 1000, got 1001", [](Options& o) { o.seeds = 1001; });
  refuses("must end at seed 2^32 - 1 at most, got 2 from 4294967295 on", [](Options& o) {
    o.seeds = 2;
    o.data.seed = 0xffffffff;
  });
  refuses("must end at seed 2^32 - 1 at most", [](Options& o) {
    o.seeds = 3;
    o.model.seed = 0xfffffffe;
  });
  refuses("[learned.seed]", [](Options& o) {
    o.seeds = 2;
    o.schemes[1].schemes = {{"learned", {{"seed", "4294967295"}}}};
  });
  refuses("nothing", [](Options& o) { o.schemes[1].schemes = {"nothing"}; });
  refuses("forgetting", [](Options& o) { o.schemes[1].schemes = {"forgetting"}; });
  refuses("base", [](Options& o) { o.schemes[1] = {"a", {{"rotary", {{"base", "x"}}}}}; });
  refuses("extrapolation.tokens", [](Options& o) { o.test_lengths = {51}; });
  refuses("language_task.tokens", [](Options& o) {
    o.data.length = 400;
    o.minutes = 1;
    o.steps = 0;
  });
  refuses("extrapolation.minutes", [](Options& o) {
    o.steps = 0;
    o.minutes = 1e-3;
    double now = 0;
    o.clock = [now]() mutable { return now += 1; };
  });
}

TEST(StepsThatFit, AreWhatScoringLeaves) {
  EXPECT_EQ(steps_that_fit(1, {{"a", 0.25, 5}, {"b", 0.75, 10}}), 45);
  EXPECT_EQ(steps_that_fit(1, {{"a", 60, 0}}), 1);
  EXPECT_THROW(steps_that_fit(1, {{"a", 60, 1}}), Error);
  EXPECT_EQ(steps_that_fit(3, {{"a", 0.25, 5}, {"b", 0.75, 10}}, 1, 3), 45);
}

// On two ranks: a and then c beside b, of which a step takes 1.5 s; those of one rank beside the
// longest scheme.
TEST(StepsThatFit, AreMoreWhereRanksShareTheSchemes) {
  const std::vector<Measured> measured = {{"a", 0.5, 6}, {"b", 2, 0}, {"c", 1, 3}};
  EXPECT_EQ(steps_that_fit(1, measured), 14);  // 51 / 3.5
  EXPECT_EQ(steps_that_fit(1, measured, 2), 30);
  EXPECT_EQ(steps_that_fit(1, measured, 3), 30);
  EXPECT_EQ(steps_that_fit(1, {{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}}, 2), 30);
  EXPECT_EQ(steps_that_fit(1, {{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}}, 2, 2), 20);
}

TEST(Fingerprint, DependsOnEveryTokenAndTheirOrder) {
  EXPECT_EQ(fingerprint({1, 2, 3}), fingerprint({1, 2, 3}));
  EXPECT_EQ(fingerprint({1, 2, 3}).size(), 16u);
  EXPECT_NE(fingerprint({1, 2, 3}), fingerprint({1, 3, 2}));
  EXPECT_NE(fingerprint({1, 2, 3}), fingerprint({1, 2}));
  EXPECT_NE(fingerprint({}), fingerprint({0}));
}

}  // namespace
}  // namespace sextant

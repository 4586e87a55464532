// A trained model that is trained further with other positions: its rows before and after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments/small_extrapolation.h"
#include "sextant/core/error.h"
#include "sextant/experiments/exchange_positions.h"
#include "sextant/training/adamw.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class FurtherTraining : public SmallExtrapolation {
 protected:
  FurtherTraining() : model_(model("rotary")) {}

  TextModel model(const std::string& scheme) const {
    TransformerConfig config = small("runs", {}).model;
    config.schemes = {scheme};
    config.length = 8;
    config.seed = 3;
    return TextModel(config, *tokenizer_);
  }

  ExtrapolationOptions options(const std::string& folder = "runs") {
    ExtrapolationOptions options = small(folder, {"none", "alibi"});
    options.learning_rate = 0.01;
    train_further(options, model_);
    return options;
  }

  ExtrapolationResult run(const ExtrapolationOptions& options) const {
    return extrapolate(options, *tokenizer_, tokens_, held_out_);
  }

  // The model of `scheme` ("": its own) after the six steps: gradients of whole batches and AdamW,
  // without the trainer.
  TextModel trained_alone(const std::string& scheme) const {
    TextModel start = model("rotary");
    if (!scheme.empty()) start.replace_schemes({scheme});
    LanguageTask task({tokens_, held_out_}, std::move(start), {.length = 8, .batch_size = 2});
    AdamW optimiser(task.parameters(), {.beta2 = 0.99, .weight_decay = 0.1, .clip_norm = 1});
    constexpr double kPeak = 0.01, kPi = 3.14159265358979323846;
    for (int step = 0; step < 6; ++step) {
      Workspace memory;
      Pass pass{.memory = memory, .threads = 1};
      const double tokens = 16;  // 2 sequences of 8
      task.accumulate(step, 0, 1 / tokens, pass);
      // Without a warm-up, as 6 / 10 is 0: a cosine from the peak to a tenth of it.
      const double rate = kPeak * (0.1 + 0.9 * (1 + std::cos(kPi * (step + 1) / 6)) / 2);
      optimiser.step(task.parameters(), task.gradients(), rate, 1);
      set_to_zero(task.gradients());
    }
    return std::move(task.model());
  }

  void expect_scores(const ExtrapolationRow& row, const LanguageModel<float>& of,
                     double tolerance) const {
    const ScoredTokens scored{16, 64};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t length = i == 0 ? 8 : 16;
      const auto near = [&](const LengthScore& score, const LengthScore& wanted) {
        ASSERT_TRUE(score.perplexity) << row.label;
        EXPECT_NEAR(*score.perplexity, *wanted.perplexity, tolerance * *wanted.perplexity)
            << with_stage(row.label, row.stage) << " at " << length;
      };
      near(row.segments[i], segment_perplexity(of, held_out_, scored, length));
      near(row.sliding[i], sliding_perplexity(of, held_out_, scored, length, 4));
    }
  }

  TextModel model_;
};

std::vector<std::string> labels(const ExtrapolationTable& table) {
  std::vector<std::string> all;
  for (const auto& row : table.rows) all.push_back(with_stage(row.label, row.stage));
  return all;
}

// The learning rates of both differ by roundings of a double, and Adam's steps with them by less
// than one rounding of a float: after 6 steps of 0.01 at most 6 roundings of weights of about 1,
// through 2 layers' worth of products. 1e-5 is 40 times that.
TEST_F(FurtherTraining, IsThatOfALoopOverTheSameBatches) {
  const ExtrapolationTable table = run(options()).table;
  ASSERT_THAT(labels(table),
              ElementsAre("rotary, its own, before", "rotary, its own, after", "none, before",
                          "none, after", "alibi, before", "alibi, after"));
  EXPECT_EQ(table.steps, 6);
  EXPECT_EQ(table.train_length, 8);
  const std::vector<std::string> schemes = {"", "none", "alibi"};
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    TextModel before = model("rotary");
    if (!schemes[i].empty()) before.replace_schemes({schemes[i]});
    expect_scores(table.rows[2 * i], before, 0);
    expect_scores(table.rows[2 * i + 1], trained_alone(schemes[i]), 1e-5);
    EXPECT_LT(*table.rows[2 * i + 1].segments[0].perplexity,
              *table.rows[2 * i].segments[0].perplexity);
  }
  EXPECT_EQ(table.rows[3].schemes, SchemeSpecs{"none"});
  // The rows before are those of exchange_positions().
  ExtrapolationOptions scoring = small("", {"none", "alibi"});
  const auto exchanged = exchange_positions(model_, held_out_, scoring).table;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(exchanged.rows[i].segments[1].perplexity, table.rows[2 * i].segments[1].perplexity);
  }
}

TEST_F(FurtherTraining, GoesOnWhereItWasStoppedToTheSameNumbers) {
  const std::string wanted = format_json(run(options("whole")).table);
  int sittings = 0, asked = 0;
  ExtrapolationOptions parts = options();
  parts.should_stop = [&] { return ++asked % 6 == 0; };
  ExtrapolationResult result{.stopped = true};
  for (; result.stopped && sittings < 40; ++sittings) result = run(parts);
  EXPECT_GT(sittings, 3);
  EXPECT_EQ(format_json(result.table), wanted);
  EXPECT_EQ(differences(path("runs"), path("whole")), "");
  const TextModel kept = TextModel::load(path("runs/none/last"));
  EXPECT_EQ(kept.config.schemes, SchemeSpecs{"none"});
}

TEST_F(FurtherTraining, IsOfOneModel) {
  run(options());
  model_.embedding.table().data()[0] += 1;
  EXPECT_THAT([&] { run(options()); }, ThrowsMessage<Error>(HasSubstr("model.weights")));
  ExtrapolationOptions learning = options("other");
  learning.schemes.push_back({"t5", {"t5"}});
  EXPECT_THAT([&] { run(learning); },
              ThrowsMessage<Error>(HasSubstr("[extrapolation.schemes] must be schemes that learn "
                                             "nothing")));
  EXPECT_FALSE(std::filesystem::exists(path("other")));
}

// A learned table of 8 rows cannot be trained at 16 tokens.
TEST_F(FurtherTraining, RefusesLengthsThatItsPositionsDoNotHave) {
  const TextModel learned = model("learned");
  ExtrapolationOptions longer = small("runs", {"none"});
  longer.data.length = 128;
  train_further(longer, learned);
  EXPECT_EQ(longer.data.length, 8);
  longer.data.length = 16;
  EXPECT_THAT([&] { run(longer); }, ThrowsMessage<Error>(HasSubstr("learned")));
}

TEST_F(FurtherTraining, HasStagesInItsFiles) {
  ExtrapolationOptions two = options();
  two.seeds = 2;
  const ExtrapolationTable table = run(two).table;
  EXPECT_EQ(table.rows.size(), 12u);
  const ExtrapolationTable read = parse_extrapolation(format_json(table), "table");
  EXPECT_EQ(format_json(read), format_json(table));
  EXPECT_EQ(read.rows[2].stage, TrainingStage::after);
  EXPECT_THAT(format_csv(table), HasSubstr("scheme,stage,seed,scoring,length,perplexity\n"));
  EXPECT_THAT(format_csv(table), HasSubstr("\nnone,after,1,sliding,16,"));
  EXPECT_THAT([] { parse_extrapolation("{\"format\": 5}", "table"); },
              ThrowsMessage<Error>(HasSubstr("must be of format 1, 2, 3 or 4")));
}

}  // namespace
}  // namespace sextant

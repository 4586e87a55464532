// Recipes, what follows from them, what run.json keeps, and the tasks that plans make.
#include "sextant/training/tasks/training_plan.h"
#include "core/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/generate.h"
#include "sextant/models/text_model.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/make_task.h"
#include "support/error_of.h"
#include "training/run_folders.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class Plans : public RunFolders {
 protected:
  // A language model of letters that learns in a moment.
  TrainingPlan letters() {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "abcdefghij\n";
    write_file(path("text"), text);
    TrainingPlan plan = default_plan("lm");
    plan.settings.files = {data_file(path("text"))};
    plan.settings.model.width = 16;
    plan.settings.model.heads = 2;
    plan.settings.model.layers = 1;
    plan.settings.task.length = 16;
    plan.settings.task.batch_size = 2;
    plan.trainer.steps = 4;
    plan.trainer.threads = 1;
    plan.trainer.folder = path("run");
    return plan;
  }

  // `steps`: other than those that the schedule is made for; 0: these.
  static TrainingResult run(TrainingPlan& plan, std::int64_t steps = 0) {
    fill_defaults(plan);
    const PlannedTask made = make_task(plan, "");
    plan.trainer.settings = format_settings(plan);
    if (steps > 0) plan.trainer.steps = steps;
    return train(*made.task, plan.trainer);
  }
};

TEST_F(Plans, WhatFollowsIsFilledIn) {
  TrainingPlan plan = default_plan("translate");
  plan.settings.model.schemes = {{"rotary", {{"file", "none"}, {"base", "500"}}}};
  plan.trainer.seed = 7;
  plan.trainer.steps = 1000;
  fill_defaults(plan);
  EXPECT_EQ(plan.settings.tokenizer.vocabulary_size, 12000);
  EXPECT_EQ(plan.settings.model.length, 2 * 128 + 16);
  EXPECT_EQ(plan.settings.model.seed, 7u);
  EXPECT_TRUE(plan.settings.table.empty());
  EXPECT_EQ(plan.settings.model.schemes[0].parameters.size(), 1u);
  EXPECT_EQ(plan.trainer.schedule.decay, Decay::cosine);
  EXPECT_EQ(plan.trainer.schedule.steps, 1000);
  EXPECT_EQ(plan.trainer.schedule.warmup, 100) << "400, but at most a tenth of the steps";

  TrainingPlan masked = default_plan("mlm");
  masked.trainer.minutes = 1;
  masked.settings.model.schemes[0].parameters["file"] = "table.npy";
  fill_defaults(masked);
  EXPECT_EQ(masked.settings.tokenizer.vocabulary_size, 4000);
  EXPECT_EQ(masked.settings.model.length, 128);
  EXPECT_EQ(masked.trainer.schedule.decay, Decay::inverse_square_root);
  ASSERT_EQ(masked.settings.table.size(), 1u);
  EXPECT_THAT(masked.settings.table[0].path, HasSubstr("/table.npy"));
}

TEST_F(Plans, AChosenScheduleStays) {
  TrainingPlan plan = default_plan("lm");
  plan.trainer.steps = 100;
  plan.trainer.schedule.decay = Decay::constant;
  plan.trainer.schedule.warmup = 90;
  fill_defaults(plan, {.decay = true, .warmup = true});
  EXPECT_EQ(plan.trainer.schedule.decay, Decay::constant);
  EXPECT_EQ(plan.trainer.schedule.warmup, 90);
  for (const Decay decay : {Decay::cosine, Decay::linear, Decay::wsd}) {
    plan.trainer.steps = 100;
    plan.trainer.schedule = {.decay = decay, .peak = 0.5, .warmup = 90};
    fill_defaults(plan, {.decay = true, .warmup = true});
    EXPECT_EQ(plan.trainer.schedule.decay, decay);
    EXPECT_EQ(plan.trainer.schedule.steps, 100);
    EXPECT_EQ(plan.trainer.schedule.floor, 0.025);
    plan.trainer.steps = 0;
    EXPECT_THAT([&] { fill_defaults(plan, {.decay = true}); },
                ThrowsMessage<Error>("[train.decay] must not be " + std::string(name_of(decay)) +
                                     " without --steps or --epochs, which say where it ends"));
  }
  EXPECT_THROW(default_plan("rhymes"), Error);
}

TEST_F(Plans, AreReadFromTheFolderOfARun) {
  TrainingPlan plan = letters();
  plan.settings.task.label_smoothing = 0.25;
  EXPECT_EQ(run(plan).step, 4);
  const TrainingPlan found = read_plan(path("run"));
  EXPECT_EQ(found.settings.kind, "lm");
  EXPECT_EQ(found.settings.task.label_smoothing, 0.25);
  EXPECT_EQ(found.settings.files[0].path, path("text"));
  EXPECT_EQ(found.settings.files[0].checksum, checksum_of(read_file(path("text"))));
  EXPECT_EQ(format_settings(found), format_settings(plan));
  EXPECT_EQ(found.trainer.schedule.decay, Decay::cosine);
}

// A run and its data move together: the way from one to the other is the same.
TEST_F(Plans, FindDataThatMovedWithTheRun) {
  TrainingPlan plan = letters();
  run(plan);
  std::filesystem::create_directory(path("moved"));
  for (const char* name : {"text", "run"}) {
    std::filesystem::rename(path(name), path("moved/") + name);
  }
  TrainingPlan again = read_plan(path("moved/run"));
  EXPECT_EQ(again.settings.files[0].path, path("moved/text"));
  const PlannedTask made = make_task(again, path("moved/run"));
  again.trainer.steps = 6;
  EXPECT_EQ(train(*made.task, again.trainer).step, 6);
  // What is where it was comes first.
  write_file(path("text"), "another\n");
  again = read_plan(path("moved/run"));
  EXPECT_EQ(again.settings.files[0].path, path("text"));
}

TEST_F(Plans, TakeTheSameDataFromAnotherPlace) {
  TrainingPlan plan = letters();
  run(plan);
  std::filesystem::rename(path("text"), path("elsewhere"));
  std::filesystem::remove_all(path("run/data"));
  TrainingPlan again = read_plan(path("run"));
  EXPECT_THAT(error_of([&] { make_task(again, path("run")); }),
              HasSubstr("/text] cannot be opened"));
  move_data(again.settings.files, {path("elsewhere")}, "train.file");
  const PlannedTask made = make_task(again, path("run"));
  again.trainer.steps = 6;
  EXPECT_EQ(train(*made.task, again.trainer).step, 6);
  write_file(path("other"), "another\n");
  move_data(again.settings.files, {path("other")}, "train.file");
  EXPECT_THAT(error_of([&] { make_task(again, path("run")); }), HasSubstr("but has changed"));
  EXPECT_THAT(error_of([&] {
                move_data(again.settings.files, {"a", "b"}, "train.file");
              }),
              HasSubstr("[train.file] must be as many files as the run has, 1, got 2"));
}

// The steps are those that the same number of epochs has, in all that has a period.
TEST_F(Plans, EpochsAreSteps) {
  TrainingPlan plan = letters();
  plan.trainer.steps = 0;
  plan.epochs = {
      .epochs = 2.5, .warmup_epochs = 0.5, .validate_epochs = 1, .checkpoint_epochs = 0.25};
  fill_defaults(plan);
  const PlannedTask made = make_task(plan, "");
  const std::int64_t epoch = made.steps_per_epoch;
  ASSERT_EQ(epoch, 12);
  EXPECT_EQ(plan.trainer.steps, 30);
  EXPECT_EQ(plan.trainer.validate_every, 12);
  EXPECT_EQ(plan.trainer.checkpoint_every, 3);
  EXPECT_EQ(plan.trainer.schedule.warmup, 6);
  EXPECT_EQ(plan.trainer.schedule.decay, Decay::cosine);
  EXPECT_EQ(plan.trainer.schedule.steps, 30);
  plan.trainer.settings = format_settings(plan);
  EXPECT_EQ(train(*made.task, plan.trainer).step, 30);
  // A run goes on to another number of them.
  TrainingPlan again = read_plan(path("run"));
  again.epochs = {.epochs = 3, .validate_epochs = 0.1};
  const PlannedTask more = make_task(again, path("run"));
  EXPECT_EQ(again.trainer.steps, 36);
  EXPECT_EQ(again.trainer.validate_every, 12) << "as the run has it";
  EXPECT_EQ(train(*more.task, again.trainer).step, 36);
}

TEST_F(Plans, EpochsGiveTheBitsOfTheirSteps) {
  const auto weights = [this](bool in_epochs) {
    std::filesystem::remove_all(path("run"));
    TrainingPlan plan = letters();
    plan.trainer.steps = in_epochs ? 0 : 12;
    if (in_epochs) plan.epochs.epochs = 1;
    run(plan);
    return read_file(path("run/last/model.safetensors"));
  };
  EXPECT_TRUE(weights(true) == weights(false));
}

TEST_F(Plans, EpochsEndWithTheFirstLimitAndAreChecked) {
  TrainingPlan plan = letters();
  plan.trainer.steps = 5;
  plan.epochs.epochs = 1;
  fill_defaults(plan);
  make_task(plan, "");
  EXPECT_EQ(plan.trainer.steps, 5);
  plan.epochs.epochs = 1e-9;
  make_task(plan, "");
  EXPECT_EQ(plan.trainer.steps, 1) << "one at least";
  for (const double bad : {-1.0, 1e300, std::nan("")}) {
    plan.epochs = {.validate_epochs = bad};
    plan.epochs.epochs = 1;
    EXPECT_THAT(error_of([&] { make_task(plan, ""); }), HasSubstr("validate_epochs] must be"));
  }
}

TEST_F(Plans, AreReadWithTheKeysOfEarlierVersions) {
  TrainingPlan plan = letters();
  plan.settings.task.label_smoothing = 0.25;
  plan.settings.task.mask_probability = 0.5;
  plan.settings.augment.swap = true;
  run(plan);
  Json stored = Json::parse(read_file(path("run/run.json")));
  stored.erase("checksum");
  std::string text = stored.dump();
  for (const auto& [now, before] : {std::pair{"batch_size", "batch"},
                                    {"accumulation_steps", "parts"},
                                    {"mask_probability", "masked"},
                                    {"label_smoothing", "smoothing"},
                                    {"augment_swap", "augment_turn"},
                                    {"kv_heads", "heads_k"},
                                    {"ffn_width", "hidden"}}) {
    const std::string key = "\"" + std::string(now) + "\":";
    ASSERT_NE(text.find(key), std::string::npos) << key;
    text.replace(text.find(key), key.size(), "\"" + std::string(before) + "\":");
  }
  stored = Json::parse(text);
  stored["checksum"] = checksum_of(stored.dump());
  write_file(path("run/run.json"), stored.dump(2) + "\n");
  EXPECT_EQ(format_settings(read_plan(path("run"))), format_settings(plan));
}

TEST_F(Plans, AreReadWithTheOneSchemeOfEarlierVersions) {
  TrainingPlan plan = letters();
  plan.settings.model.schemes = {{"rotary", {{"base", "500"}}}};
  run(plan);
  Json stored = Json::parse(read_file(path("run/run.json")));
  stored.erase("checksum");
  Json& model = stored["settings"]["model"];
  model["scheme"] = "rotary";
  model["scheme_parameters"] = {{"base", "500"}};
  model.erase("schemes");
  stored["checksum"] = checksum_of(stored.dump());
  write_file(path("run/run.json"), stored.dump(2) + "\n");
  TrainingPlan again = read_plan(path("run"));
  EXPECT_EQ(again.settings.model.schemes, plan.settings.model.schemes);
  const PlannedTask made = make_task(again, path("run"));
  again.trainer.steps = 6;
  EXPECT_EQ(train(*made.task, again.trainer).step, 6);
}

// With several schemes: the weights of each are saved and found again, and the bits go on.
TEST_F(Plans, ARunWithSeveralSchemesGoesOn) {
  const auto weights_after = [this](std::initializer_list<std::int64_t> steps) {
    std::filesystem::remove_all(path("run"));
    TrainingPlan plan = letters();
    plan.settings.model.schemes = {"learned", {"rotary", {{"base", "500"}}}, "t5"};
    run(plan, *steps.begin());
    if (steps.size() > 1) {
      TrainingPlan again = read_plan(path("run"));
      EXPECT_EQ(again.settings.model.schemes, plan.settings.model.schemes);
      const PlannedTask made = make_task(again, path("run"));
      again.trainer.steps = *(steps.end() - 1);
      train(*made.task, again.trainer);
    }
    return read_file(path("run/last/model.safetensors"));
  };
  const std::string straight = weights_after({6});
  EXPECT_THAT(straight, HasSubstr("positions.t5.table"));
  EXPECT_THAT(straight, HasSubstr("positions.learned.table"));
  EXPECT_EQ(weights_after({4, 6}), straight);
  const ModelFolder folder = open_model_folder(path("run/last"));
  EXPECT_EQ(names_of(folder.config.schemes), "learned+rotary+t5");
  const TextModel model = TextModel::load(folder);
  EXPECT_EQ(generate(model, folder.tokenizer.encode("abc"), {.max_tokens = 4}).tokens.size(), 4u);
}

// As in Vaswani et al. 2017; a model that training goes on from keeps what it has.
TEST_F(Plans, PostNormModelsHaveNoNormAfterTheLastBlock) {
  TrainingPlan plan = letters();
  plan.settings.model.pre_norm = false;
  run(plan);
  const std::string weights = read_file(path("run/last/model.safetensors"));
  EXPECT_THAT(weights, HasSubstr("stack.0.feed_forward_norm.gain"));
  EXPECT_THAT(weights, Not(HasSubstr("final_norm")));
  EXPECT_FALSE(read_plan(path("run")).settings.model.final_norm);
  EXPECT_FALSE(open_model_folder(path("run/last")).config.final_norm);

  TransformerConfig old = open_model_folder(path("run/last")).config;
  old.final_norm = true;
  TextModel(old, open_model_folder(path("run/last")).tokenizer).save(path("old"));
  EXPECT_THAT(read_file(path("old/config.json")), Not(HasSubstr("final_norm")));
  TrainingPlan next = letters();
  next.settings.from = {data_file(path("old"))};
  next.trainer.folder = path("next");
  run(next);
  EXPECT_THAT(read_file(path("next/last/model.safetensors")), HasSubstr("final_norm"));
}

TEST_F(Plans, AResumedTaskIsThatOfTheRun) {
  TrainingPlan plan = letters();
  run(plan);
  TrainingPlan again = read_plan(path("run"));
  const PlannedTask made = make_task(again, path("run"));
  EXPECT_STREQ(made.unit, "tokens");
  EXPECT_EQ(made.train + made.held_out, 40u * 11);
  EXPECT_EQ(made.steps_per_epoch, static_cast<std::int64_t>(made.train / 16 - 1) / 2);
  again.trainer.steps = 6;
  again.trainer.threads = 1;
  EXPECT_EQ(train(*made.task, again.trainer).step, 6);
  write_file(path("text"), read_file(path("text")) + "k");
  again = read_plan(path("run"));
  EXPECT_THAT(error_of([&] { make_task(again, path("run")); }),
              HasSubstr("must be the same as at the start of the run, but has changed"));
}

TEST_F(Plans, GoOnFromAnotherModel) {
  TrainingPlan plan = letters();
  run(plan);
  TrainingPlan next = default_plan("lm");
  next.settings.files = plan.settings.files;
  next.settings.from = {data_file(path("run"))};
  next.settings.task.length = 16;
  next.trainer.steps = 1;
  fill_defaults(next);
  const PlannedTask made = make_task(next, "");
  EXPECT_EQ(next.settings.model.width, 16);
  TextModel model = TextModel::load(path("run"));
  const Parameters<float> wanted = model.parameters(), found = made.task->parameters();
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(found[i].tensor->span(), wanted[i].tensor->span()));
  }
  TrainingPlan pairs = default_plan("translate");
  pairs.settings.from = next.settings.from;
  EXPECT_THAT(error_of([&] { make_task(pairs, ""); }),
              HasSubstr("[train.from] must be a translator for translate, got a causal"));
}

TEST_F(Plans, PairsAreSplitAndTurnedAround) {
  std::string text = "many\tone\n";
  for (char a = 'a'; a <= 'j'; ++a) text += std::string(3, a) + "\t" + std::string(1, a) + "\n";
  write_file(path("pairs"), text);
  TrainingPlan plan = default_plan("translate");
  plan.settings.files = {data_file(path("pairs"))};
  plan.settings.tokenizer.kind = TokenizerKind::character;
  plan.settings.model.width = 16;
  plan.settings.model.heads = 2;
  plan.settings.model.layers = 1;
  plan.settings.held_out = 0.2;
  plan.settings.task.batch_size = 100;
  plan.trainer.steps = 1;
  fill_defaults(plan);
  const PlannedTask made = make_task(plan, "");
  EXPECT_STREQ(made.unit, "pairs");
  EXPECT_EQ(made.train, 8u);
  EXPECT_EQ(made.held_out, 2u);
  // A target of one letter and its end; the other way round three and theirs.
  const std::int64_t tokens = made.task->target_tokens(0);
  plan.settings.reverse = true;
  EXPECT_EQ(make_task(plan, "").task->target_tokens(0), 2 * tokens);
  plan.settings.task.subword_dropout = 0.1;
  EXPECT_THAT(error_of([&] { make_task(plan, ""); }), HasSubstr("with sub-words only"));
}

TEST(BuiltInData, IsAnotherForEachPurposeAndSeed) {
  const BuiltInData data = built_in_data("dates", 1);
  EXPECT_EQ(data.training.source.size(), 20000u);
  EXPECT_EQ(data.validation.source.size(), 500u);
  EXPECT_EQ(data.check.source.size(), 1000u);
  EXPECT_NE(data.validation.source[0], data.check.source[0]);
  EXPECT_NE(built_in_data("dates", 2).training.source[0], data.training.source[0]);
}

}  // namespace
}  // namespace sextant

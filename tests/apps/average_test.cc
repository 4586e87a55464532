// `sextant average`: the mean of two models' weights, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "apps/run_program.h"
#include "apps/trained_models.h"
#include "sextant/core/safetensors.h"
#include "sextant/models/average.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

// The weights of `from`, each by a factor of its own.
void save_other(const std::string& from, const std::string& to) {
  std::filesystem::copy(from, to);
  const ModelFolder folder = open_model_folder(to);
  LanguageModel<float> model = load_language_model(folder);
  for (const auto& each : model.parameters()) {
    for (std::int64_t i = 0; i < each.tensor->count(); ++i) {
      each.tensor->data()[i] *= 1 + 0.01F * static_cast<float>(i % 7);
    }
  }
  save_model_folder(to, folder.config, folder.tokenizer, model.parameters());
}

TEST(Average, IsTheMeanOfEachWeight) {
  const Folder folder;
  save_other(alphabet_model(), folder / "other");
  const Outcome outcome = sextant("average --model " + alphabet_model() + " --model " +
                                  (folder / "other") + " -o " + (folder / "mean"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the mean of 2 models"));
  const auto weights = [](const std::string& of) {
    return load_safetensors(of + "/model.safetensors").tensors;
  };
  const auto a = weights(alphabet_model()), b = weights(folder / "other"),
             mean = weights(folder / "mean");
  ASSERT_EQ(mean.size(), a.size());
  for (const auto& [name, stored] : mean) {
    const Tensor<double> x = a.at(name).to<double>(), y = b.at(name).to<double>(),
                         found = stored.to<double>();
    for (std::int64_t i = 0; i < found.count(); ++i) {
      ASSERT_EQ(found.data()[i], static_cast<float>((x.data()[i] + y.data()[i]) / 2)) << name;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "mean.partial"));
  EXPECT_EQ(sextant("generate --model " + (folder / "mean") + " --prompt abc --tokens 4").code, 0);
}

TEST(Average, OfOneModelTwiceIsThatModel) {
  const Folder folder;
  const std::string& model = turning_model();
  const std::string one = " --model " + model;
  ASSERT_EQ(sextant("average" + one + one + " -o " + (folder / "mean")).code, 0);
  for (const char* file : {"/model.safetensors", "/config.json", "/tokenizer.json"}) {
    EXPECT_EQ(contents((folder / "mean") + file), contents(model + file)) << file;
  }
}

TEST(Average, RefusesModelsThatDoNotFitTogether) {
  const Folder folder;
  const auto refused = [&folder](const std::string& models, const std::string& why) {
    const Outcome outcome = sextant("average" + models + " -o " + (folder / "mean"));
    EXPECT_NE(outcome.code, 0);
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_FALSE(std::filesystem::exists(folder / "mean"));
    EXPECT_FALSE(std::filesystem::exists(folder / "mean.partial"));
  };
  const std::string one = " --model " + alphabet_model();
  refused(one, "[average.models] must be two or more, got 1");
  refused(one + " --model " + turning_model(), "must have the config of " + alphabet_model());
  refused(one + " --model " + (folder / "none"), "must be a model's folder");
  refused("", "--model is required");
  std::filesystem::create_directories(folder / "words");
  const ModelFolder known = open_model_folder(alphabet_model());
  LanguageModel<float> model = load_language_model(known);
  save_model_folder(
      folder / "words", known.config,
      Tokenizer::train(std::vector<std::string>{"klmnopqrst"}, {.kind = TokenizerKind::character}),
      model.parameters());
  refused(one + " --model " + (folder / "words"), "must have the tokenizer of " + alphabet_model());
  const Outcome taken = sextant("average" + one + one + " -o " + alphabet_model());
  EXPECT_EQ(taken.code, 1);
  EXPECT_THAT(taken.err, HasSubstr("must be a folder that is not there yet"));
  put(folder / "mean.partial", "mine");
  EXPECT_EQ(sextant("average" + one + one + " -o " + (folder / "mean")).code, 1);
  EXPECT_EQ(contents(folder / "mean.partial"), "mine");
}

}  // namespace
}  // namespace sextant::app_tests

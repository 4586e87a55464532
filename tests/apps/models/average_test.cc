// `sextant average`: the mean of two models' weights, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"
#include "sextant/core/safetensors.h"
#include "sextant/models/average.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

// The weights of `from`, each by a factor of its own.
void save_other(const std::string& from, const std::string& to) {
  std::filesystem::copy(from, to);
  TextModel model = TextModel::load(to);
  for (const auto& each : model.parameters()) {
    for (std::int64_t i = 0; i < each.tensor->count(); ++i) {
      each.tensor->data()[i] *= 1 + 0.01F * static_cast<float>(i % 7);
    }
  }
  model.save(to);
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
  EXPECT_EQ(names_in(folder.path().string()), (std::set<std::string>{"mean", "other"}));
  EXPECT_EQ(sextant("generate --model " + (folder / "mean") + " --prompt abc --max-tokens 4").code,
            0);
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
    for (const std::string& name : names_in(folder.path().string()))
      EXPECT_EQ(name.find("mean"), name.npos);
  };
  const std::string one = " --model " + alphabet_model();
  refused(one, "[average.model] must be given twice or more, got it once");
  EXPECT_EQ(sextant("average" + one + " -o " + (folder / "mean")).code, 2);
  refused(one + " --model " + turning_model(), "must have the config of " + alphabet_model());
  refused(one + " --model " + (folder / "none"), "must be a model's folder");
  refused("", "[average.model] --model is required");
  TextModel words = TextModel::load(alphabet_model());
  words.tokenizer =
      Tokenizer::train(std::vector<std::string>{"klmnopqrst"}, {.kind = TokenizerKind::character});
  words.save(folder / "words");
  refused(one + " --model " + (folder / "words"), "must have the tokenizer of " + alphabet_model());
  const Outcome taken = sextant("average" + one + one + " -o " + alphabet_model());
  EXPECT_EQ(taken.code, 1);
  EXPECT_THAT(taken.err, HasSubstr("must be a folder that does not exist yet"));
}

TEST(Average, GoesOverWhatAKilledOneLeft) {
  const Folder folder;
  const std::string one = " --model " + alphabet_model();
  const std::string to = "average" + one + one + " -o " + (folder / "deep/mean");
  // Killed while it writes: at the first file of its folder.
  const Outcome killed = shell(
      "\"" + sextant::tests::program() + "\" " + to + " & pid=$!\nuntil ls " + (folder / "deep") +
      "/mean.partial-* > /dev/null 2>&1 || ! kill -0 $pid 2>/dev/null; do :; done\n" +
      "kill -9 $pid; wait $pid; exit 0");
  ASSERT_EQ(killed.code, 0) << killed.err;
  std::filesystem::remove_all(folder / "deep/mean");  // where it was faster
  // As if it had been, whichever was the faster one; and what is not of this kind.
  const auto leave = [&](const std::string& name) {
    std::filesystem::create_directories(folder / ("deep/" + name));
    put(folder / ("deep/" + name + "/config.json"), "{");
  };
  leave("mean.partial-999999999");
  leave("mean.partial-" + std::to_string(::getpid()));  // a process that lives
  leave("mean.partial-x");
  leave("mean.partial");
  leave("other.partial-999999999");
  const Outcome again = sextant(to + "/");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(names_in(folder / "deep"),
            (std::set<std::string>{"mean", "mean.partial", "mean.partial-x",
                                   "mean.partial-" + std::to_string(::getpid()),
                                   "other.partial-999999999"}));
  EXPECT_NE(contents(folder / "deep/mean/model.safetensors"), "");
}

}  // namespace
}  // namespace sextant::app_tests

// `sextant export`: what it writes is a model again, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Export, WritesAFolderThatEveryCommandOpens) {
  const Folder folder;
  const std::string export_model = "export --model " + alphabet_model() + " -o ";
  const Outcome outcome = sextant(export_model + (folder / "hf"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("of model type gpt_neox"));
  const std::string prompt = " --prompt abc --max-tokens 12 --temperature 0";
  const Outcome ours = sextant("generate --model " + alphabet_model() + prompt);
  const Outcome theirs = sextant("generate --model " + (folder / "hf") + prompt);
  ASSERT_EQ(theirs.code, 0) << theirs.err;
  EXPECT_EQ(theirs.out, ours.out);

  const Outcome again = sextant(export_model + (folder / "hf"));
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("must be a folder that does not exist yet"));
}

TEST(Export, NamesTheOptionThatDoesNotFit) {
  const Folder folder;
  const std::string export_model =
      "export --model " + alphabet_model() + " -o " + (folder / "hf") + " ";
  const Outcome llama = sextant(export_model + "--model-type llama");
  EXPECT_EQ(llama.code, 1);
  EXPECT_THAT(llama.err, AllOf(HasSubstr("[export.model]"), HasSubstr("norm must be \"rms\"")));
  const Outcome other = sextant(export_model + "--model-type lama");
  EXPECT_THAT(other.err, AllOf(HasSubstr("[export.model-type] must be one of bert, bloom"),
                               HasSubstr("'lama'")));
  EXPECT_EQ(sextant(export_model + "--dtype float64").code, 2);
  EXPECT_EQ(sextant(export_model + "--like x --model-type llama").code, 2);
  EXPECT_THAT(sextant(export_model + "--like " + (folder / "none")).err, HasSubstr("none"));
  EXPECT_FALSE(std::filesystem::exists(folder / "hf"));
  const Outcome translator = sextant("export --model shipped -o " + (folder / "hf"));
  EXPECT_EQ(translator.code, 1);
  EXPECT_THAT(translator.err, HasSubstr("language model"));
}

}  // namespace
}  // namespace sextant::app_tests

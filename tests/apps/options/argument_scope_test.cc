// Errors name the option in the words of the command, and what the options alone show is a wrong
// command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/run_program.h"
#include "commands.h"
#include "options/file_arguments.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// "attend --heads=nonsense" for every option that takes a value and no path or text of any kind.
std::vector<std::pair<std::string, std::string>> nonsense_for_every_option() {
  CLI::App program;
  app::Job job;
  app::add_commands(program, job);
  std::vector<std::pair<std::string, std::string>> lines;  // the line, the option
  for (CLI::App* command : program.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_lnames().empty() || option->get_items_expected_max() == 0) continue;
      if (option->get_group().empty()) continue;  // parameters of schemes
      if (app::file_use(*option) != app::FileUse::none) continue;
      const std::string& name = option->get_lnames().front();
      lines.emplace_back(command->get_name() + " --" + name + "=@@",
                         command->get_name() + "." + name);
    }
  }
  return lines;
}

TEST(ArgumentScope, NonsenseForAnyOptionIsRefusedByItsName) {
  // Options that take any text.
  const std::set<std::string> kTexts = {"compare.words",        "report.url",  "vocabulary.oov",
                                        "generate.stop",        "list.scheme", "similarity.nearest",
                                        "convert-rotary.names", "attend.step"};
  int tried = 0;
  for (const auto& [line, option] : nonsense_for_every_option()) {
    if (kTexts.contains(option)) continue;
    const Outcome outcome = sextant(line);
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [" + option + "] must ")) << line;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    ++tried;
  }
  EXPECT_GT(tried, 100);
}

TEST(ArgumentScope, ParametersOfSchemesAreNamedOnce) {
  EXPECT_EQ(sextant("attend 'a b' --scheme t5 --scheme-seed -1").err,
            "sextant: [attend.scheme-seed] must be 0 .. 2^32 - 1, got -1\n");
  EXPECT_EQ(sextant("attend 'a b' --scheme t5 --num-buckets 1").err,
            "sextant: [attend.num-buckets] must be 2 .. 4096, got 1\n");
}

TEST(ArgumentScope, LayoutsHaveOneMeaningInEveryHelp) {
  for (const char* command : {"attention", "convert-rotary"}) {
    EXPECT_THAT(shell("COLUMNS=100 sextant " + std::string(command) + " --help").out,
                HasSubstr("channels of pair k, for n rotated channels. interleaved: 2k"));
  }
}

TEST(ArgumentScope, MembersOfTheLibraryAreOptions) {
  const std::vector<std::pair<std::string, std::string>> kWrong = {
      {"attend 'a b' --heads 3", "attend.heads"},
      {"attend 'a b' --hide 9:9", "attend.hide"},
      {"attend 'a b' --sinks 1,2", "attend.sinks"},
      {"train dates --heads 5 --width 64 -o run", "train.heads"},
      {"encode --scheme rotary --length 4 --width 15", "encode.width"},
      {"encode --scheme t5 --length 4 --num-buckets 3", "encode.num-buckets"},
      {"encode --scheme t5:num_buckets=3 --length 4", "encode.scheme"},
      {"plot distance --schemes alibi,t5:num_buckets=3", "plot.schemes"},
      {"plot distance --length 1", "plot.length"},
      {"plot similarity --length 100000", "plot.length"},
      {"plot distance --scheme alibi --head 9", "plot.head"},
      {"plot offset-matrix --width 5", "plot.width"}};
  for (const auto& [line, option] : kWrong) {
    const Outcome outcome = sextant(line);
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [" + option + "] ")) << line;
  }
}

TEST(ArgumentScope, NamesThatAreNoneAreAnsweredWithTheNearest) {
  for (const char* line :
       {"list rotry", "attend a --scheme rotry", "plot distance --schemes rotry"}) {
    const Outcome outcome = sextant(line);
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_THAT(outcome.err, HasSubstr("got 'rotry'; did you mean 'rotary'?")) << line;
    EXPECT_LT(outcome.err.size(), 120U) << outcome.err;
  }
  EXPECT_THAT(sextant("plot heatmp").err, HasSubstr("did you mean 'heatmap'?"));
  EXPECT_THAT(sextant("train ml").err, HasSubstr("did you mean 'mlm'?"));
}

TEST(ArgumentScope, AModelOfAnotherLibraryIsReadAsSuch) {
  const Folder folder;
  put(folder / "config.json", R"({"model_type": "bert", "architectures": ["BertModel"]})");
  Outcome outcome = sextant("info --model " + folder.path().string());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("must have model.safetensors"));
  put(folder / "config.json", R"({"model_type": "mamba"})");
  outcome = sextant("attend hello --model " + folder.path().string());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("[" + folder.path().string() + "/config.json]"));
  EXPECT_THAT(outcome.err, HasSubstr("got 'mamba'"));
}

}  // namespace
}  // namespace sextant::app_tests

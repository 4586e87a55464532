// The scripts that complete words in shells have what help shows, and bash's is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "apps/run_program.h"
#include "commands.h"
#include "sextant/schemes/scheme.h"

namespace sextant::app_tests {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The part of a script that is about one command.
std::string part_of(const std::string& script, const std::string& shell, const std::string& path) {
  std::istringstream lines(script);
  std::string part;
  bool within = false;
  for (std::string line; std::getline(lines, line);) {
    if (shell == "fish") {
      within = line.find(" '__sextant_in " + path + "' ") != line.npos;
    } else if (line.starts_with("    'sextant")) {
      within = line == "    '" + path + "')";
    }
    if (within) part += line + "\n";
  }
  return part;
}

void expect_complete(const std::string& script, const std::string& shell, CLI::App& command,
                     const std::string& path) {
  const std::string part = part_of(script, shell, path);
  for (const CLI::Option* option : command.get_options()) {
    const bool shown = !option->get_group().empty();
    for (const std::string& name : option->get_lnames()) {
      const std::string word = shell == "fish"  ? " -l " + name + " "
                               : shell == "zsh" ? "'--" + name + "[=\\[]"
                                                : "--" + name + "[^a-z-]";
      const bool found = std::regex_search(part, std::regex(word));
      EXPECT_EQ(found, shown) << shell << ": " << path << " --" << name;
    }
  }
  for (CLI::App* inner : command.get_subcommands({})) {
    EXPECT_TRUE(std::regex_search(part, std::regex("[ ('\"]" + inner->get_name() + "[ '\\\\]")))
        << shell << ": " << inner->get_name();
    expect_complete(script, shell, *inner, path + " " + inner->get_name());
  }
}

TEST(Completion, HasEveryCommandAndEveryOptionThatHelpShows) {
  CLI::App program;
  app::Job job;
  app::add_commands(program, job);
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome script = sextant("completion " + shell);
    EXPECT_EQ(script.code, 0);
    expect_complete(script.out, shell, program, "sextant");
  }
}

TEST(Completion, IsAcceptedByShells) {
  for (const std::string name : {"bash", "zsh", "fish"}) {
    const Outcome read = shell("command -v " + name + " >/dev/null || exit 0; sextant completion " +
                               name + " > \"$0.sh\"; " + name + " -n \"$0.sh\"");
    EXPECT_EQ(read.code, 0) << name << read.err;
    EXPECT_THAT(read.err, IsEmpty()) << name;
  }
}

TEST(Completion, NeedsAShellThatItKnows) {
  EXPECT_EQ(sextant("completion").code, 2);
  EXPECT_THAT(sextant("completion bsh").err, HasSubstr("did you mean 'bash'?"));
}

// What bash offers for the last of these words.
std::vector<std::string> offered(const std::string& words) {
  const Folder folder;
  put(folder / "plays.txt", "a");
  put(folder / "my plays.txt", "a");
  const Outcome all = shell("sextant completion bash > \"$0.sh\"; . \"$0.sh\"; cd " +
                            folder.path().string() + "; COMP_WORDS=(" + words +
                            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sextant; "
                            "printf '%s\\n' \"${COMPREPLY[@]}\"");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.err, IsEmpty());
  std::istringstream lines(all.out);
  std::vector<std::string> list;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) list.push_back(line);
  }
  return list;
}

TEST(Completion, OffersCommandsAndOptionsInBash) {
  EXPECT_THAT(offered("sextant pl"), ElementsAre("plot"));
  EXPECT_EQ(offered("sextant ''").size(), command_names().size());
  EXPECT_THAT(offered("sextant plot lo"), ElementsAre("losses"));
  EXPECT_THAT(offered("sextant plot losses --fo"), ElementsAre("--format"));
  EXPECT_THAT(offered("sextant encode --scheme-"), ElementsAre("--scheme-weights"));
  EXPECT_THAT(offered("sextant encode ''"), Contains("--length"));
}

TEST(Completion, OffersValuesOfOptionsInBash) {
  EXPECT_THAT(offered("sextant encode --side ''"), ElementsAre("queries", "keys"));
  EXPECT_THAT(offered("sextant encode --side = k"), ElementsAre("keys"));
  EXPECT_THAT(offered("sextant encode --side ="), ElementsAre("queries", "keys"));
  EXPECT_THAT(offered("sextant encode --length ''"), IsEmpty());
  EXPECT_THAT(offered("sextant train l"), Contains("lm"));
  EXPECT_THAT(offered("sextant train lm --tokenizer sub"), ElementsAre("subword"));
}

TEST(Completion, OffersSchemesThatACommandTakesInBash) {
  EXPECT_EQ(offered("sextant list ''").size(), schemes().size());
  EXPECT_THAT(offered("sextant attend a --scheme rotary_y"), ElementsAre("rotary_yarn"));
  EXPECT_THAT(offered("sextant attend a --scheme none+rotary_y"), ElementsAre("none+rotary_yarn"));
  EXPECT_THAT(offered("sextant plot distance --schemes none,alibi_"), ElementsAre("none,alibi_2d"));
  EXPECT_LT(offered("sextant train lm --scheme ''").size(), schemes().size());
}

TEST(Completion, OffersFilesInBash) {
  EXPECT_THAT(offered("sextant train lm --file pl"), ElementsAre("plays.txt"));
  EXPECT_THAT(offered("sextant identify m"), ElementsAre("my plays.txt"));
}

}  // namespace
}  // namespace sextant::app_tests

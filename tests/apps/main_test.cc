// The program as a whole: help, exit codes, streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Program, AloneItShowsItsHelp) {
  const Outcome alone = shell("sextant");
  EXPECT_EQ(alone.code, 0);
  EXPECT_GT(command_names().size(), 20u);
  EXPECT_EQ(alone.out, sextant("--help").out);
  EXPECT_EQ(alone.out, sextant("help").out);
  EXPECT_EQ(sextant("help plot").out, sextant("plot --help").out);
}

TEST(Program, EveryCommandTeachesWithExamples) {
  for (const std::string& command : command_names()) {
    const Outcome help = sextant(command + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  sextant")) << command;
    EXPECT_THAT(help.err, IsEmpty()) << command;
  }
}

TEST(Program, ItsHelpHasTheGroupsOfCommandsInOrder) {
  const std::string help = sextant("--help").out;
  std::size_t at = 0;
  for (const char* line : {"\nPositions:\n  encode ", "\nAttention:\n  attend ", "\nModels:\n",
                           "\nLessons:\n", "\nText and files:\n", "\n\n`sextant COMMAND"}) {
    at = help.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << help;
  }
}

// A command of an example that was broken is one command to a shell.
TEST(Program, HelpIsAsWideAsTheTerminalAndAtMostHundredColumns) {
  auto commands = command_names();
  commands.insert(commands.end(), {"", "plot losses", "plot extrapolation"});
  for (const auto& [columns, most] : {std::pair(60, 60), {80, 80}, {100, 100}, {300, 100}}) {
    const std::string width = "COLUMNS=" + std::to_string(columns) + " ";
    std::size_t widest = 0;
    for (const std::string& command : commands) {
      std::istringstream help(shell(width + "sextant " + command + " --help").out);
      for (std::string line; std::getline(help, line);) {
        widest = std::max(widest, line.size());
        EXPECT_LE(line.size(), static_cast<std::size_t>(most)) << columns << ": " << line;
      }
    }
    EXPECT_GT(widest + 3, static_cast<std::size_t>(most));
  }
  EXPECT_EQ(shell("COLUMNS=20 sextant plot --help").out,
            shell("COLUMNS=60 sextant plot --help").out);
  EXPECT_THAT(shell("COLUMNS=72 sextant --help").out,
              HasSubstr("\n  sextant compare \"the zebra chased the lion .\" \\\n"
                        "      \"the lion chased the zebra .\" --lab\n"));
}

TEST(Program, NamesItsVersion) {
  const Outcome version = sextant("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out,
            "sextant " + sextant("info --json").json()["version"].get<std::string>() + "\n");
}

TEST(Program, AnUnknownCommandIsAWrongCommandLineAndTheNearestIsNamed) {
  const Outcome wrong = sextant("encod --length 4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.out, IsEmpty());
  EXPECT_THAT(wrong.err,
              Eq("sextant: [sextant] unknown command 'encod'; did you mean 'encode'? (see 'sextant "
                 "--help')\n"));
  EXPECT_THAT(sextant("zzzzzz").err, Not(HasSubstr("did you mean")));
}

TEST(Program, AnUnknownOptionIsAWrongCommandLineAndTheNearestIsNamed) {
  const Outcome wrong = sextant("encode --lenght 4 --width 4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown option '--lenght'; did you mean '--length'?"));
  EXPECT_THAT(wrong.err, HasSubstr("sextant encode --help"));
  const Outcome inner = sextant("plot losses --jsno");
  EXPECT_EQ(inner.code, 2);
  EXPECT_THAT(inner.err, HasSubstr("unknown option '--jsno'; did you mean '--json'?"));
  EXPECT_THAT(inner.err, HasSubstr("see 'sextant plot losses --help'"));
}

TEST(Program, TheBeginningOfAnOptionOrACommandIsEnoughToNameIt) {
  EXPECT_THAT(sextant("train lm --batch 4").err,
              HasSubstr("unknown option '--batch'; did you mean '--batch-size'?"));
  EXPECT_THAT(sextant("encode --bas=100").err, HasSubstr("did you mean '--base'?"));
  EXPECT_THAT(sextant("plo").err, HasSubstr("unknown command 'plo'; did you mean 'plot'?"));
  EXPECT_THAT(sextant("attend --text 'the cat'").err, Not(HasSubstr("--left")));
}

TEST(Program, OldNamesOfOptionsAreTakenAndNotShown) {
  const std::vector<std::vector<std::string>> renamed = {
      {"attention", "--kv-lengths", "--key-lengths"},
      {"attention", "--lse", "--log-sum-exp"},
      {"attention", "--grad", "--dout"},
      {"attention", "--transport", "--wire-type"},
      {"attend", "--lower", "--lower-case"},
      {"compare", "--lower", "--lower-case"},
      {"plot", "--lower", "--lower-case"},
      {"translate", "--beam", "--beams"},
      {"evaluate", "--beam", "--beams"},
      {"similarity", "--minimum-count", "--min-count"},
      {"train", "--sequence-ranks", "--context-parallel"},
      {"train", "--text", "--file"},
      {"extrapolate", "--text", "--file"},
      {"evaluate", "--text", "--file"},
      {"similarity", "--text", "--file"},
      {"vocabulary", "--text", "--file"}};
  for (const auto& names : renamed) {
    const std::string help = sextant(names[0] + " --help").out;
    EXPECT_THAT(help, HasSubstr(names[2] + " ")) << names[0];
    EXPECT_THAT(help, Not(ContainsRegex(names[1] + "[^-a-z]"))) << names[0];
    EXPECT_THAT(sextant(names[0] + " " + names[1] + " x").err, Not(HasSubstr("unknown option")));
  }
  EXPECT_EQ(sextant("attend 'The cat' --lower --json").out,
            sextant("attend 'The cat' --lower-case --json").out);
  EXPECT_EQ(sextant("attend --split spaces --json -- --lower").json()["tokens"][0], "--lower");
}

TEST(Program, TheOldNameOfACommandIsTaken) {
  EXPECT_EQ(sextant("guess --model shipped 'may 5'").out,
            sextant("logit-lens --model shipped 'may 5'").out);
  EXPECT_THAT(sextant("--help").out, Not(HasSubstr("guess ")));
}

TEST(Program, AnOptionBeforeTheCommandIsShownItsPlace) {
  const Outcome wrong = sextant("--length 4 encode --width 4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("] unknown option '--length'; it must come after the "
                                   "command: sextant encode --length"));
}

// Options of a command that take a value, as its help lists them.
std::vector<std::string> value_options(const std::string& command) {
  std::istringstream help(sextant(command + " --help").out);
  std::vector<std::string> names;
  for (std::string line; std::getline(help, line);) {
    std::istringstream words(line);
    std::string option, type;
    words >> option >> type;
    if (!line.starts_with("  -") || type.empty() || type[0] < 'A' || type[0] > 'Z') continue;
    names.push_back(option.substr(option.find_last_of(',') + 1));
  }
  return names;
}

TEST(Program, AnEmptyValueIsNotAnOptionThatWasNotGiven) {
  std::size_t tried = 0;
  for (std::string command : command_names()) {
    if (command == "train") command = "train lm";
    for (const std::string& option : value_options(command)) {
      for (const std::string& given : {option + " ''", option + "="}) {
        if (given.starts_with("-o=")) continue;
        const Outcome outcome = sextant(command + " " + given);
        EXPECT_EQ(outcome.code, 2) << command << " " << given << outcome.err;
        EXPECT_EQ(outcome.out, "") << command << " " << given;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 200u);
  const Folder folder;
  put(folder / "P.csv", "0,1\n1,0\n");
  for (const char* given :
       {"plot heatmap --table ''", "plot heatmap --table=", "list --scheme ''",
        "encode --length 2 --width 2 -o ''", "encode --length 2 --width 2 --base ''",
        "attend a --file ''", "attend a --scheme-file ''", "attend a --model ''",
        "plot losses --format ''"}) {
    const Outcome outcome = sextant(given);
    EXPECT_EQ(outcome.code, 2) << given;
    EXPECT_THAT(outcome.err, HasSubstr("] must not be empty, got '")) << given;
  }
}

TEST(Program, NamesInErrorsNeitherSteerNorFloodATerminal) {
  const Folder folder;
  const std::string name = folder / "a\nb\x1b[31m\xff\u202e.npy";
  put(name, "no table");
  put(folder / "name", name);
  std::string line = "{\"" + std::string(1000000, 'x') + "\": 1}";
  put(folder / "config.json", line);
  // Bytes reach the program through $'...', as no shell variable of this test could hold them.
  const std::string bytes = "$'a\\nb\\x1b[31m\\xff'";
  const std::string file = "\"$(cat " + folder / "name" + ")\"";
  const std::string flood = "\"$(head -c 100000 /dev/zero | tr '\\0' x)\"";
  for (const std::string& word : {bytes, file, flood}) {
    for (const std::string& wrong : {"identify " + word,
                                     "frobnicate" + word,
                                     "encode --" + word,
                                     "encode --length " + word,
                                     "encode --length 2 --width 2 --layout " + word,
                                     "encode --length 2 --scheme " + word,
                                     "encode --length 2 --width 2 -o " + word + ".none",
                                     "encode --length 2 --positions " + word,
                                     "plot " + word,
                                     "plot heatmap --table " + word,
                                     "plot distance --schemes " + word,
                                     "plot losses " + word,
                                     "similarity a b --vectors " + word,
                                     "attend a --split " + word,
                                     "attend a --file " + word,
                                     "attend a --model " + word,
                                     "list " + word,
                                     "convert-rotary " + word + " -o " + folder / "x.safetensors",
                                     "train " + word,
                                     "train lm --file " + word + " -o " + folder / "run",
                                     "generate --prompt a --model " + word,
                                     "attention --q " + word + " --k " + word + " --v " + word,
                                     "encode --length 2 --config " + folder / "config.json"}) {
      const Outcome outcome = sextant(wrong);
      const std::string what = wrong.substr(0, 60);
      EXPECT_NE(outcome.code, 0) << what;
      EXPECT_LT(outcome.err.size(), 4000u) << what;
      EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << what << outcome.err;
      for (const char c : outcome.err) {
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << what << ": " << outcome.err;
      }
    }
  }
}

TEST(Program, AWordThatIsNoNumberIsAWrongCommandLine) {
  const Outcome wrong = sextant("encode --length four --width 4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("[encode.length]"));
}

TEST(Program, AnErrorIsOneLineThatSaysWhere) {
  const Outcome wrong = sextant("encode --length 4 --width 2 --ladder d/2-1");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.out, IsEmpty());
  EXPECT_THAT(wrong.err, StartsWith("sextant: [encode.width] must be "));
  EXPECT_EQ(std::count(wrong.err.begin(), wrong.err.end(), '\n'), 1);
}

TEST(Program, AReaderThatLeavesEarlyIsNoError) {
  const Outcome cut = shell("sextant encode --length 20000 --width 64 --format csv | head -n 1");
  EXPECT_EQ(cut.code, 0);
  EXPECT_THAT(cut.err, IsEmpty());
}

TEST(Program, WaitsWhereStdoutWouldBlock) {
  // Another program that shares the pipe may have asked for calls that do not wait; the reader
  // takes its time.
  const std::string big = "encode --length 4000 --width 64 --format csv";
  const Outcome cut = shell("{ head -c 0 | dd iflag=nonblock oflag=nonblock status=none; " +
                            std::string("python3 -c pass 2>/dev/null; sextant ") + big +
                            "; } | { sleep 0.5; cat; }");
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_EQ(cut.out, sextant(big).out);
}

TEST(Program, AFullDiskIsAnError) {
  const Outcome full = shell("sextant list >/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, StartsWith("sextant: [stdout] cannot be written"));
}

TEST(Program, AMissingFolderIsNamedAndNothingIsMade) {
  const Folder folder;
  const Outcome wrong = sextant("encode --length 2 --width 2 -o " + folder / "no/P.npy");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("no/P.npy"));
  EXPECT_FALSE(std::filesystem::exists(folder / "no"));
}

TEST(Program, ColourIsForTerminalsThatWantIt) {
  const std::string command = "attend 'the cat'";
  // `script` gives the program a terminal.
  const auto in_terminal = [&](const std::string& environment) {
    return shell("TERM=xterm " + environment + " script -qec '" + sextant::tests::program() + " " +
                 "attend \"the cat\"' /dev/null");
  };
  EXPECT_THAT(sextant(command).out, Not(HasSubstr("\033[")));
  EXPECT_THAT(in_terminal("").out, HasSubstr("\033["));
  EXPECT_THAT(in_terminal("NO_COLOR=1").out, Not(HasSubstr("\033[")));
}

}  // namespace
}  // namespace sextant::app_tests

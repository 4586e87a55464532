// A terminal shows what a text holds and does not obey it: every command, on a pseudo-terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Sets a window's title, starts a control sequence in one character, turns the direction of
// writing, goes back over what stands there, and is no UTF-8.
constexpr const char* kHostile = "x\\x1b]0;owned\\x07\\xc2\\x9b31m\\xe2\\x80\\xaey\\b\\x7f";

// The output of commands in `folder`, whose environment has the hostile text as H.
std::string on_terminal(const std::string& folder, const std::string& command,
                        const char* environment = "NO_COLOR=1") {
  return shell(std::string("export TERM=xterm ") + environment + " H=$'" + kHostile + "'; cd " +
               folder + "; script -qec '" + sextant::tests::program() + " " + command +
               "' /dev/null")
      .out;
}

// But for what clears the line of the program's own progress.
void expect_harmless(std::string shown, const std::string& command) {
  shown = std::regex_replace(shown, std::regex("\r\x1b\\[K"), "");
  for (const char* raw : {"\x1b", "\x07", "\b", "\x7f", "\u009b", "\u202e"}) {
    EXPECT_THAT(shown, Not(HasSubstr(raw))) << command;
  }
}

void make_files(const Folder& folder) {
  const Outcome made = shell("cd " + folder.path().string() + "; H=$'" + kHostile +
                             "'; printf '%s said a b c\\na b c said %s\\n' \"$H\" \"$H\" > text; "
                             "printf '%s\\ta b\\n' \"$H\" > pairs; "
                             "printf 'who,%s,b\\n%s,1,2\\nz,2,1\\n' \"$H\" \"$H\" > table.csv; "
                             "sextant encode --length 4 --width 4 -o \"$H.npy\"");
  ASSERT_EQ(made.code, 0) << made.err;
  save_alphabet_model(folder / "model");
}

// A line per command: what a reader's text reaches.
constexpr std::string_view kCommands[] = {
    "encode --scheme \"$H\" --length 4",
    "encode --scheme learned:file=$H.npy --width 4 --length 4 --format json",
    "identify \"$H.npy\"",
    "identify \"$H.npy\" --json",
    "plot sinusoids \"$H a b\"",
    "plot losses \"$H\"",
    "attend \"$H a\" --heads 1",
    "attend \"$H a\" --format text",
    "attend \"$H a\" --json",
    "attend --model shipped \"$H march\"",
    "attention --q \"$H\"",
    "compare \"$H a .\" \"a $H .\"",
    "compare \"$H a .\" \"a $H .\" --json",
    "similarity \"$H\" a --file text",
    "similarity \"$H\" said --file text --json",
    "tokenize \"$H a\"",
    "tokenize \"$H a\" --json",
    "vocabulary --file text",
    "vocabulary --file text --json",
    "embed \"$H\"",
    "recommend table.csv table.csv",
    "report \"$H a\" -o \"$H.html\"",
    "generate --model model --prompt \"$H\" --max-tokens 3",
    "generate --model model --prompt \"a\" --max-tokens 3 --stop \"$H\" --json",
    "logit-lens --model model \"$H\"",
    "translate --model shipped \"$H\"",
    "translate --model shipped \"$H\" --json",
    "evaluate --model model --file text",
    "train lm --file text --steps 1 --width 8 --heads 1 --layers 1 -o \"$H\"",
    "train pairs --pairs pairs -o out",
    "extrapolate --file \"$H\" -o out",
    "average \"$H\" \"$H\" -o out",
    "convert-rotary \"$H\" -o out.safetensors",
    "export --model \"$H\" -o out",
    "resize-grid \"$H\" --new-size 3 -o out.npy",
    "list \"$H\"",
    "info --model \"$H\"",
    "info --model model",
    "completion \"$H\"",
    "\"$H\"",
    "attend a --\"$H\"",
};

TEST(Terminal, ShowsControlCharactersOfATextInsteadOfObeyingThem) {
  const Folder folder;
  ASSERT_NO_FATAL_FAILURE(make_files(folder));
  for (const std::string_view command : kCommands) {
    const std::string shown = on_terminal(folder.path().string(), std::string(command));
    EXPECT_THAT(shown, Not(testing::IsEmpty())) << command;
    expect_harmless(shown, std::string(command));
  }
}

// The list above grows with the program.
TEST(Terminal, EveryCommandIsTried) {
  const auto commands = command_names();
  EXPECT_GT(commands.size(), 20u);
  for (const std::string& command : commands) {
    const bool tried = std::ranges::any_of(
        kCommands, [&](std::string_view one) { return one.starts_with(command + " "); });
    EXPECT_TRUE(tried) << command;
  }
}

// Colours of the program's own stay.
TEST(Terminal, HasColoursOfMapsAndNoneOfATexts) {
  const Folder folder;
  const std::string shown = on_terminal(folder.path().string(), "attend \"$H a\" --heads 1", "A=1");
  EXPECT_THAT(shown, HasSubstr("\x1b[48;2;"));
  const std::regex color("\x1b\\[(48;2;[0-9]+;[0-9]+;[0-9]+|0)m");
  expect_harmless(std::regex_replace(shown, color, ""), "attend");
  const std::string echo = shell("export TERM=xterm; script -qec '" + sextant::tests::program() +
                                 " compare \"$(printf \"a\\033[48;2;9;9;9mb .\")\" \"$(printf "
                                 "\"a\\033[48;2;9;9;9mb .\")\"' /dev/null")
                               .out;
  EXPECT_THAT(echo, HasSubstr("\\x1b[48;2;9;9;9m"));
  expect_harmless(echo, "compare");
}

TEST(Terminal, AFileOrAPipeGetsTheBytes) {
  const Outcome piped =
      shell(std::string("H=$'") + kHostile + "'; sextant compare \"$H .\" \"$H .\"");
  EXPECT_THAT(piped.out, HasSubstr("\x1b]0;owned"));
}

}  // namespace
}  // namespace sextant::app_tests

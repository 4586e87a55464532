// `sextant attend`: maps of one text and of two, masks, schemes, heads, formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/run_program.h"
#include "sextant/core/npy.h"

namespace sextant::app_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Attend, RowsOfEveryHeadSumToOne) {
  const auto json = sextant("attend 'the cat sat on the mat' --heads 4 --json").json();
  EXPECT_EQ(json["tokens"].get<std::vector<std::string>>(),
            (std::vector<std::string>{"the", "cat", "sat", "on", "the", "mat"}));
  EXPECT_EQ(json["heads"], 4);
  ASSERT_EQ(json["weights"].size(), 4U);
  for (const auto& head : json["weights"]) {
    ASSERT_EQ(head.size(), 6U);
    for (const auto& row : head) {
      double sum = 0;
      for (const auto& weight : row) sum += weight.get<double>();
      EXPECT_NEAR(sum, 1, 6 * 2.3e-16);  // six roundings of numbers up to one
    }
  }
}

TEST(Attend, ACausalMaskHidesLaterWords) {
  const auto weights = sextant("attend 'a b c' --causal --json").json()["weights"];
  EXPECT_EQ(weights[0][0], (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(weights[3][1][2], 0);
  EXPECT_GT(weights[3][2][1].get<double>(), 0);
}

TEST(Attend, OnlyPositionsTellEqualWordsApart) {
  const auto rows_equal = [](const std::string& scheme) {
    const auto head =
        sextant("attend 'the cat the' --json --scheme " + scheme).json()["weights"][0];
    return head[0] == head[2];
  };
  EXPECT_TRUE(rows_equal("none"));
  EXPECT_FALSE(rows_equal("sinusoidal"));
  EXPECT_FALSE(rows_equal("rotary"));
}

TEST(Attend, TwoTextsMayDifferInLength) {
  const auto json = sextant("attend 'the black cat' --second 'die Katze' --json").json();
  EXPECT_THAT(json["queries"], ElementsAre("the", "black", "cat"));
  EXPECT_THAT(json["keys"], ElementsAre("die", "Katze"));
  EXPECT_EQ(json["weights"][0].size(), 3U);
  EXPECT_EQ(json["weights"][0][0].size(), 2U);
}

TEST(Attend, TokensAreUnicodeWordsUnlessAskedOtherwise) {
  const auto tokens = [](const std::string& rest) {
    return sextant("attend \"Don't stop, Ärger.\" --json " + rest).json()["tokens"];
  };
  EXPECT_THAT(tokens(""), ElementsAre("Don't", "stop", ",", "Ärger", "."));
  EXPECT_THAT(tokens("--split spaces --lower-case"), ElementsAre("don't", "stop,", "ärger."));
}

TEST(Attend, TextComesFromStdinOrAFile) {
  const Folder folder;
  put(folder / "text", "a b c\n");
  const std::string expected = sextant("attend 'a b c' --json").out;
  EXPECT_EQ(shell("echo a b c | sextant attend - --json").out, expected);
  EXPECT_EQ(sextant("attend --json --file " + folder / "text").out, expected);
}

TEST(Attend, SeedsAndWidthsChangeTheWeightsAndNothingElseDoes) {
  const std::string command = "attend 'a b c' --json";
  EXPECT_EQ(sextant(command).out, sextant(command + " --seed 7 --width 64 --heads 4").out);
  EXPECT_EQ(sextant(command).out, shell("OMP_NUM_THREADS=1 sextant " + command).out);
  EXPECT_NE(sextant(command).json()["weights"], sextant(command + " --seed 8").json()["weights"]);
  EXPECT_NE(sextant(command).json()["weights"], sextant(command + " --width 32").json()["weights"]);
}

TEST(Attend, ParametersOfASchemeAreOptions) {
  const std::string command = "attend 'a b a' --scheme rotary --json";
  EXPECT_NE(sextant(command).json()["weights"], sextant(command + " --base 7").json()["weights"]);
  const Outcome wrong = sextant(command + " --ladder d");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, StartsWith("sextant: [attend.scheme] rotary has --base, "));
  EXPECT_THAT(wrong.err, HasSubstr("got --ladder"));
}

TEST(Attend, SavesEveryFormatByItsEnding) {
  const Folder folder;
  const std::string command =
      "attend 'the cat sat on the mat' --heads 4 --causal --scheme rotary "
      "--seed 7 --width 64 -o ";
  for (const char* ending : {"svg", "png", "pdf", "html", "json", "npy"}) {
    const Outcome saved = sextant(command + folder / "map." + ending);
    EXPECT_EQ(saved.code, 0) << ending << saved.err;
  }
  EXPECT_THAT(contents(folder / "map.svg"), StartsWith("<svg"));
  EXPECT_THAT(contents(folder / "map.png"), StartsWith("\x89PNG"));
  EXPECT_THAT(contents(folder / "map.pdf"), StartsWith("%PDF-1."));
  EXPECT_EQ(load_npy(folder / "map.npy").shape, (Shape{4, 6, 6}));
  EXPECT_EQ(Json::parse(contents(folder / "map.json"))["heads"], 4);
  // One page with maps and lines.
  const std::string page = contents(folder / "map.html");
  EXPECT_NE(page.find("<svg"), page.rfind("<svg"));
  ASSERT_EQ(sextant("attend 'a b' --lines -o " + folder / "lines.svg").code, 0);
  EXPECT_NE(contents(folder / "lines.svg"), contents(folder / "map.svg"));
}

TEST(Attend, PicturesAreNoWiderThanAskedFor) {
  for (const char* kind : {"", " --lines", " --step q", " --step biased"}) {
    const std::string command =
        std::string("attend 'the black cat sat on the couch' --format svg") + kind;
    EXPECT_GT(width_of(sextant(command).out), 350) << kind;
    EXPECT_LE(width_of(sextant(command + " --max-width 350").out), 350) << kind;
  }
  EXPECT_THAT(sextant("attend 'a b' --max-width 350 --json").err,
              StartsWith("sextant: [attend.max-width] must be given with svg, png, pdf or html"));
  EXPECT_THAT(sextant("attend 'a b' --max-width 350 -o x.html").err,
              StartsWith("sextant: [attend.max-width] must be given with svg, png or pdf"));
  EXPECT_THAT(sextant("attend 'a b' --max-width 200 --format svg").err,
              StartsWith("sextant: [attend.max-width] must be"));
}

TEST(Attend, OneHeadCanBeChosen) {
  const auto all = sextant("attend 'a b c' --json").json()["weights"];
  const auto one = sextant("attend 'a b c' --json --head 2").json();
  ASSERT_EQ(one["weights"].size(), 1U);
  EXPECT_EQ(one["weights"][0], all[2]);
  const Outcome wrong = sextant("attend 'a b c' --head 4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, StartsWith("sextant: [attend.head] must be 0 .. 3, got 4"));
  const Outcome negative = sextant("attend 'a b c' --head -1");
  EXPECT_EQ(negative.code, 2);
  EXPECT_EQ(negative.err,
            "sextant: [attend.head] must be a whole number in the range 0 .. 2^63 - 1, got '-1'\n");
}

TEST(Attend, NumbersInAPipeNameTheirWords) {
  const std::string text = sextant("attend 'the cat' --heads 1 --width 8").out;
  EXPECT_THAT(text, HasSubstr("head 0"));
  EXPECT_THAT(text, HasSubstr("cat"));
}

TEST(Attend, TheSecondTextMayComeFromStdinToo) {
  EXPECT_THAT(shell("echo die Katze | sextant attend 'the cat' --second - --json").json()["keys"],
              ElementsAre("die", "Katze"));
  const Outcome both = shell("echo a b | sextant attend - --second -");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, StartsWith("sextant: [attend.second] must not be - "));
}

TEST(Attend, ABookIsNoMap) {
  const Outcome book =
      shell("for i in {1..3000}; do echo word; done | sextant attend - --split spaces");
  EXPECT_EQ(book.code, 1);
  EXPECT_EQ(
      book.err,
      "sextant: [attend.text] must be at most 2048 tokens to draw or compare each, got 3000\n");
}

TEST(Attend, TwoWishesForOneOutputAreRefused) {
  const Folder folder;
  const Outcome both = sextant("attend 'a b' --json -o " + folder / "map.svg");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, StartsWith("sextant: [attend.format] must be .svg or json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "map.svg"));
  EXPECT_EQ(sextant("attend 'a' --file b").code, 2);
  EXPECT_EQ(sextant("attend 'a b' --heads 0").code, 2);
}

TEST(Attend, LearnedTablesAreGivenWithTheSchemesFile) {
  const Folder folder;
  ASSERT_EQ(sextant("encode --length 4 --width 64 -o " + folder / "P.npy").code, 0);
  const std::string learned = "attend 'a b a' --json --scheme learned";
  const Outcome from_file = sextant(learned + " --scheme-file " + folder / "P.npy");
  ASSERT_EQ(from_file.code, 0) << from_file.err;
  EXPECT_NE(from_file.json()["weights"], sextant("attend 'a b a' --json --scheme none").json());
  const Outcome start = sextant(learned);
  ASSERT_EQ(start.code, 0) << start.err;
  EXPECT_NE(start.json()["weights"], from_file.json()["weights"]);
  EXPECT_NE(start.json()["weights"], sextant(learned + " --scheme-seed 1").json()["weights"]);
  EXPECT_EQ(sextant(learned + " --scheme-file " + folder / "none.npy").code, 1);
}

TEST(Attend, AHeadThatTheWordsRuleOutIsAWrongCommandLine) {
  for (const char* wrong : {"--head 4", "--head 9", "--heads 2 --head 2"}) {
    const Outcome outcome = sextant(std::string("attend a ") + wrong);
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [attend.head] must be 0 .. ")) << wrong;
  }
  EXPECT_EQ(sextant("attend a --heads 16 --head 9").code, 0);
}

TEST(Attend, LinesAreRefusedWhereNoneAreDrawn) {
  const Folder folder;
  for (const std::string& wrong :
       {std::string(), std::string(" --json"), std::string(" --format text"),
        " -o " + folder / "a.html", " -o " + folder / "a.npy"}) {
    const Outcome outcome = sextant("attend 'a b' --lines" + wrong);
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err,
                StartsWith("sextant: [attend.lines] must be given with svg, png or pdf"))
        << wrong;
  }
  EXPECT_EQ(sextant("attend 'a b' --lines --format svg").code, 0);
}

// The pictures of two of the five documents, which split at white space: "what?" is one word.
TEST(Attend, SplitAtSpacesGivesTheDocumentsPictures) {
  const std::string course =
      sextant("attend 'I am a robot, what?' --split spaces --format svg").out;
  for (const char* word : {"robot,", "what?"}) {
    EXPECT_THAT(course, HasSubstr(">" + std::string(word) + "</text>"));
  }
  EXPECT_THAT(course, HasSubstr("5 queries by 5 keys"));
  const std::string lab =
      sextant("attend 'the zebra chased the lion .' --split spaces --causal --heads 1 --format svg")
          .out;
  EXPECT_THAT(lab, HasSubstr("6 queries by 6 keys"));
  EXPECT_THAT(lab, HasSubstr("15 of 36 pairs hidden"));
  EXPECT_THAT(lab, HasSubstr(">hidden</text>"));
  const auto sines = sextant("plot sinusoids 'what is this I see?' --split spaces --json").json();
  EXPECT_EQ(sines["shape"], (std::vector{6, 25}));
}

std::string in_terminal(const std::string& arguments, int columns = 80) {
  return shell("TERM=xterm NO_COLOR=1 script -qec 'stty cols " + std::to_string(columns) + "; " +
               sextant::tests::program() + " attend " + arguments + "' /dev/null")
      .out;
}

TEST(Attend, ATerminalNamesColumnsAndHasOneScaleForAllHeads) {
  const std::string text = in_terminal("\"a b\" --causal --heads 2");
  EXPECT_THAT(text, HasSubstr("head 0\r\n  a b \r\na @@//\r\n"));
  EXPECT_THAT(text, HasSubstr("head 1\r\n  a b \r\na @@//\r\n"));
  const std::string scale = "0   ..::--==++**##%%@@ 1\r\n  // hidden";
  EXPECT_NE(text.find(scale), std::string::npos);
  EXPECT_EQ(text.find(scale), text.rfind(scale));  // of both heads
  EXPECT_THAT(in_terminal("\"the internationally known\""),
              HasSubstr("columns: 0 the  1 internationally  2 known\r\n"));
}

TEST(Attend, ATerminalShowsEveryWordOfALongSentence) {
  std::string sentence;
  for (int i = 0; i < 62; ++i) sentence += (i > 0 ? " w" : "w") + std::to_string(i);
  for (const int columns : {80, 120}) {
    const std::string text = in_terminal("\"" + sentence + "\" --head 0", columns);
    EXPECT_THAT(text, Not(HasSubstr(" of 62 "))) << columns;  // rows or columns
    EXPECT_THAT(text, HasSubstr("61 w61\r\n")) << columns;
    EXPECT_THAT(text, HasSubstr("\nw61 ")) << columns;
  }
  EXPECT_THAT(in_terminal("\"" + sentence + "\" --head 0", 40),
              HasSubstr("the first 33 of 62 rows and 33 of 62 columns"));
  const Outcome narrow =
      shell("TERM=xterm NO_COLOR=1 script -qec 'COLUMNS=40 " + sextant::tests::program() +
            " attend \"" + sentence + "\" --head 0' /dev/null");
  EXPECT_THAT(narrow.out, HasSubstr("33 of 62 columns"));
}

TEST(Attend, TakesSchemesThatGoTogether) {
  const auto both = sextant("attend 'a b c' --scheme rotary:base=100+alibi --json").json();
  EXPECT_EQ(both["scheme"], "rotary+alibi");
  EXPECT_EQ(both["parameters"][0]["base"], 100);
  EXPECT_NE(both["weights"],
            sextant("attend 'a b c' --scheme rotary --base 100 --json").json()["weights"]);
  EXPECT_THAT(sextant("attend 'a b c' --scheme rotary+alibi").out,
              StartsWith("Attention, rotary + ALiBi positions"));
  EXPECT_EQ(sextant("attend 'a b c' --scheme rotary+t5 --scheme-weights w.safetensors").code, 2);
}

TEST(Attend, RefusesTextThatIsNone) {
  for (const char* wrong : {"attend ''", "attend '   '", "attend --file no-such-file",
                            "attend $'a\\xff'", "attend 'a b' --second $'\\xc3'"}) {
    const Outcome outcome = sextant(wrong);
    EXPECT_EQ(outcome.code, 1) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [")) << wrong;
  }
  EXPECT_EQ(shell("printf '' | sextant attend -").code, 1);
  const Outcome missing = sextant("attend");
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, StartsWith("sextant: [attend] TEXT or --file is required (see "));
}

}  // namespace
}  // namespace sextant::app_tests

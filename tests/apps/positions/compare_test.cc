// `sextant compare`: the laboratory's numbers and the verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kLab =
    "compare 'the zebra chased the lion .' 'the lion chased the zebra .' --lab ";

TEST(Compare, TheLaboratorysNumbersHaveAllTheirDigits) {
  const auto json = sextant(std::string(kLab) + "--json").json();
  const std::vector<double> weights = {0.13882247893778413, 0.14117544495019235,
                                       0.10582113241981449, 0.13882247893778413,
                                       0.3019840725301271,  0.17337439222429785};
  const std::vector<double> output = {1.1481937039255188, 1.2013677359003219, 1.0221718176342622};
  const auto first = json["first"]["last"]["weights"].get<std::vector<double>>();
  const auto second = json["second"]["last"]["weights"].get<std::vector<double>>();
  const auto result = json["first"]["last"]["output"].get<std::vector<double>>();
  ASSERT_EQ(first.size(), 6U);
  ASSERT_EQ(result.size(), 3U);
  // The document's own rounding: a few units in the last place of sums of products up to two.
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(first[i], weights[i], 3e-16);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(result[i], output[i], 9e-16);
  EXPECT_NEAR(second[1], weights[4], 3e-16);
  EXPECT_NEAR(second[4], weights[1], 3e-16);
  EXPECT_EQ(json["same"], true);
  EXPECT_EQ(json["first"]["scores"][0][1].get<double>(), -2.3819763e38);
  EXPECT_EQ(json["first"]["values"].size(), 6U);
}

TEST(Compare, ThePrintedTextHasTheSameNumbersAndTheVerdict) {
  const Outcome printed = sextant(kLab);
  EXPECT_EQ(printed.code, 0);
  for (const char* number : {"0.13882247893778", "0.30198407253012", "1.14819370392551",
                             "1.20136773590032", "1.02217181763426"}) {
    EXPECT_THAT(printed.out, HasSubstr(number));
  }
  EXPECT_THAT(printed.out, HasSubstr("\nsame: order is invisible"));
}

TEST(Compare, AnySchemeTurnsTheVerdict) {
  EXPECT_EQ(sextant(std::string(kLab) + "--json --scheme none").json()["same"], true);
  EXPECT_EQ(sextant(std::string(kLab) + "--json --scheme sinusoidal").json()["same"], false);
  EXPECT_THAT(sextant(std::string(kLab) + "--scheme sinusoidal").out,
              HasSubstr("\ndifferent: order shows"));
}

TEST(Compare, TheLabTakesWordsWidthAndSeed) {
  const std::string command = "compare 'a b c' 'b a c' --lab --words 'a b c' --width 8 --seed 3 ";
  const auto json = sextant(command + "--json --scheme rotary_axial").json();
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["first"]["output"][0].size(), 8u);
  EXPECT_EQ(sextant(command + "--json").json()["same"], true);
  EXPECT_EQ(sextant("compare 'a b' 'b a' --words 'a b'").code, 2);
  EXPECT_EQ(sextant("compare 'a b' 'b a' --lab --words 'a a'").code, 1);
  EXPECT_EQ(sextant(std::string(kLab) + "--heads 2").code, 2);
}

TEST(Compare, SaysWhyPositionsChangeNothing) {
  EXPECT_THAT(
      sextant(std::string(kLab) + "--scheme rotary_proportional").out,
      HasSubstr("; with these parameters, at this width and length, the table is the same at "
                "every"));
  EXPECT_THAT(sextant(kLab).out, Not(HasSubstr(";")));
  EXPECT_THAT(
      sextant("compare 'a b c d' 'b a c d' --scheme window").out,
      HasSubstr("; with these parameters, at this width and length, the table is the same at "
                "every"));
  EXPECT_THAT(sextant("compare 'a b c d' 'b a c d' --scheme chunk_mask:chunk=2").out,
              HasSubstr("; a mask hides words"));
  EXPECT_THAT(sextant(std::string(kLab) + "--scheme sincos_3d --width 12").out,
              HasSubstr("; the softmax is saturated"));
}

TEST(Compare, SaysHowASchemeFitsTheToyModel) {
  const Outcome narrow = sextant(std::string(kLab) + "--scheme sincos_2d");
  EXPECT_EQ(narrow.code, 2);
  EXPECT_THAT(narrow.err, HasSubstr("got 3; --width 12 is a toy model with room for every scheme"));
  EXPECT_THAT(sextant(std::string(kLab) + "--scheme sincos_2d --width 5").err,
              Not(HasSubstr("toy model")));
  EXPECT_THAT(sextant(std::string(kLab) + "--scheme rotary_proportional --width 8").out,
              HasSubstr("different: order shows"));
}

TEST(Compare, TakesSchemesThatGoTogether) {
  const auto json = sextant(std::string(kLab) + "--scheme rotary+alibi --json").json();
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["scheme"], "rotary+alibi");
  EXPECT_THAT(sextant("compare 'a b' 'b a' --scheme rotary+alibi").out,
              HasSubstr("rotary + ALiBi positions"));
}

TEST(Compare, CannotTellWhereTheLastWordDiffers) {
  const std::string why = "the last word itself differs; end both with a full stop";
  for (const char* end : {"", " --scheme rotary"}) {
    const std::string command = std::string("compare 'dog bites man' 'man bites dog'") + end;
    EXPECT_THAT(sextant(command).out, HasSubstr("\ncannot tell: " + why + " ("));
    const auto json = sextant(command + " --json").json();
    EXPECT_EQ(json["last_differs"], true);
    EXPECT_EQ(json["why"], why);
  }
  EXPECT_EQ(sextant(std::string(kLab) + "--json").json()["last_differs"], false);
}

TEST(Compare, RefusesOtherWords) {
  for (const char* lab : {"", " --lab"}) {
    const Outcome other = sextant(std::string("compare 'the zebra .' 'the lion .'") + lab);
    EXPECT_NE(other.code, 0);
    EXPECT_THAT(other.err, HasSubstr("must be the words of the first sentence in another order"));
  }
}

TEST(Compare, AnotherLastTokenIsAnotherOutput) {
  const auto json = sextant("compare 'lion the chased .' 'chased the . lion' --lab --json").json();
  EXPECT_EQ(json["same"], false);
  EXPECT_NEAR(json["first"]["last"]["output"][0].get<double>(), 1.2899358929089517, 9e-16);
  EXPECT_NEAR(json["second"]["last"]["output"][2].get<double>(), 1.2098755525309532, 9e-16);
}

TEST(Compare, AWordOutsideTheVocabularyIsRefusedWithTheAllowedOnes) {
  const Outcome wrong = sextant("compare 'the tiger .' 'the lion .' --lab");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, StartsWith("sextant: ["));
  EXPECT_THAT(wrong.err, HasSubstr("tiger"));
  for (const char* word : {"zebra", "chased", "lion"}) EXPECT_THAT(wrong.err, HasSubstr(word));
}

TEST(Compare, AnyWordsWorkInTheGeneralModel) {
  const std::string command = "compare 'dog bites man!' 'man bites dog!' --json";
  const auto none = sextant(command).json();
  EXPECT_EQ(none["same"], true);
  EXPECT_EQ(none["model"], "sentence");
  EXPECT_LT(none["largest_difference"].get<double>(), 1e-12);
  for (const char* scheme : {"sinusoidal", "rotary"}) {
    const auto turned = sextant(command + " --scheme " + scheme).json();
    EXPECT_EQ(turned["same"], false) << scheme;
    EXPECT_GT(turned["largest_difference"].get<double>(), 1e-6) << scheme;
  }
}

TEST(Compare, OneSentenceMayComeFromStdin) {
  const std::string rest = " 'man bites dog!' --json";
  EXPECT_EQ(shell("echo 'dog bites man!' | sextant compare -" + rest).out,
            sextant("compare 'dog bites man!'" + rest).out);
  EXPECT_EQ(shell("echo a | sextant compare - -").code, 2);
  EXPECT_EQ(sextant("compare '' 'a b'").code, 1);
}

TEST(Compare, TheLabHasItsOwnModel) {
  EXPECT_EQ(sextant(std::string(kLab) + "--split words").code, 2);
  EXPECT_EQ(sextant("compare 'one sentence'").code, 2);
  EXPECT_EQ(sextant("compare '' 'the lion .' --lab").code, 1);
}

TEST(Compare, DrawsTheSumOfTheLastToken) {
  const std::string texts = "compare 'the dog bites the man .' 'the man bites the dog .' ";
  const auto ends_apart = [](const std::string& csv) {
    std::istringstream last(csv.substr(csv.rfind('\n', csv.size() - 2) + 1));
    double x[4];
    for (double& value : x) {
      last >> value;
      last.ignore(1);
    }
    return std::abs(x[0] - x[2]) + std::abs(x[1] - x[3]);
  };
  EXPECT_LT(ends_apart(sextant(texts + "--format csv").out), 1e-13);
  EXPECT_GT(ends_apart(sextant(texts + "--format csv --scheme rotary").out), 1e-3);
  EXPECT_THAT(sextant(texts + "--format svg").out,
              HasSubstr("What the last word gets, no positions"));
  EXPECT_LT(ends_apart(sextant("compare --lab 'the zebra chased the lion .' 'the lion chased the "
                               "zebra .' --format csv")
                           .out),
            1e-14);
  EXPECT_THAT(sextant(texts + "--width 1 --heads 1 --format svg").err,
              HasSubstr("[compare.width]"));
}

}  // namespace
}  // namespace sextant::app_tests

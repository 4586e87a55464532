// `sextant similarity`: the chapter's three numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kChapter =
    "The black cat sat on the couch and the brown dog slept on the rug.";

class Similarity : public ::testing::Test {
 protected:
  void SetUp() override { put(text_, kChapter); }
  std::string command(const std::string& rest) const {
    return "similarity black brown --text " + text_ + " " + rest;
  }
  const Folder folder_;
  const std::string text_ = folder_ / "file.txt";
};

TEST_F(Similarity, ThePositionalOneHasTheChaptersDigits) {
  const Outcome formula = sextant(command("--positions 2,10 --width 512"));
  EXPECT_EQ(formula.code, 0) << formula.err;
  EXPECT_THAT(formula.out, HasSubstr("0.72252008324682"));
  const Outcome doubled = sextant(command("--positions 2,10 --width 512 --doubled-exponent"));
  EXPECT_THAT(doubled.out, HasSubstr("0.86000133313923"));
  EXPECT_THAT(doubled.out, HasSubstr("mistake"));
}

TEST_F(Similarity, JsonHasAllThree) {
  const auto json = sextant(command("--positions 2,10 --json")).json();
  // The true value is 0.72252008324682734...; the chapter's last digit has the rounding of its sum.
  EXPECT_NEAR(json["position"].get<double>(), 0.72252008324682734, 0x1p-53);
  EXPECT_NEAR(json["position"].get<double>(), 0.7225200832468275, 0x1p-52);
  EXPECT_EQ(json["width"], 512);
  EXPECT_THAT(json["words"], ElementsAre("black", "brown"));
  for (const char* name : {"word", "both"}) {
    EXPECT_LE(std::abs(json[name].get<double>()), 1 + 1e-15) << name;
  }
}

TEST_F(Similarity, PositionsAreThePlacesOfTheWordsUnlessGiven) {
  EXPECT_THAT(sextant(command("--json")).json()["positions"], ElementsAre(1, 9));
  put(text_, std::string("A brown day. Rain fell.\n") + kChapter);
  EXPECT_THAT(sextant(command("--json")).json()["positions"], ElementsAre(1, 9));
  put(text_, "Here is black paint. A brown day.");
  EXPECT_THAT(sextant(command("--json")).json()["positions"], ElementsAre(2, 1));
}

TEST_F(Similarity, VectorsCanBeKeptAndLoaded) {
  const std::string vectors = folder_ / "words.vec";
  const auto trained =
      sextant(command("--width 16 --positions 2,10 --json --save-vectors " + vectors)).json();
  const auto loaded =
      sextant("similarity black brown --positions 2,10 --json --vectors " + vectors).json();
  EXPECT_EQ(loaded["width"], 16);
  EXPECT_EQ(loaded["position"], trained["position"]);
  EXPECT_NEAR(loaded["word"].get<double>(), trained["word"].get<double>(), 1e-6);  // float32 text
  const Outcome wrong =
      sextant("similarity black brown --positions 2,10 --width 8 --vectors " + vectors);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, StartsWith("sextant: [similarity.width]"));
}

TEST_F(Similarity, WordsThatAreNotThereAreNamed) {
  const Outcome wrong = sextant("similarity black violet --text " + text_);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("violet"));
  EXPECT_EQ(sextant("similarity black brown").code, 2);
  EXPECT_EQ(sextant("similarity black brown --text no-such-file").code, 1);
  EXPECT_EQ(sextant(command("--positions 2")).code, 1);
  EXPECT_EQ(sextant("similarity black").code, 2);
}

}  // namespace
}  // namespace sextant::app_tests

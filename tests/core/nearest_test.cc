// The name that was meant by one that does not exist.
#include "core/options/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace sextant {
namespace {

const std::vector<std::string_view> kOptions{"--batch-size", "--batch", "--left", "--length",
                                             "--base"};

TEST(Nearest, AWordThatBeginsANameMeansIt) {
  EXPECT_EQ(nearest("--batch-s", kOptions), "--batch-size");
  EXPECT_EQ(nearest("--len", kOptions), "--length");
  EXPECT_EQ(nearest("plo", std::vector<std::string_view>{"slow", "plo-", "plot-more"}), "plo-");
}

TEST(Nearest, TheShortestOfSeveralThatAWordBegins) {
  EXPECT_EQ(nearest("--batc", kOptions), "--batch");
  EXPECT_EQ(nearest("--batch", kOptions), "--batch");
}

TEST(Nearest, ABeginningWinsOverFewerChangedLetters) {
  EXPECT_EQ(nearest("--text", std::vector<std::string_view>{"--test", "--text-split"}),
            "--text-split");
}

TEST(Nearest, OneLetterBeginsNothing) { EXPECT_EQ(nearest("--b", kOptions), ""); }

TEST(Nearest, OfShortWordsOneLetterMayDiffer) {
  EXPECT_EQ(nearest("--text", kOptions), "");
  EXPECT_EQ(nearest("--bsae", kOptions), "--base");
  EXPECT_EQ(nearest("--lenght", kOptions), "--length");
}

TEST(Nearest, NoWordOfOnlyDashes) {
  EXPECT_EQ(nearest("--", kOptions), "");
  EXPECT_EQ(nearest("", kOptions), "");
}

}  // namespace
}  // namespace sextant

// Matrices drawn with characters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pictures/samples.h"
#include "pictures/text.h"
#include "sextant/core/error.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

TerminalMap plain(View<const double> values) {
  TerminalMap map;
  map.values = values;
  map.color = false;
  return map;
}

TEST(Terminal, ShadesGrowWithTheValue) {
  Tensor<double> values({1, 3});
  values(0, 1) = 0.5;
  values(0, 2) = 1;
  EXPECT_EQ(draw_terminal(plain(values)), "  ++@@\n0   ..::--==++**##%%@@ 1\n");
}

TEST(Terminal, LabelsStandBesideAndAbove) {
  Tensor<double> values({2, 2});
  values(0, 0) = values(1, 1) = 1;
  TerminalMap map = plain(values);
  map.row_labels = {"the", "▁cat"};
  map.column_labels = {"a", "bc"};
  EXPECT_EQ(draw_terminal(map),
            "      a bc \n"
            " the @@@   \n"
            "·cat    @@@\n"
            "     0   ..::--==++**##%%@@ 1\n");
}

TEST(Terminal, LongColumnLabelsAreWrittenDownwards) {
  Tensor<double> values({1, 2});
  values(0, 1) = 1;
  TerminalMap map = plain(values);
  map.column_labels = {"international", "of"};
  const std::string text = draw_terminal(map);
  EXPECT_THAT(text, ::testing::StartsWith("i   \nn   \n"));
  EXPECT_THAT(text, ::testing::HasSubstr("a o \nl f \n  @@\n"));
}

TEST(Terminal, ColorIsResetAtEveryLineEnd) {
  const Tensor<double> values = testing::sinusoids(3, 4);
  TerminalMap map = plain(values);
  map.color = true;
  map.map = ColorMap::diverging;
  const std::string text = draw_terminal(map);
  EXPECT_THAT(text, ::testing::HasSubstr("\x1b[48;2;247;247;247m  "));  // zero is white
  std::size_t resets = 0;
  for (std::size_t at = text.find("\x1b[0m"); at != std::string::npos;
       at = text.find("\x1b[0m", at + 1)) {
    ++resets;
  }
  EXPECT_EQ(resets, 4u);
}

TEST(Terminal, HiddenPairsHaveTheirOwnSignAndName) {
  Tensor<double> values({1, 3});
  values(0, 0) = 1;
  values(0, 1) = -INFINITY;
  TerminalMap map = plain(values);
  EXPECT_THAT(draw_terminal(map), ::testing::EndsWith("?? not finite\n"));
  map.hides = true;
  EXPECT_EQ(draw_terminal(map), "@@//  \n0   ..::--==++**##%%@@ 1\n// hidden\n");
  map.color = true;
  EXPECT_THAT(draw_terminal(map), ::testing::HasSubstr("\x1b[48;2;200;200;200m  \x1b[0m hidden\n"));
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  for (const std::int64_t columns : {1, 5, 16, 30, 60}) {
    const Tensor<double> values = testing::weights(1, 3, columns);
    TerminalMap map = plain(values.view().select(0, 0));
    map.row_labels = testing::hard_words(3);
    map.column_labels = testing::hard_words(static_cast<std::size_t>(columns));
    map.width = 80;
    std::string text = draw_terminal(map);
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      EXPECT_LE(pictures::terminal_cells(text.substr(0, end)), 80) << columns;
      text.erase(0, end + 1);
    }
  }
}

TEST(Terminal, RefusesATableThatIsTooWideAndSaysWhatFits) {
  const Tensor<double> values = testing::sinusoids(2, 100);
  try {
    draw_terminal(plain(values));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "[terminal_map.width] must hold the labels and one cell per column: 80 columns "
                 "fit into 80 cells, got 100");
  }
}

TEST(Terminal, RefusesLabelsThatDoNotFit) {
  const Tensor<double> values = testing::sinusoids(2, 2);
  TerminalMap map = plain(values);
  map.row_labels = {"only one"};
  EXPECT_THROW(draw_terminal(map), Error);
  EXPECT_THROW(draw_terminal(TerminalMap{}), Error);
}

}  // namespace
}  // namespace sextant

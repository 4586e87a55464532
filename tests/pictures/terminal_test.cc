// Matrices drawn with characters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pictures/samples.h"
#include "pictures/terminal/terminal_labels.h"
#include "pictures/text.h"
#include "sextant/core/error.h"
#include "sextant/pictures/charts.h"
#include "support/error_of.h"

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

TEST(Terminal, NumbersThatAreTooWideStandDownwards) {
  Tensor<double> values({1, 3});
  values(0, 2) = 1;
  TerminalMap map = plain(values);
  map.column_labels = {"-12", "7", "100"};
  map.width = 6;
  EXPECT_THAT(draw_terminal(map), ::testing::StartsWith("-   1 \n1   0 \n2 7 0 \n    @@\n"));
}

TEST(Terminal, ColumnsOfLongWordsAreNumberedAndExplained) {
  Tensor<double> values({1, 2});
  values(0, 1) = 1;
  TerminalMap map = plain(values);
  map.column_labels = {"international", "▁of"};
  EXPECT_EQ(draw_terminal(map),
            "0 1 \n"
            "  @@\n"
            "0   ..::--==++**##%%@@ 1\n"
            "columns: 0 international  1 ·of\n");
  map.width = 20;  // a line of the key never ends within a word, and a long one is cut
  map.column_labels = {"international", "Donaudampfschifffahrt"};
  EXPECT_THAT(draw_terminal(map), ::testing::EndsWith("columns:\n"
                                                      "0 international\n"
                                                      "1 Donaudampfschifff…\n"));
}

TEST(Terminal, PanelsHaveOneScale) {
  Tensor<double> values({2, 1, 2});
  values(0, 0, 1) = 0.5;
  values(1, 0, 0) = 1;
  values(1, 0, 1) = -INFINITY;
  TerminalMap map = plain(values);
  map.hides = true;
  map.titles = {"Head 0", "Head 1"};
  map.column_labels = {"a", "b"};
  EXPECT_EQ(draw_terminal(map),
            "Head 0\n"
            "a b \n"
            "  ++\n"
            "\n"
            "Head 1\n"
            "a b \n"
            "@@//\n"
            "0   ..::--==++**##%%@@ 1\n"
            "// hidden\n");
  map.row_name = "Users";
  map.column_name = "Films";
  EXPECT_THAT(draw_terminal(map), ::testing::EndsWith("// hidden\nUsers down, Films across\n"));
  map.titles.pop_back();
  EXPECT_THROW(draw_terminal(map), Error);
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

std::vector<std::string> repeated(const std::vector<std::string>& words, std::size_t count) {
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(words[i % words.size()]);
  return taken;
}

// Whatever the words: no line is wider than the terminal, rows are equally long, and each column
// has a label of its own above it, a word that is not cut or a number that the key explains.
TEST(Terminal, EveryColumnHasALabelAndEveryLineFits) {
  const std::vector<std::string> german = {
      "Die", "Donaudampfschifffahrtsgesellschaftskapitänsmütze", "ist", "weg", "."};
  const std::vector<std::string> emoji = {
      "👩‍👩‍👧", "🍕", "🇩🇪", "❤️", "⭐", "👍🏽"};
  const std::vector<std::string> wide = {"黑猫", "坐在", "沙发", "上", "。", "고양이"};
  for (const auto& some : {testing::words(15), testing::hard_words(18), german, emoji, wide}) {
    for (const std::size_t count : {1u, 5u, 15u, 62u}) {
      for (const int width : {80, 120}) {
        const std::string where =
            some[0] + " x " + std::to_string(count) + " in " + std::to_string(width);
        const auto n = static_cast<std::int64_t>(count);
        const Tensor<double> values = testing::weights(1, n, n);
        TerminalMap map = plain(values);
        map.row_labels = map.column_labels = repeated(some, count);
        map.width = width;
        const auto lines = lines_of(draw_terminal(map));
        for (const std::string& line : lines) {
          EXPECT_LE(terminal_cells(line), width) << where << ": " << line;
        }
        const pictures::TerminalGrid grid =
            pictures::terminal_grid(map.row_labels, map.column_labels, n, width);
        const auto above = lines_of(grid.header);
        for (std::size_t row = 0; row < count; ++row) {
          EXPECT_EQ(terminal_cells(lines[above.size() + row]),
                    grid.label + grid.cell * static_cast<int>(count))
              << where;
        }
        for (std::size_t column = 0; column < count; ++column) {
          const std::string word = pictures::token_label(map.column_labels[column]);
          if (grid.key.empty()) {
            EXPECT_THAT(grid.header, ::testing::HasSubstr(word)) << where;
          } else {
            EXPECT_THAT(grid.key, ::testing::HasSubstr(std::to_string(column) + " " + word))
                << where;
          }
        }
        // Of a header of digits that stand downwards each column has one in the last line.
        EXPECT_EQ(terminal_cells(above.back()), grid.label + grid.cell * n) << where;
        if (above.size() > 1) {
          EXPECT_EQ(std::ranges::count_if(above.back(), [](char c) { return c != ' '; }), n)
              << where;
        }
      }
    }
  }
}

TEST(Terminal, RefusesATableThatIsTooWideAndSaysWhatFits) {
  const Tensor<double> values = testing::sinusoids(2, 100);
  EXPECT_EQ(error_of([&] { draw_terminal(plain(values)); }),
            "[terminal_map.width] must hold the labels and one cell per column: 80 columns "
            "fit into 80 cells, got 100");
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

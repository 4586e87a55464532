// Widths of text in a terminal.
#include "core/text/terminal_cells.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(TerminalCells, AreThoseOfATerminal) {
  EXPECT_EQ(terminal_cells("abc"), 3);
  EXPECT_EQ(terminal_cells("中文"), 4);
  EXPECT_EQ(terminal_cells("e\u0301"), 1);
  EXPECT_EQ(terminal_cells("สวัสดี"), 4);  // two of the marks combine
  EXPECT_EQ(terminal_cells("⭐✅"), 4);
  EXPECT_EQ(terminal_cells("❤️"), 2);               // asked for as emoji
  EXPECT_EQ(terminal_cells("👍🏽"), 2);             // with a tone
  EXPECT_EQ(terminal_cells("👩‍👩‍👧!"), 3);  // joined
  EXPECT_EQ(terminal_cells("🇩🇪🇫🇷"), 4);                 // flags are pairs
  EXPECT_EQ(terminal_cells("a\tb\x7f\u0085"), 2);       // control characters
  EXPECT_EQ(terminal_cells("\u00a0\u3000"), 3);         // spaces have their width
  EXPECT_EQ(terminal_cells("\xff"), 1);                 // not UTF-8
  EXPECT_EQ(terminal_cells(U"e\u0301\u5b66"), 3);
}

}  // namespace
}  // namespace sextant

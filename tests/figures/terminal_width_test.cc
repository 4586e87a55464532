// Pictures measure words for a terminal without ICU, and as the text floor does with it.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "pictures/text.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

TEST(TerminalWidth, IsThatOfTheTextFloor) {
  for (const char* text :
       {"", "a b", "Donaudampfschifffahrtsgesellschaftskapitänsmütze", "位置编码", "日本語トークン",
        "고양이", "שָׁלוֹם", "مرحبا", "привет", "สวัสดี", "é", "✅⭐❤️",
        "👩‍👩‍👧 🇩🇪🇫🇷 👍🏽", "…–·", "Ａ。"}) {
    EXPECT_EQ(pictures::terminal_cells(text), display_width(text)) << text;
  }
}

TEST(TerminalWidth, IsSoForEveryCharacterOfManyBlocks) {
  constexpr std::array<std::pair<char32_t, char32_t>, 18> kBlocks = {{{0x20, 0x7e},
                                                                      {0xa1, 0xac},
                                                                      {0xae, 0x377},
                                                                      {0x400, 0x52f},
                                                                      {0x591, 0x5c7},
                                                                      {0x606, 0x61b},
                                                                      {0x61d, 0x6ff},
                                                                      {0x900, 0x983},
                                                                      {0xe01, 0xe3a},
                                                                      {0xe3f, 0xe5b},
                                                                      {0x2010, 0x2027},
                                                                      {0x2190, 0x2426},
                                                                      {0x2500, 0x2b73},
                                                                      {0x3041, 0x3096},
                                                                      {0x309b, 0x30ff},
                                                                      {0x4e00, 0x9fff},
                                                                      {0xac00, 0xd7a3},
                                                                      {0x1f300, 0x1f6d7}}};
  for (const auto& [first, last] : kBlocks) {
    for (char32_t c = first; c <= last; ++c) {
      const std::string text = pictures::encode({&c, 1});
      ASSERT_EQ(pictures::terminal_cells(text), display_width(text)) << std::hex << int(c);
    }
  }
}

}  // namespace
}  // namespace sextant

// Widths in a terminal.
#include "core/text/terminal_cells.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/text/character_widths.h"
#include "core/text/utf8.h"

namespace sextant {
namespace {

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

template <std::size_t N>
bool is_in(const std::array<CharacterRange, N>& ranges, char32_t c) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &CharacterRange::first);
  return after != ranges.begin() && c <= std::prev(after)->last;
}

bool is_control(char32_t c) { return c < 0x20 || within(c, 0x7f, 0x9f); }

class Cells {
 public:
  void add(char32_t c) {
    constexpr char32_t kJoiner = 0x200d, kAsEmoji = 0xfe0f;
    const bool flag = within(c, 0x1f1e6, 0x1f1ff), tone = within(c, 0x1f3fb, 0x1f3ff);
    if (c == kAsEmoji && last_ == 1) {
      ++count_;
      last_ = 2;
    }
    // The second half of a flag, characters joined to an emoji, and its tone take no cells.
    const bool is_part = (flag && half_flag_) || joined_ || (tone && last_ == 2);
    half_flag_ = flag && !half_flag_;
    joined_ = c == kJoiner && last_ == 2;
    if (is_control(c) || combines(c) || is_part) return;
    last_ = flag || is_wide(c) ? 2 : 1;
    count_ += last_;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
  int last_ = 0;  // of the character before
  bool joined_ = false, half_flag_ = false;
};

}  // namespace

bool combines(char32_t c) { return is_in(kNoCell, c); }
bool is_wide(char32_t c) { return is_in(kTwoCells, c); }

int terminal_cells(std::u32string_view text) {
  Cells cells;
  for (const char32_t c : text) cells.add(c);
  return cells.count();
}

int terminal_cells(std::string_view utf8) {
  Cells cells;
  while (!utf8.empty()) {
    const Utf8Character next = first_character(utf8);
    cells.add(next.valid ? static_cast<char32_t>(next.code) : U'\ufffd');
    utf8.remove_prefix(next.bytes);
  }
  return cells.count();
}

}  // namespace sextant

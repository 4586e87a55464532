// A text that was changed, with the place in the given text that each of its bytes comes from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/utf8.h"

namespace sextant::text {

struct Origin {  // bytes of the given text, [begin, end)
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Origin&) const = default;
};

// A character of the changed text. `change` says what it replaces, as in tokenizers: 0 replaces one
// character, 1 is inserted after the one before it, -n replaces one and removes n after it.
struct Change {
  char32_t c = 0;
  int change = 0;
};

void append_utf8(std::string& text, char32_t c);

// The code point at `at` of valid UTF-8; moves `at` past it.
inline char32_t next_character(std::string_view text, std::size_t& at) {
  const Utf8Character c = first_character(text.substr(at));
  at += c.bytes;
  return c.code;
}
// The code point that ends before `at` >= 1; moves `at` to its first byte.
inline char32_t previous_character(std::string_view text, std::size_t& at) {
  do --at;
  while (at > 0 && continues_character(text[at]));
  return first_character(text.substr(at)).code;
}

class AlignedText {
 public:
  AlignedText() = default;
  // A part of the given text that begins at its byte `shift`.
  AlignedText(std::string_view text, std::uint32_t shift);

  const std::string& text() const noexcept { return text_; }
  const std::vector<Origin>& origin() const noexcept { return origin_; }
  bool empty() const noexcept { return text_.empty(); }
  // Throws Error where a step would make it `size` bytes, more than 64 times the given text.
  void check_growth(std::size_t size) const;
  bool is_ascii() const noexcept;

  // Replaces all by these characters; `removed` characters at the beginning have no successor.
  void transform(std::span<const Change> changes, std::size_t removed = 0);
  template <class Keep>
  void filter(Keep keep) {
    std::vector<Change> kept;
    std::size_t removed = 0;
    for (std::size_t at = 0; at < text_.size();) {
      const char32_t c = next_character(text_, at);
      if (keep(c)) {
        kept.push_back({c, 0});
      } else if (kept.empty()) {
        ++removed;
      } else {
        --kept.back().change;
      }
    }
    transform(kept, removed);
  }
  void prepend(std::string_view prefix);  // nothing in front of an empty text
  // Characters [begin, end) of bytes replaced by `content`, whose origin is the last of them.
  // `ranges` ascend and do not overlap.
  struct Range {
    std::size_t begin, end;
  };
  void replace(std::span<const Range> ranges, std::string_view content);

  // Appends bytes [begin, end) of another one, and text of one origin.
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  void append(std::string_view text, Origin origin);
  // In place, byte for byte: `to` has the length of `from`, ASCII.
  std::string& ascii() noexcept { return text_; }

 private:
  std::string text_;
  std::vector<Origin> origin_;  // one per byte of text_
  std::uint32_t shift_ = 0;
};

}  // namespace sextant::text

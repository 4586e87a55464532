// A sentence as the tokens that BLEU compares.
#include <utility>

#include "core/text/strings.h"
#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"
#include "sextant/training/tasks/bleu.h"
#include "text/white_space.h"

namespace sextant {
namespace {

// Python's white space: Unicode's, and four separators among the control characters.
bool is_space(std::uint32_t code) { return is_white_space(code) || (code >= 0x1C && code <= 0x1F); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> tokens;
  std::string token;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = first_character(text.substr(at));
    if (!is_space(c.code)) {
      token += text.substr(at, c.bytes);
    } else if (!token.empty()) {
      tokens.push_back(std::exchange(token, {}));
    }
    at += c.bytes;
  }
  if (!token.empty()) tokens.push_back(std::move(token));
  return tokens;
}

std::string_view without_end_spaces(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = first_character(text.substr(at));
    at += c.bytes;
    if (!is_space(c.code)) end = at;
  }
  return text.substr(0, end);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }
// ASCII punctuation without the apostrophe, comma, hyphen and full stop.
bool is_mark(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

// Each pair of bytes that `matches`, from left to right without overlap, as left + pair with a
// space between + right. All that is looked for is ASCII, so bytes do for characters.
template <class Matches>
std::string parted(std::string_view text, const char* left, Matches matches, const char* right) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 < text.size() && matches(text[at], text[at + 1])) {
      result += left;
      result += {text[at], ' ', text[at + 1]};
      result += right;
      ++at;
    } else {
      result += text[at];
    }
  }
  return result;
}

std::string cut_13a(std::string_view sentence) {
  std::string text = replaced(sentence, "<skipped>", "");
  text = replaced(text, "-\n", "");
  text = replaced(text, "\n", " ");
  for (const auto& [entity, sign] :
       {std::pair("&quot;", "\""), {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}) {
    text = replaced(text, entity, sign);
  }
  std::string marks = " ";
  for (const char c : text + ' ') marks += is_mark(c) ? std::string{' ', c, ' '} : std::string{c};
  // Points and commas stay with the digits around them, hyphens leave the digit before them.
  text = parted(
      marks, "", [](char a, char b) { return !is_digit(a) && is_point(b); }, " ");
  text = parted(
      text, " ", [](char a, char b) { return is_point(a) && !is_digit(b); }, "");
  return parted(
      text, "", [](char a, char b) { return is_digit(a) && b == '-'; }, " ");
}

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view text, const BleuOptions& options) {
  check_utf8(text, "bleu.text");
  const std::string cased = options.lower_case ? lower_case(text) : std::string(text);
  const std::string_view sentence = without_end_spaces(cased);
  switch (options.tokens) {
    case BleuTokens::v13a:
      return split(cut_13a(sentence));
    case BleuTokens::none:
      return split(sentence);
  }
  throw Error("bleu.tokens", "must be v13a or none");
}

}  // namespace sextant

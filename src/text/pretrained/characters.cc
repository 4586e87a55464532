// The versions and exceptions below were found by comparing every code point with tokenizers 0.23
// in November 2026.
#include "text/pretrained/characters.h"

#include <algorithm>
#include <array>

#include "text/pretrained/unicode/unicode.h"
#include "text/pretrained/unicode/unicode_age.h"
#include "text/white_space.h"

namespace sextant::text {
namespace {

constexpr std::array<char32_t, 4> kNoAccents = {0x1885, 0x1886, 0xa9bd, 0x111c9};

}  // namespace

bool is_space(char32_t c) { return is_white_space(c); }

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  return (has_property(c, Property::punctuation) && is_of_unicode(c, 8)) || c == 0x166d ||
         c == 0x111c9;
}

bool is_mark(char32_t c) {
  if (c < 0x300) return false;
  return (has_property(c, Property::mark) && is_of_unicode(c, 9) && c != 0x111c9) || c == 0x1cf2 ||
         c == 0x1cf3;
}

bool is_accent(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1734) return true;
  return has_property(c, Property::nonspacing_mark) && is_of_unicode(c, 8) &&
         std::ranges::find(kNoAccents, c) == kNoAccents.end();
}

bool is_removed(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x7f) return c < ' ';
  return c == 0xfffd || (has_property(c, Property::control_or_private) && is_of_unicode(c, 8));
}

bool is_ideograph(char32_t c) {
  return (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x4e00 && c <= 0x9fff) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0x2f800 && c <= 0x2fa1f);
}

bool is_numeric(char32_t c) {
  return c < 0x80 ? c >= '0' && c <= '9' : has_property(c, Property::number);
}

bool is_word(char32_t c) {
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
  }
  return has_property(c, Property::alphabetic) || has_property(c, Property::mark) ||
         has_property(c, Property::digit) || has_property(c, Property::connector) || c == 0x200c ||
         c == 0x200d;
}

}  // namespace sextant::text

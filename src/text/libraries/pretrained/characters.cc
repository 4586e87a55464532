// The versions and exceptions below were found by comparing every code point with tokenizers 0.23
// in November 2026.
#include "text/libraries/pretrained/characters.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace sextant::text {
namespace {

UChar32 icu(char32_t c) { return static_cast<UChar32>(c); }

bool in(char32_t c, std::uint32_t categories) {
  return (U_MASK(u_charType(icu(c))) & categories) != 0;
}

// Whether a character was in this version of Unicode.
bool since(char32_t c, int version) {
  UVersionInfo age;
  u_charAge(icu(c), age);
  return age[0] <= version;
}

constexpr std::array<char32_t, 4> kNoAccents = {0x1885, 0x1886, 0xa9bd, 0x111c9};

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(icu(c));
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  return (in(c, U_GC_P_MASK) && since(c, 8)) || c == 0x166d || c == 0x111c9;
}

bool is_mark(char32_t c) {
  return (in(c, U_GC_M_MASK) && since(c, 9) && c != 0x111c9) || c == 0x1cf2 || c == 0x1cf3;
}

bool is_accent(char32_t c) {
  if (c == 0x1734) return true;
  return in(c, U_GC_MN_MASK) && since(c, 8) && std::ranges::find(kNoAccents, c) == kNoAccents.end();
}

bool is_removed(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x7f) return c < ' ';
  return c == 0xfffd || (in(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK) && since(c, 8));
}

bool is_ideograph(char32_t c) {
  return (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x4e00 && c <= 0x9fff) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0x2f800 && c <= 0x2fa1f);
}

bool is_numeric(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : in(c, U_GC_N_MASK); }

bool is_word(char32_t c) {
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
  }
  return u_hasBinaryProperty(icu(c), UCHAR_ALPHABETIC) ||
         in(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) || c == 0x200c || c == 0x200d;
}

}  // namespace sextant::text

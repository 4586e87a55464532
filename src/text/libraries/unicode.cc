// What tokenizers ask of Unicode, by ICU.
#include "text/pretrained/unicode/unicode.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ustring.h>

#include <array>
#include <cstdint>

#include "sextant/core/error.h"

namespace sextant::text {
namespace {

const icu::Normalizer2& normal_form(bool compatible) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = compatible ? icu::Normalizer2::getNFKCInstance(status)
                                             : icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) {
    throw Error("tokenizer", std::string("ICU reports ") + u_errorName(status));
  }
  return *found;
}

}  // namespace

bool has_property(char32_t c, Property property) {
  const auto code = static_cast<UChar32>(c);
  if (property == Property::alphabetic) return u_hasBinaryProperty(code, UCHAR_ALPHABETIC) != 0;
  constexpr std::array<std::uint32_t, 8> kCategories = {
      0,           U_GC_M_MASK,  U_GC_MN_MASK, U_GC_P_MASK,
      U_GC_N_MASK, U_GC_ND_MASK, U_GC_PC_MASK, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK};
  return (U_MASK(u_charType(code)) & kCategories[static_cast<std::size_t>(property)]) != 0;
}

std::u32string decomposition(char32_t c, bool compatible) {
  icu::UnicodeString parts;
  if (!normal_form(compatible).getDecomposition(static_cast<UChar32>(c), parts)) return {c};
  std::u32string all;
  for (std::int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1)) {
    all += static_cast<char32_t>(parts.char32At(i));
  }
  return all;
}

std::optional<char32_t> composition(char32_t a, char32_t b) {
  const UChar32 made =
      normal_form(false).composePair(static_cast<UChar32>(a), static_cast<UChar32>(b));
  if (made < 0) return std::nullopt;
  return static_cast<char32_t>(made);
}

int combining_order(char32_t c) { return u_getCombiningClass(static_cast<UChar32>(c)); }

char32_t lower(char32_t c) { return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))); }

}  // namespace sextant::text

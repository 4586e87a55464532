// What tokenizers ask of Unicode, by the browser: classes by regular expressions, decompositions
// and the order of marks by String.normalize.
#include "text/pretrained/unicode/unicode.h"

#include <emscripten.h>

#include "text/browser/javascript.h"

// clang-format off
EM_JS(int, sextant_has_property, (int c, int property), {
  if (!sextant_has_property.tests) {
    const slash = String.fromCharCode(92);
    const any_of = (names) => new RegExp("^[" + names.map((name) => slash + "p{" + name + "}").join("") + "]$", "u");
    sextant_has_property.tests = [["Alphabetic"], ["M"], ["Mn"], ["P"], ["N"], ["Nd"], ["Pc"], ["Cc", "Cf", "Co"]].map(any_of);
  }
  return sextant_has_property.tests[property].test(String.fromCodePoint(c)) ? 1 : 0;
})
EM_JS(int32_t*, sextant_decomposition, (int c, int compatible), {
  const parts = String.fromCodePoint(c).normalize(compatible ? "NFKD" : "NFD");
  return sextant_list(Array.from(parts, (part) => part.codePointAt(0)));
})
// -1: none. NFC makes one character of two in another order as well: that is no pair.
EM_JS(int, sextant_composition, (int a, int b), {
  const both = [a, b].map((c) => String.fromCodePoint(c)), made = both.join("").normalize("NFC");
  const parts = both.map((c) => c.normalize("NFD")).join("");
  const code = made.codePointAt(0);
  return made === String.fromCodePoint(code) && made.normalize("NFD") === parts ? code : -1;
})
// NFD exchanges two marks if the second one's class is the smaller: so a mark is behind those of
// smaller classes. One mark of each class, in the order of their classes, counts them.
EM_JS(int, sextant_combining_order, (int c), {
  const marks = sextant_combining_order;
  if (!marks.all) {
    marks.all = [0x334, 0x93c, 0x3099, 0x94d, 0x5b0, 0x5b1, 0x5b2, 0x5b3, 0x5b4, 0x5b5, 0x5b6, 0x5b7, 0x5b8, 0x5b9, 0x5bb, 0x5bc, 0x5bd,
      0x5bf, 0x5c1, 0x5c2, 0xfb1e, 0x64b, 0x64c, 0x64d, 0x64e, 0x64f, 0x650, 0x651, 0x652, 0x670, 0x711, 0xc55, 0xc56, 0xe38, 0xe48, 0xeb8,
      0xec8, 0xf71, 0xf72, 0xf74, 0x327, 0x1dce, 0x31b, 0x302a, 0x316, 0x59a, 0x302e, 0x1d16d, 0x5ae, 0x301, 0x315, 0x35c, 0x35d, 0x345]
      .map((mark) => String.fromCodePoint(mark));
    marks.known = new Map();
    marks.exchanged = (first, second) => first !== second && (first + second).normalize("NFD") === second + first;
  }
  if (!marks.known.has(c)) {
    const mark = String.fromCodePoint(c);
    const behind = marks.all.filter((one) => marks.exchanged(mark, one)).length;
    const is_mark = behind > 0 || marks.exchanged(marks.all[marks.all.length - 1], mark) || marks.all.includes(mark);
    marks.known.set(c, is_mark ? behind + 1 : 0);
  }
  return marks.known.get(c);
})
EM_JS(int, sextant_lower_character, (int c), {
  return String.fromCodePoint(c).toLowerCase().codePointAt(0);
})
// clang-format on

namespace sextant::text {

bool has_property(char32_t c, Property property) {
  return sextant_has_property(static_cast<int>(c), static_cast<int>(property)) != 0;
}

std::u32string decomposition(char32_t c, bool compatible) {
  const auto parts = taken_list(sextant_decomposition(static_cast<int>(c), compatible ? 1 : 0));
  return {parts.begin(), parts.end()};
}

std::optional<char32_t> composition(char32_t a, char32_t b) {
  const int made = sextant_composition(static_cast<int>(a), static_cast<int>(b));
  if (made < 0) return std::nullopt;
  return static_cast<char32_t>(made);
}

int combining_order(char32_t c) { return sextant_combining_order(static_cast<int>(c)); }

char32_t lower(char32_t c) {
  return static_cast<char32_t>(sextant_lower_character(static_cast<int>(c)));
}

}  // namespace sextant::text

// ICU decomposes and composes single characters; the order of steps is the one of UAX #15, because
// ICU's own functions tell nothing about where a character of their result came from.
#include "text/libraries/pretrained/unicode_forms.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <optional>
#include <string>

#include "sextant/core/error.h"

namespace sextant::text {
namespace {

struct Form {
  char32_t c = 0;
  int change = 0;
  std::uint8_t combining_class = 0;
};

bool is_newer(UChar32 c) {
  if (c < 0x300) return false;
  UVersionInfo age;
  u_charAge(c, age);
  return age[0] > 11;
}

const icu::Normalizer2& normalizer(bool compatible) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = compatible ? icu::Normalizer2::getNFKCInstance(status)
                                             : icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) {
    throw Error("tokenizer", std::string("ICU reports ") + u_errorName(status));
  }
  return *found;
}

std::vector<Form> decomposed(const AlignedText& text, bool compatible) {
  const icu::Normalizer2& forms = normalizer(compatible);
  std::vector<Form> all;
  all.reserve(text.text().size());
  std::size_t sorted = 0;  // the text before it is in its final order
  const auto sort = [&] {
    std::stable_sort(
        all.begin() + static_cast<std::ptrdiff_t>(sorted), all.end(),
        [](const Form& a, const Form& b) { return a.combining_class < b.combining_class; });
    sorted = all.size();
  };
  const auto add = [&](UChar32 c, bool first) {
    const std::uint8_t combining = is_newer(c) ? 0 : u_getCombiningClass(c);
    if (combining == 0) sort();
    all.push_back({static_cast<char32_t>(c), first ? 0 : 1, combining});
  };
  icu::UnicodeString parts;
  for (std::size_t at = 0; at < text.text().size();) {
    const auto c = static_cast<UChar32>(next_character(text.text(), at));
    if (c < 0x80 || is_newer(c) || !forms.getDecomposition(c, parts)) {
      add(c, true);
      continue;
    }
    for (std::int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1)) {
      add(parts.char32At(i), i == 0);
    }
  }
  sort();
  return all;
}

std::optional<char32_t> pair(const icu::Normalizer2& forms, char32_t a, char32_t b) {
  const UChar32 made = forms.composePair(static_cast<UChar32>(a), static_cast<UChar32>(b));
  if (made < 0 || is_newer(made)) return std::nullopt;
  return static_cast<char32_t>(made);
}

}  // namespace

void decompose(AlignedText& text, bool compatible) {
  if (text.is_ascii()) return;
  std::vector<Change> changes;
  for (const Form& each : decomposed(text, compatible)) changes.push_back({each.c, each.change});
  text.transform(changes);
}

void compose(AlignedText& text, bool compatible) {
  if (text.is_ascii()) return;
  const icu::Normalizer2& forms = normalizer(false);
  std::vector<Change> changes;
  std::optional<Change> starter;
  std::vector<Change> behind;  // marks that stay after the starter
  int last_class = -1;         // of the last of them
  const auto finish = [&] {
    if (starter) changes.push_back(*starter);
    changes.insert(changes.end(), behind.begin(), behind.end());
    starter.reset();
    behind.clear();
    last_class = -1;
  };
  for (const Form& each : decomposed(text, compatible)) {
    const int combining = each.combining_class;
    if (!starter) {
      if (combining != 0) {
        changes.push_back({each.c, each.change});
      } else {
        starter = Change{each.c, each.change};
      }
      continue;
    }
    if (last_class < combining) {  // not blocked
      if (const auto made = pair(forms, starter->c, each.c)) {
        starter = Change{*made, starter->change + each.change - 1};
        continue;
      }
    }
    if (combining == 0) {
      finish();
      starter = Change{each.c, each.change};
    } else {
      behind.push_back({each.c, each.change});
      last_class = combining;
    }
  }
  finish();
  text.transform(changes);
}

void to_lower(AlignedText& text) {
  if (text.is_ascii()) {
    for (char& c : text.ascii()) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return;
  }
  std::vector<Change> changes;
  changes.reserve(text.text().size());
  for (std::size_t at = 0; at < text.text().size();) {
    const char32_t c = next_character(text.text(), at);
    if (c == 0x130) {  // the one character whose lower case is two
      changes.insert(changes.end(), {{'i', 0}, {0x307, 1}});
    } else {
      changes.push_back({static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))), 0});
    }
  }
  text.transform(changes);
}

}  // namespace sextant::text

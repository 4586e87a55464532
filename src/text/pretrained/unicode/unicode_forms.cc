// Decomposes and composes single characters; the order of steps is the one of UAX #15, because
// functions for whole texts tell nothing about where a character of their result came from.
#include "text/pretrained/unicode/unicode_forms.h"

#include <algorithm>
#include <optional>
#include <string>

#include "text/pretrained/unicode/unicode.h"
#include "text/pretrained/unicode/unicode_age.h"

namespace sextant::text {
namespace {

struct Form {
  char32_t c = 0;
  int change = 0;
  int order = 0;  // of a mark behind its character
};

bool is_newer(char32_t c) { return c >= 0x300 && !is_of_unicode(c, 11); }

std::vector<Form> decomposed(const AlignedText& text, bool compatible) {
  std::vector<Form> all;
  all.reserve(text.text().size());
  std::size_t sorted = 0;  // the text before it is in its final order
  const auto sort = [&] {
    std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(sorted), all.end(),
                     [](const Form& a, const Form& b) { return a.order < b.order; });
    sorted = all.size();
  };
  const auto add = [&](char32_t c, bool first) {
    const int order = c < 0x300 || is_newer(c) ? 0 : combining_order(c);
    if (order == 0) sort();
    all.push_back({c, first ? 0 : 1, order});
  };
  for (std::size_t at = 0; at < text.text().size();) {
    const char32_t c = next_character(text.text(), at);
    if (c < 0x80 || is_newer(c)) {
      add(c, true);
      continue;
    }
    const std::u32string parts = decomposition(c, compatible);
    for (std::size_t i = 0; i < parts.size(); ++i) add(parts[i], i == 0);
  }
  sort();
  return all;
}

std::optional<char32_t> pair(char32_t a, char32_t b) {
  const std::optional<char32_t> made = b < 0x300 ? std::nullopt : composition(a, b);
  return made && !is_newer(*made) ? made : std::nullopt;
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
  std::vector<Change> changes;
  std::optional<Change> starter;
  std::vector<Change> behind;  // marks that stay after the starter
  int last_order = -1;         // of the last of them
  const auto finish = [&] {
    if (starter) changes.push_back(*starter);
    changes.insert(changes.end(), behind.begin(), behind.end());
    starter.reset();
    behind.clear();
    last_order = -1;
  };
  for (const Form& each : decomposed(text, compatible)) {
    const int combining = each.order;
    if (!starter) {
      if (combining != 0) {
        changes.push_back({each.c, each.change});
      } else {
        starter = Change{each.c, each.change};
      }
      continue;
    }
    if (last_order < combining) {  // not blocked
      if (const auto made = pair(starter->c, each.c)) {
        starter = Change{*made, starter->change + each.change - 1};
        continue;
      }
    }
    if (combining == 0) {
      finish();
      starter = Change{each.c, each.change};
    } else {
      behind.push_back({each.c, each.change});
      last_order = combining;
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
      changes.push_back({lower(c), 0});
    }
  }
  text.transform(changes);
}

}  // namespace sextant::text

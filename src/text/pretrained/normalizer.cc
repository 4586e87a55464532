// Each type as one step on the whole text.
#include "text/pretrained/normalizer.h"

#include "text/pretrained/byte_level.h"
#include "text/pretrained/characters.h"
#include "text/pretrained/patterns/pattern.h"
#include "text/pretrained/precompiled.h"
#include "text/pretrained/unicode/unicode_forms.h"

namespace sextant::text {
namespace {

template <class Map>
void map(AlignedText& text, Map map) {
  std::vector<Change> changes;
  changes.reserve(text.text().size());
  for (std::size_t at = 0; at < text.text().size();) {
    changes.push_back({map(next_character(text.text(), at)), 0});
  }
  text.transform(changes);
}

void clean(AlignedText& text) {
  text.filter([](char32_t c) { return !is_removed(c); });
  map(text, [](char32_t c) { return is_space(c) ? U' ' : c; });
}

void set_ideographs_apart(AlignedText& text) {
  if (text.is_ascii()) return;
  std::vector<Change> changes;
  for (std::size_t at = 0; at < text.text().size();) {
    const char32_t c = next_character(text.text(), at);
    if (is_ideograph(c)) {
      changes.insert(changes.end(), {{U' ', 0}, {c, 1}, {U' ', 1}});
    } else {
      changes.push_back({c, 0});
    }
  }
  text.transform(changes);
}

void strip(AlignedText& text, bool left, bool right) {
  const std::string& all = text.text();
  std::size_t begin = 0;
  std::size_t removed = 0;
  for (std::size_t at = 0; left && at < all.size() && is_space(next_character(all, at));) {
    begin = at;
    ++removed;
  }
  std::size_t end = all.size();
  int behind = 0;
  for (std::size_t at = end; right && at > begin && is_space(previous_character(all, at));) {
    end = at;
    --behind;
  }
  if (removed == 0 && behind == 0) return;
  std::vector<Change> changes;
  for (std::size_t at = begin; at < end;) changes.push_back({next_character(all, at), 0});
  if (!changes.empty()) changes.back().change = behind;
  text.transform(changes, removed);
}

// The control characters that SentencePiece's "nmt" rules remove or read as a space.
void nmt(AlignedText& text) {
  text.filter([](char32_t c) {
    return !((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f ||
             c == 0x9f);
  });
  map(text, [](char32_t c) {
    const bool space = c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
                       (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xfeff || c == 0xfffd;
    return space ? U' ' : c;
  });
}

}  // namespace

Normalizer Normalizer::read(const Field& field) {
  Normalizer made;
  made.add(field);
  return made;
}

void Normalizer::add(const Field& field) {
  const auto type = field["type"].choice(
      {"BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip",
       "Replace", "Prepend", "Nmt", "ByteLevel", "Sequence", "Precompiled"});
  const auto step = [this](auto function) { steps_.emplace_back(std::move(function)); };
  switch (type) {
    case 0: {
      field.allow_keys(
          {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
      const bool lowercase = field.flag("lowercase");
      if (field.flag("clean_text")) step(clean);
      if (field.flag("handle_chinese_chars")) step(set_ideographs_apart);
      if (field.flag("strip_accents", lowercase)) {
        step([](AlignedText& text) {
          if (text.is_ascii()) return;
          decompose(text, false);
          text.filter([](char32_t c) { return !is_accent(c); });
        });
      }
      if (lowercase) step(to_lower);
      return;
    }
    case 7: {
      field.allow_keys({"type", "strip_left", "strip_right"});
      const bool left = field.flag("strip_left");
      const bool right = field.flag("strip_right");
      return step([left, right](AlignedText& text) { strip(text, left, right); });
    }
    case 8: {
      field.allow_keys({"type", "pattern", "content"});
      const Pattern pattern = Pattern::read(field["pattern"]);
      const std::string content = field["content"].replacement();
      // Groups of the expression in it would be put in by newer versions of tokenizers only.
      if (field["pattern"].has("Regex") && content.find('$') != std::string::npos) {
        field["content"].refuse("text without $");
      }
      return step([pattern, content](AlignedText& text) {
        std::vector<AlignedText::Range> ranges;
        for (const Stretch& each : pattern.find(text.text())) {
          if (each.match) ranges.push_back({each.begin, each.end});
        }
        if (!ranges.empty()) text.replace(ranges, content);
      });
    }
    case 9: {
      field.allow_keys({"type", "prepend"});
      return step(
          [prefix = field["prepend"].replacement()](AlignedText& text) { text.prepend(prefix); });
    }
    case 13:
      field.allow_keys({"type", "precompiled_charsmap"});
      return step(read_precompiled(field["precompiled_charsmap"]));
    case 12:
      field.allow_keys({"type", "normalizers"});
      for (const Field& each : field["normalizers"].elements()) add(each);
      return;
    default:
      break;
  }
  field.allow_keys({"type"});
  switch (type) {
    case 1:
      return step([](AlignedText& text) { compose(text, false); });
    case 2:
      return step([](AlignedText& text) { decompose(text, false); });
    case 3:
      return step([](AlignedText& text) { compose(text, true); });
    case 4:
      return step([](AlignedText& text) { decompose(text, true); });
    case 5:
      return step(to_lower);
    case 6:
      return step([](AlignedText& text) { text.filter([](char32_t c) { return !is_mark(c); }); });
    case 10:
      return step(nmt);
    default:
      return step([](AlignedText& text) {
        AlignedText bytes;
        append_byte_level(bytes, text, 0, text.text().size());
        text = std::move(bytes);
      });
  }
}

}  // namespace sextant::text

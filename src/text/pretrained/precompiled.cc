// Applies the rules as tokenizers does: a visible character of less than 6 bytes is looked up
// whole, then each of its code points; the shortest rule counts, also if more text follows its own.
#include "text/pretrained/precompiled.h"

#include <memory>
#include <optional>
#include <string>

#include "core/text/base64.h"
#include "sextant/core/error.h"
#include "text/charsmap.h"
#include "text/charsmap_unit.h"
#include "text/pretrained/unicode/unicode.h"

namespace sextant::text {
namespace {

class Charsmap {
 public:
  explicit Charsmap(const Field& field) {
    const std::optional<std::string> bytes = from_base64(field.text());
    if (!bytes) field.refuse("base64");
    const std::string& blob = *bytes;
    check_charsmap(blob, std::string(field.file()) + ", " + field.place());
    const std::size_t trie = read_charsmap_unit(blob, 0);
    for (std::size_t at = 4; at < 4 + trie; at += 4)
      units_.push_back({read_charsmap_unit(blob, at)});
    rules_ = blob.substr(4 + trie);
  }

  std::optional<std::string_view> find(std::string_view key) const {
    std::size_t node = units_[0].offset();
    for (const char c : key) {
      if (c == 0) break;
      node ^= static_cast<unsigned char>(c);
      if (node >= units_.size() || units_[node].is_value()) break;
      const CharsmapUnit unit = units_[node];
      if (unit.label() != static_cast<unsigned char>(c)) break;
      node ^= unit.offset();
      if (!unit.has_leaf()) continue;
      return std::string_view(rules_.c_str() + units_[node].value());
    }
    return std::nullopt;
  }

 private:
  std::vector<CharsmapUnit> units_;
  std::string rules_;  // each ends with a zero byte
};

void replace(std::vector<Change>& changes, std::string_view from, std::string_view to) {
  const std::int64_t more = count_characters(to) - count_characters(from);
  for (std::size_t at = 0; at < to.size();) changes.push_back({next_character(to, at), 0});
  for (std::int64_t i = 0; i < more; ++i) changes[changes.size() - 1 - i].change = 1;
  if (more < 0 && !changes.empty()) changes.back().change += static_cast<int>(more);
}

void normalize(AlignedText& text, const Charsmap& map) {
  constexpr std::size_t kLongest = 5;
  const std::string_view all = text.text();
  std::vector<Change> changes;
  bool modified = false;
  std::size_t begin = 0;
  for (const std::size_t end : visible_character_ends(all)) {
    const std::string_view visible = all.substr(begin, end - begin);
    begin = end;
    text.check_growth(changes.size());
    const auto whole = visible.size() <= kLongest ? map.find(visible) : std::nullopt;
    if (whole) {
      replace(changes, visible, *whole);
      modified = true;
      continue;
    }
    for (std::size_t at = 0; at < visible.size();) {
      const std::size_t first = at;
      const char32_t c = next_character(visible, at);
      const std::string_view part = visible.substr(first, at - first);
      if (const auto found = map.find(part)) {
        replace(changes, part, *found);
        modified = true;
      } else {
        changes.push_back({c, 0});
      }
    }
  }
  if (modified) text.transform(changes);
}

}  // namespace

std::function<void(AlignedText&)> read_precompiled(const Field& field) {
  return
      [map = std::make_shared<const Charsmap>(field)](AlignedText& text) { normalize(text, *map); };
}

}  // namespace sextant::text

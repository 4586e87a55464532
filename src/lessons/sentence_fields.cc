// Windows and hidden pairs as text.
#include "lessons/sentence_fields.h"

#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

constexpr std::size_t kMostPairs = std::size_t{1} << 16;

std::string index_text(std::int64_t index) { return index < 0 ? "*" : std::to_string(index); }

std::int64_t read_index(std::string_view text, std::string_view where) {
  if (text == "*") return -1;
  const auto index = read_option<std::int64_t>(text, where);
  check_range(at_least(0), where, index);
  return index;
}

}  // namespace

template <>
Window read_option(std::string_view text, std::string_view where) {
  const auto sides = read_option<std::vector<std::int64_t>>(text, where);
  if (sides.size() != 2) {
    throw Error(where, "must be two whole numbers such as 2,0, got " + printable_quote(text));
  }
  for (const std::int64_t side : sides) check_range(at_least(-1), where, side);
  return {.left = sides[0], .right = sides[1]};
}

template <>
std::vector<HiddenPair> read_option(std::string_view text, std::string_view where) {
  std::vector<HiddenPair> pairs;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view pair = text.substr(begin, text.find(',', begin) - begin);
    const auto colon = pair.find(':');
    if (colon == std::string_view::npos) {
      throw Error(where, "must be pairs such as 3:1,*:0, got " + printable_quote(text));
    }
    pairs.push_back({.query = read_index(pair.substr(0, colon), where),
                     .key = read_index(pair.substr(colon + 1), where)});
    if (pairs.size() > kMostPairs) throw Error(where, "must be at most 2^16 pairs");
    begin += pair.size() + 1;
  }
  return pairs;
}

std::string option_text(const Window& window) {
  return std::to_string(window.left) + "," + std::to_string(window.right);
}

std::string option_text(const std::vector<HiddenPair>& pairs) {
  return joined(pairs, ",", [](const HiddenPair& pair) {
    return index_text(pair.query) + ":" + index_text(pair.key);
  });
}

}  // namespace sextant

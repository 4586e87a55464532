// Texts of lists, and texts without the spaces around them or with parts replaced.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sextant {

// text_of(element) of every element of a list, with a separator between them.
template <class List, class TextOf = std::identity>
std::string joined(const List& list, std::string_view separator, const TextOf& text_of = {}) {
  std::string text;
  bool follows = false;
  for (const auto& element : list) {
    if (follows) text += separator;
    text += std::invoke(text_of, element);
    follows = true;
  }
  return text;
}

// Without spaces, tabs and carriage returns at the ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kSpaces = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// With `to` wherever `from` stands; as it is where `from` is empty.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    result += text.substr(at, found == text.npos ? text.npos : found - at);
    if (found == text.npos) return result;
    result += to;
    at = found + from.size();
  }
}

}  // namespace sextant

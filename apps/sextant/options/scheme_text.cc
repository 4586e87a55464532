// Schemes and their parameters in one text.
#include "options/scheme_text.h"

#include <algorithm>

#include "options/scheme_choice.h"
#include "sextant/core/error.h"

namespace sextant::app {
namespace {

// Where the first scheme of a text ends: at a comma or "+" that is not within a value.
std::size_t end_of_scheme(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',' && text[i] != '+') continue;
    const bool letter = i + 1 < text.size() && text[i + 1] >= 'a' && text[i + 1] <= 'z';
    if (letter || text.substr(0, i).find('=') == text.npos) return i;
  }
  return text.size();
}

SchemeSpec parse_scheme(std::string_view text, const std::string& where) {
  SchemeSpec scheme(std::string(text.substr(0, text.find(':'))));
  while (text.find(':') != text.npos) {
    text.remove_prefix(text.find(':') + 1);
    const std::string_view pair = text.substr(0, text.find(':'));
    const auto equals = pair.find('=');
    if (equals == pair.npos || equals == 0) {
      throw Error(where,
                  "must have parameters as in rotary:base=500000, got '" + std::string(pair) + "'");
    }
    std::string name(pair.substr(0, equals));
    std::replace(name.begin(), name.end(), '-', '_');
    scheme.parameters[name] = std::string(pair.substr(equals + 1));
  }
  return scheme;
}

std::vector<SchemeSpecs> parse(std::string_view text, const std::string& where) {
  auto lists = split_schemes(text, where);
  for (const SchemeSpecs& list : lists) {
    for (const SchemeSpec& each : list) check_scheme_name(each.scheme, where);
  }
  return lists;
}

}  // namespace

std::vector<SchemeSpecs> split_schemes(std::string_view text, const std::string& where) {
  std::vector<SchemeSpecs> lists(1);
  while (true) {
    const std::size_t end = end_of_scheme(text);
    lists.back().push_back(parse_scheme(text.substr(0, end), where));
    if (end == text.size()) return lists;
    if (text[end] == ',') lists.emplace_back();
    text.remove_prefix(end + 1);
  }
}

SchemeSpecs parse_position_schemes(std::string_view text, const std::string& where) {
  auto lists = parse(text, where);
  if (lists.size() == 1) return std::move(lists.front());
  throw Error(where, "must be one scheme, or several joined by + as in rotary+temperature, got '" +
                         std::string(text) + "'");
}

std::vector<SchemeSpecs> parse_position_lists(std::string_view text, const std::string& where) {
  auto lists = parse(text, where);
  for (const SchemeSpecs& list : lists) {
    for (const auto& [scheme, parameters] : list) {
      check_parameters(find_scheme(scheme), parameters, where);
    }
  }
  return lists;
}

}  // namespace sextant::app

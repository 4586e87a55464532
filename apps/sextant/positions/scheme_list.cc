// Several schemes in one argument.
#include "positions/scheme_list.h"

#include <algorithm>

#include "options/scheme_choice.h"
#include "sextant/core/error.h"

namespace sextant::app {

using figures::NamedScheme;

std::vector<NamedScheme> parse_schemes(std::string_view text, const std::string& where) {
  std::vector<NamedScheme> list;
  std::string* last = nullptr;  // the value that a list of numbers goes on with
  while (true) {
    const auto comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    const bool letter = !item.empty() && item[0] >= 'a' && item[0] <= 'z';
    if (!letter && last != nullptr && item.find(':') == std::string_view::npos) {
      *last += "," + std::string(item);
    } else {
      NamedScheme& named = list.emplace_back();
      last = nullptr;
      named.scheme = std::string(item.substr(0, item.find(':')));
      check_scheme_name(named.scheme, where);
      while (item.find(':') != std::string_view::npos) {
        item.remove_prefix(item.find(':') + 1);
        const std::string_view pair = item.substr(0, item.find(':'));
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0) {
          throw Error(where, "must have parameters as in rotary:base=500000, got '" +
                                 std::string(pair) + "'");
        }
        std::string name(pair.substr(0, equals));
        std::replace(name.begin(), name.end(), '-', '_');
        last = &named.parameters[name];
        *last = std::string(pair.substr(equals + 1));
      }
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  for (const NamedScheme& named : list) {
    check_parameters(find_scheme(named.scheme), named.parameters, where);
  }
  return list;
}

}  // namespace sextant::app

// Several schemes in one argument.
#include "positions/scheme_list.h"

#include "options/scheme_text.h"
#include "sextant/core/error.h"

namespace sextant::app {

using figures::NamedScheme;

std::vector<NamedScheme> parse_schemes(std::string_view text, const std::string& where) {
  std::vector<NamedScheme> schemes;
  for (const SchemeSpecs& list : parse_position_lists(text, where)) {
    if (list.size() > 1) {
      throw Error(where, "must be single schemes, separated by commas, got " + names_of(list));
    }
    schemes.push_back({list[0].scheme, list[0].parameters});
  }
  return schemes;
}

}  // namespace sextant::app

// Lists of tokens.
#include "text/token_list.h"

namespace sextant::text {

std::vector<std::string> read_tokens(const Json& list, std::string_view where) {
  if (!list.is_array()) {
    throw Error(where, std::string("must have a list as \"tokens\", got ") + list.type_name());
  }
  std::vector<std::string> tokens;
  tokens.reserve(list.size());
  for (const Json& token : list) {
    if (!token.is_string()) {
      throw Error(where, "must have text as every token, got " + std::string(token.type_name()) +
                             " at place " + std::to_string(tokens.size()));
    }
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

}  // namespace sextant::text

// The checks that every JSON file of this floor goes through.
#include "text/json_object.h"

#include <set>

#include "sextant/core/error.h"
#include "text/quote.h"

namespace sextant::text {

using nlohmann::json;

json parse_object(std::string_view bytes, std::string_view where) {
  std::set<std::string> keys;
  std::string repeated;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !keys.insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    return true;
  };
  json object;
  try {
    object = json::parse(bytes, watch);
  } catch (const json::parse_error& error) {
    throw Error(where, "must be JSON, got a fault at byte " + std::to_string(error.byte));
  } catch (const json::exception&) {  // a number beyond float64
    throw Error(where, "must be JSON with a list of tokens");
  }
  if (!object.is_object()) {
    throw Error(where, std::string("must be a JSON object, got ") + object.type_name());
  }
  if (!repeated.empty())
    throw Error(where, "must have each key once, got two " + in_quotes(repeated));
  return object;
}

std::vector<std::string> read_tokens(const json& list, std::string_view where) {
  if (!list.is_array()) {
    throw Error(where, std::string("must have a list as \"tokens\", got ") + list.type_name());
  }
  std::vector<std::string> tokens;
  tokens.reserve(list.size());
  for (const json& token : list) {
    if (!token.is_string()) {
      throw Error(where, "must have text as every token, got " + std::string(token.type_name()) +
                             " at place " + std::to_string(tokens.size()));
    }
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

}  // namespace sextant::text

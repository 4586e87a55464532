// JSON for a person to read.
#include "core/json_text.h"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

std::string scalar_text(const Json& json) { return json.dump(-1, JsonBytes::replace); }

bool is_row(const Json& json) {
  return json.is_array() && std::none_of(json.begin(), json.end(),
                                         [](const Json& item) { return item.is_structured(); });
}

// Objects one field per line; arrays of plain values on one line, so that a matrix looks like one.
void append(std::string& out, const Json& json, std::size_t indent) {
  if (!json.is_structured() || json.empty()) {
    out += scalar_text(json);
    return;
  }
  if (is_row(json)) {
    const char* separator = "[";
    for (const Json& item : json) {
      out += separator + scalar_text(item);
      separator = ", ";
    }
    out += "]";
    return;
  }
  const std::string line = "\n" + std::string(indent + 2, ' ');
  const char* separator = "";
  const auto add = [&](const std::string& key, const Json& item) {
    out += separator + line + key;
    append(out, item, indent + 2);
    separator = ",";
  };
  out += json.is_array() ? "[" : "{";
  if (json.is_array()) {
    for (const Json& item : json) add("", item);
  } else {
    for (const auto& [key, item] : json.items()) add(scalar_text(key) + ": ", item);
  }
  out += "\n" + std::string(indent, ' ') + (json.is_array() ? "]" : "}");
}

}  // namespace

std::string to_text(const Json& json) {
  std::string out;
  append(out, json, 0);
  return out;
}

Json rows_as_json(View<const double> values) {
  if (values.rank() == 0) return std::isfinite(values()) ? Json(values()) : Json();
  Json json = Json::array();
  for (std::int64_t i = 0; i < values.size(0); ++i)
    json.push_back(rows_as_json(values.select(0, i)));
  return json;
}

}  // namespace sextant

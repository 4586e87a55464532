// Options and their ranges as JSON objects.
#include "core/json/option_json.h"

#include <cmath>
#include <limits>

#include "core/options/option_text.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct ToJson {
  Json operator()(const FlagRange&) const { return {{"type", "flag"}}; }
  Json operator()(const ChoiceRange& range) const {
    return {{"type", "choice"}, {"names", Json(range.names)}, {"meanings", Json(range.meanings)}};
  }
  Json operator()(const IntegerRange& range) const {
    Json json = {{"type", "integer"}};
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    if (range.min != -kLast) json["min"] = range.min;
    if (range.max != kLast) json["max"] = range.max;
    if (range.multiple_of != 1) json["multiple_of"] = range.multiple_of;
    return json;
  }
  Json operator()(const NumberRange& range) const {
    Json json = {{"type", "number"}};
    if (std::isfinite(range.min)) json[range.exclusive_min ? "exclusive_min" : "min"] = range.min;
    if (std::isfinite(range.max)) json[range.exclusive_max ? "exclusive_max" : "max"] = range.max;
    return json;
  }
  Json operator()(const TextRange&) const { return {{"type", "text"}}; }
  Json operator()(const ListRange& range) const {
    return {{"type", "list"}, {"each", std::visit(*this, range.each)}};
  }
};

struct ValueToJson {
  std::string_view text, where;

  Json operator()(const FlagRange&) const { return read_option<bool>(text, where); }
  Json operator()(const ChoiceRange&) const { return text; }
  Json operator()(const IntegerRange&) const { return read_option<std::int64_t>(text, where); }
  Json operator()(const NumberRange&) const { return read_option<double>(text, where); }
  Json operator()(const TextRange&) const { return text; }
  Json operator()(const ListRange& range) const {
    if (std::holds_alternative<IntegerRange>(range.each)) {
      return read_option<std::vector<std::int64_t>>(text, where);
    }
    return read_option<std::vector<double>>(text, where);
  }
};

}  // namespace

Json json_of(const OptionRange& range) { return std::visit(ToJson{}, range); }

Json json_of(const Option& option, std::string_view written) {
  Json json;
  json["name"] = option.name;
  json["option"] = written;
  json["default"] = option.default_text.empty() ? Json() : value_json(option, option.default_text);
  json["range"] = option.allowed();
  json["values"] = json_of(option.range);
  if (!option.unset.empty()) json["unset"] = option.unset;
  json["meaning"] = option.explained();
  return json;
}

Json value_json(const Option& option, std::string_view text) {
  if (text == option.unset) return text;
  try {
    return std::visit(ValueToJson{text, option.name}, option.range);
  } catch (const Error&) {
    return text;
  }
}

Json values_json(std::span<const Option> options, const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const Option& option : options) {
    const auto given = texts.find(std::string(option.name));
    if (given != texts.end()) json[given->first] = value_json(option, given->second);
  }
  return json;
}

}  // namespace sextant

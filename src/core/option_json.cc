// Options and their ranges as JSON objects.
#include "core/option_json.h"

#include <cmath>
#include <limits>

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

}  // namespace

Json json_of(const OptionRange& range) { return std::visit(ToJson{}, range); }

Json json_of(const Option& option, std::string_view written) {
  Json json;
  json["name"] = option.name;
  json["option"] = written;
  json["default"] = option.default_text.empty() ? Json() : Json(option.default_text);
  json["range"] = option.allowed();
  json["values"] = json_of(option.range);
  if (!option.unset.empty()) json["unset"] = option.unset;
  json["meaning"] = option.explained();
  return json;
}

}  // namespace sextant

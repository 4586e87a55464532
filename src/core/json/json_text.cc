// The text of a value: on one line, indented, or for a person to read.
#include "core/json/json_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sextant {

class JsonWriter {
 public:
  std::string text;

  // `indent` < 0: all on one line. `rows`: arrays of plain values are on one.
  JsonWriter(int indent, bool rows, JsonBytes bytes)
      : indent_(indent), rows_(rows), bytes_(bytes) {}

  void add(const Json& json) {
    std::visit([this](const auto& value) { write(value); }, json.value_);
  }

 private:
  void write(std::monostate) { text += "null"; }
  void write(bool value) { text += value ? "true" : "false"; }
  void write(std::int64_t value) { text += std::to_string(value); }
  void write(std::uint64_t value) { text += std::to_string(value); }
  // Uses the library's digits, as in earlier files: the shortest except for a few numbers.
  void write(double value) {
    if (!std::isfinite(value)) return write(std::monostate());
    std::array<char, 64> digits{};
    char* const first = digits.data();
    text.append(first, nlohmann::detail::to_chars(first, first + digits.size(), value));
  }
  // The library looks after escapes and bytes that are not UTF-8.
  void write(const std::string& value) {
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::ranges::all_of(value, is_plain)) {
      text += '"' + value + '"';
      return;
    }
    using Library = nlohmann::json;
    const auto handler = bytes_ == JsonBytes::replace ? Library::error_handler_t::replace
                                                      : Library::error_handler_t::strict;
    try {
      text += Library(value).dump(-1, ' ', false, handler);
    } catch (const Library::type_error&) {
      throw JsonError("must have strings in UTF-8");
    }
  }
  void write(const Json::Array& elements) {
    const bool row = rows_ && std::ranges::none_of(elements, &Json::is_structured);
    list(elements, "[]", row, [this](const Json& element) { add(element); });
  }
  void write(const Json::Object& members) {
    list(members, "{}", false, [this](const Json::Member& member) {
      write(member.key);
      text += indent_ < 0 ? ":" : ": ";
      add(member.value);
    });
  }
  template <class List, class Write>
  void list(const List& all, const char* brackets, bool row, const Write& write_one) {
    text += brackets[0];
    ++level_;
    for (const auto& each : all) {
      if (&each != all.data()) text += row ? ", " : ",";
      if (!row) new_line();
      write_one(each);
    }
    --level_;
    if (!all.empty() && !row) new_line();
    text += brackets[1];
  }
  void new_line() {
    if (indent_ < 0) return;
    text += '\n';
    text.append(static_cast<std::size_t>(indent_ * level_), ' ');
  }

  int indent_;
  bool rows_;
  JsonBytes bytes_;
  int level_ = 0;
};

std::string Json::dump(int indent, JsonBytes bytes) const {
  JsonWriter writer(indent, false, bytes);
  writer.add(*this);
  return std::move(writer.text);
}

std::string to_text(const Json& json) {
  JsonWriter writer(2, true, JsonBytes::replace);
  writer.add(json);
  return std::move(writer.text);
}

Json rows_as_json(View<const double> values) {
  if (values.rank() == 0) return std::isfinite(values()) ? Json(values()) : Json();
  Json json = Json::array();
  for (std::int64_t i = 0; i < values.size(0); ++i)
    json.push_back(rows_as_json(values.select(0, i)));
  return json;
}

}  // namespace sextant

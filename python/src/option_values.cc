// Values of options as texts, and back.
#include "option_values.h"
#include "core/text/strings.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <variant>

#include "sextant/core/numbers.h"

namespace sextant::python {
namespace {

std::string integer_text(std::int64_t value) { return std::to_string(value); }

struct ToText {
  const Argument& argument;

  std::string operator()(const FlagRange&) const { return argument.flag() ? "yes" : "no"; }
  std::string operator()(const ChoiceRange&) const { return argument.text(); }
  std::string operator()(const IntegerRange&) const { return integer_text(argument.integer()); }
  std::string operator()(const NumberRange&) const { return shortest(argument.number()); }
  std::string operator()(const TextRange&) const { return argument.path(); }
  std::string operator()(const ListRange& range) const {
    if (std::holds_alternative<IntegerRange>(range.each)) {
      return joined(argument.integers(), ",", integer_text);
    }
    return joined(argument.numbers(), ",", [](double number) { return shortest(number); });
  }
};

nb::object number_from(std::string_view text, bool whole) {
  if (whole) return nb::int_(std::stoll(std::string(text)));
  return nb::float_(std::stod(std::string(text)));
}

struct ToPython {
  const std::string& text;

  nb::object operator()(const FlagRange&) const { return nb::bool_(text == "yes"); }
  nb::object operator()(const ChoiceRange&) const { return nb::str(text.c_str()); }
  nb::object operator()(const IntegerRange&) const { return number_from(text, true); }
  nb::object operator()(const NumberRange&) const { return number_from(text, false); }
  nb::object operator()(const TextRange&) const { return nb::str(text.c_str()); }
  nb::object operator()(const ListRange& range) const {
    nb::list list;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      list.append(number_from(std::string_view(text).substr(begin, end - begin),
                              std::holds_alternative<IntegerRange>(range.each)));
      begin = end + 1;
    }
    return nb::tuple(list);
  }
};

const char* type_of(const OptionRange& range) {
  constexpr const char* kTypes[] = {"flag", "choice", "integer", "number", "text"};
  if (const auto* list = std::get_if<ListRange>(&range)) {
    return std::holds_alternative<IntegerRange>(list->each) ? "integers" : "numbers";
  }
  return kTypes[range.index()];
}

}  // namespace

std::string text_of(const Option& option, const Argument& argument) {
  if (argument.is_none()) {
    if (option.unset.empty()) throw_type_error(argument, to_string(option.range));
    return std::string(option.unset);
  }
  if (!option.unset.empty() && nb::isinstance<nb::str>(argument.value) &&
      argument.text() == option.unset) {
    return std::string(option.unset);
  }
  return std::visit(ToText{argument}, option.range);
}

nb::object default_of(const Option& option) {
  if (!option.unset.empty() && option.default_text == option.unset) return nb::none();
  return std::visit(ToPython{option.default_text}, option.range);
}

nb::dict range_of(const OptionRange& range) {
  nb::dict result;
  result["type"] = type_of(range);
  result["text"] = to_string(range);
  if (const auto* choice = std::get_if<ChoiceRange>(&range)) {
    nb::list names;
    for (const std::string_view name : choice->names)
      names.append(nb::str(name.data(), name.size()));
    result["names"] = names;
  }
  return result;
}

nb::dict described(const Option& option) {
  nb::dict result = range_of(option.range);
  result["name"] = option.name;
  result["required"] = option.default_text.empty();
  if (!option.default_text.empty()) result["default"] = default_of(option);
  result["unset"] = option.unset;
  result["meaning"] = option.explained();
  result["allowed"] = option.allowed();
  return result;
}

}  // namespace sextant::python

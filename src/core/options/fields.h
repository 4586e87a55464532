// One list per options struct: kFields<Options> names each member once, with its range and meaning.
// Reading of text, checks, help, documents and JSON come from the list.
//
//   template <>
//   inline constexpr auto kFields<Alibi> = std::tuple{
//       field(&Alibi::direction, "direction", "keys in the future: biased as well, or hidden"),
//       field(&Alibi::max_bias, "max_bias", NumberRange{0, 1000}, "the last slope is
//       2^-max_bias")};
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/options/enum_names.h"
#include "core/options/option_text.h"
#include "sextant/core/names.h"
#include "sextant/core/options.h"
#include "sextant/core/parallel.h"

namespace sextant {

// Common ranges.
inline constexpr std::int64_t kAnyInteger = std::numeric_limits<std::int64_t>::max();
inline constexpr NumberRange kFinite{-std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};
inline constexpr NumberRange kAboveZero{0, std::numeric_limits<double>::infinity(), true};
inline constexpr NumberRange kNotNegative{0, std::numeric_limits<double>::infinity()};
inline constexpr IntegerRange at_least(std::int64_t min) { return {min, kAnyInteger}; }
inline constexpr NumberRange at_least_number(double min) {
  return {min, std::numeric_limits<double>::infinity()};
}
inline constexpr IntegerRange kSeeds{0, 0xffffffff};
inline constexpr IntegerRange kThreads{0, kMaxThreads};

struct DefaultRange {};  // the range of a flag, of an enum: all that the type has

// The meaning of each name of an enum of options, in their order:
//   template <>
//   inline constexpr auto kMeanings<RotaryLayout> = meanings("2k and 2k + 1", "k and k + n/2");
struct NoMeanings {};
template <class Enum>
inline constexpr NoMeanings kMeanings{};
constexpr auto meanings(auto... texts) {
  return std::array<std::string_view, sizeof...(texts)>{texts...};
}

// The names that an option may have: those with a meaning. Values after them are no options.
template <class Enum>
std::vector<std::string_view> option_names() {
  std::vector<std::string_view> names = names_of<Enum>();
  if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(kMeanings<Enum>)>, NoMeanings>) {
    names.resize(std::min(names.size(), kMeanings<Enum>.size()));
  }
  return names;
}

template <class Owner, class T, class Range>
struct Field {
  T Owner::*member;
  std::string_view name;
  Range range;
  std::string_view meaning;
  std::string_view unset_word = "auto";  // of optional members and of lists, which are then empty
  std::string_view conditions = "";
  std::string_view old_name = "";  // key in files that earlier versions wrote
  bool from_request = false;
  bool must_be_given = false;

  // Returns the same field with a word, such as "none", for an empty optional.
  constexpr Field unset(std::string_view word) const {
    Field changed = *this;
    changed.unset_word = word;
    return changed;
  }
  // Adds a condition besides the range: "even when bidirectional".
  constexpr Field with_condition(std::string_view text) const {
    Field changed = *this;
    changed.conditions = text;
    return changed;
  }
  // The name that files of earlier versions have.
  constexpr Field renamed_from(std::string_view key) const {
    Field changed = *this;
    changed.old_name = key;
    return changed;
  }
  // Has no default: whoever sets options by name must name it.
  constexpr Field required() const {
    Field changed = *this;
    changed.must_be_given = true;
    changed.unset_word = "";
    return changed;
  }
  // A size that a caller has anyway (heads, width): checked, but no parameter of a scheme.
  constexpr Field of_request() const {
    Field changed = *this;
    changed.from_request = true;
    return changed;
  }
};

template <class Owner, class T, class Range>
constexpr Field<Owner, T, Range> field(T Owner::*member, std::string_view name, Range range,
                                       std::string_view meaning) {
  return {member, name, range, meaning};
}
template <class Owner, class T>
constexpr Field<Owner, T, DefaultRange> field(T Owner::*member, std::string_view name,
                                              std::string_view meaning) {
  return {member, name, {}, meaning};
}

template <class Options>
inline constexpr std::tuple<> kFields{};

// Whether T is a list of structs that have lists of fields.
template <class T>
inline constexpr bool kIsListOfStructs = false;
template <class T>
requires std::is_class_v<T>
inline constexpr bool kIsListOfStructs<std::vector<T>> =
    std::tuple_size_v<std::remove_cvref_t<decltype(kFields<T>)>> > 0;

// f(field) for every field of the list, in its order.
template <class Options, class F>
void each_field(const F& f) {
  std::apply([&f](const auto&... field) { (f(field), ...); }, kFields<Options>);
}

namespace fields {

template <class T>
struct Inner {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Inner<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};

template <class T, class Range>
OptionRange range_of(const Range& range) {
  if constexpr (!std::is_same_v<Range, DefaultRange>) {
    return range;
  } else if constexpr (std::is_same_v<T, bool>) {
    return FlagRange{};
  } else {
    static_assert(!std::is_same_v<std::remove_cvref_t<decltype(kMeanings<T>)>, NoMeanings>,
                  "each name of a choice needs its meaning");
    return ChoiceRange{option_names<T>(), {kMeanings<T>.begin(), kMeanings<T>.end()}};
  }
}

template <class T, class Range>
void check_value(const Range& range, std::string_view where, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    check_named(where, value);
    if (const auto names = option_names<T>(); static_cast<std::size_t>(value) >= names.size()) {
      find_name(names, name_of(value), where);
    }
  } else if constexpr (std::is_same_v<Range, ListRange>) {
    std::visit(
        [&](const auto& each) {
          for (const auto one : value) {
            check_range(each, where, static_cast<std::remove_cvref_t<decltype(each.min)>>(one));
          }
        },
        range.each);
  } else if constexpr (std::is_same_v<Range, IntegerRange>) {
    check_range(range, where, static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<Range, NumberRange>) {
    check_range(range, where, static_cast<double>(value));
  }
}

template <class T, class Range>
T read_value(const Range& range, std::string_view text, std::string_view where) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(find_name(option_names<T>(), text, where));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const auto value = read_option<std::int64_t>(text, where);
    check_value(range, where, value);  // before it is narrowed
    return static_cast<T>(value);
  } else {
    T value = read_option<T>(text, where);
    check_value(range, where, value);
    return value;
  }
}

}  // namespace fields

// A field as an option whose default is the value of `defaults`.
template <class Options, class FieldOf>
Option option_of(const FieldOf& field, const Options& defaults) {
  using Member = std::remove_cvref_t<decltype(defaults.*field.member)>;
  using Value = typename fields::Inner<Member>::type;
  Option option{.name = field.name,
                .default_text = {},
                .range = fields::range_of<Value>(field.range),
                .unset = {},
                .meaning = field.meaning,
                .conditions = field.conditions};
  const Member& value = defaults.*field.member;
  if constexpr (fields::Inner<Member>::optional) {
    option.unset = field.unset_word;
    option.default_text = value ? option_text(*value) : std::string(field.unset_word);
  } else if constexpr (kIsList<Value>) {
    option.unset = field.unset_word;
    option.default_text = value.empty() ? std::string(field.unset_word) : option_text(value);
  } else {
    option.default_text = option_text(value);
  }
  if (field.must_be_given) option.default_text.clear();
  return option;
}

// The fields of a struct as options, without those of a request.
template <class Options>
void append_options(std::vector<Option>& options, const Options& defaults) {
  each_field<Options>([&](const auto& field) {
    if (!field.from_request) options.push_back(option_of(field, defaults));
  });
}

template <class... Options>
std::vector<Option> options_of(const Options&... defaults) {
  std::vector<Option> options;
  (append_options(options, defaults), ...);
  return options;
}

// Throws Error("scope.name", ...) for the first member that is out of its range.
template <class Options>
void check_fields(std::string_view scope, const Options& options) {
  each_field<Options>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(options.*field.member)>;
    const std::string where = std::string(scope) + "." + std::string(field.name);
    const Member& value = options.*field.member;
    if constexpr (fields::Inner<Member>::optional) {
      if (value) fields::check_value(field.range, where, *value);
    } else {
      fields::check_value(field.range, where, value);
    }
  });
}

// Sets a member from its text; throws Error(where, ...) for a text that is no value of it or is
// out of its range.
template <class Options, class FieldOf>
void read_field(Options& options, const FieldOf& field, std::string_view text,
                std::string_view where) {
  using Member = std::remove_cvref_t<decltype(options.*field.member)>;
  using Value = typename fields::Inner<Member>::type;
  if constexpr (fields::Inner<Member>::optional || kIsList<Value>) {
    if (text == field.unset_word) {
      options.*field.member = Member();
      return;
    }
  }
  options.*field.member = fields::read_value<Value>(field.range, text, where);
}

}  // namespace sextant

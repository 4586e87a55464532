// Turns the options of a call from lists of fields into keyword arguments: for Python's signatures
// and for setting them.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "core/options/field_words.h"
#include "option_values.h"

namespace sextant::python {

// A call's options: a dict from names to values, and the name of the call in errors: "train".
struct Given {
  nb::dict options;
  std::string scope;
};

// "rate" of --rate, else the field's own name. Flags that mean no on the command line are their
// fields here: pre_norm=False.
inline std::string argument_name(std::string_view field, bool is_flag, const Wording& word) {
  if (is_flag || word.option.empty()) return std::string(field);
  std::string name = word.option.substr(2);
  std::ranges::replace(name, '-', '_');
  return name;
}

// f(field, name, word) for each field that is an option of `task` (empty: of all).
template <class Options, class F>
void each_argument(std::span<const Wording> words, std::string_view task, const F& f) {
  each_field<Options>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(std::declval<Options>().*field.member)>;
    if constexpr (!kIsListOfStructs<Member>) {
      const auto found = std::ranges::find(words, field.name, &Wording::field);
      const Wording word = found == words.end() ? Wording{} : *found;
      const bool other =
          !word.tasks.empty() && !task.empty() &&
          (" " + word.tasks + " ").find(" " + std::string(task) + " ") == std::string::npos;
      if (word.hidden || other) return;
      f(field, argument_name(field.name, std::is_same_v<Member, bool>, word), word);
    }
  });
}

// Appends each option with its default, None for one that follows from others.
template <class Options>
void list_arguments(nb::list& list, const Options& defaults, std::span<const Wording> words = {},
                    std::string_view task = {}) {
  each_argument<Options>(
      words, task, [&](const auto& field, std::string name, const Wording& word) {
        Option option = option_of(field, defaults);
        option.name = name;
        if (!word.meaning.empty() && !std::holds_alternative<FlagRange>(option.range)) {
          option.meaning = word.meaning;
        }
        if (!word.default_text.empty()) {
          option.unset = word.default_text;
          option.default_text = word.default_text;
        }
        list.append(described(option));
      });
}

// Sets the members whose options are there; None leaves one that follows from others.
template <class Options>
void take_arguments(const Given& given, Options& options, std::span<const Wording> words = {},
                    std::string_view task = {}) {
  each_argument<Options>(words, task,
                         [&](const auto& field, std::string name, const Wording& word) {
                           if (!given.options.contains(name.c_str())) return;
                           const nb::object value = given.options[name.c_str()];
                           if (value.is_none() && !word.default_text.empty()) return;
                           const Option option = option_of(field, options);
                           const Argument argument{value, given.scope, name};
                           read_field(options, field, text_of(option, argument), argument.where());
                         });
}

}  // namespace sextant::python

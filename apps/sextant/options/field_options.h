// The options of a command from the list of a struct's fields: a row of the list is an option.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/options/field_words.h"

namespace CLI {
class App;
}

namespace sextant::app {

// The defaults of a command, or those of each of its tasks.
template <class Options>
struct Defaults {
  std::string task;
  Options options;
};

// An option as help and `sextant list --options` show it.
struct CommandOption {
  Option of;         // the field, "half_width"
  std::string name;  // "--half-width"
  std::string type, meaning, default_text, group;
  bool negates = false;  // "--post-norm" of pre_norm

  // As the command has it; refers to this.
  Option worded() const;
};
// "--half-width" of "half_width".
std::string dashed(std::string_view field);
// "192; translate 256, dates 64": the first text, then those that differ.
std::string merged(const std::vector<std::pair<std::string, std::string>>& texts);

// `read` gets the text and the name of the option in errors: "train.half-width".
void add_value(CLI::App& command, const CommandOption& option,
               const std::function<void(const std::string&, const std::string&)>& read);
void add_flag(CLI::App& command, const CommandOption& option, const std::function<void()>& set);

// The options that add_fields() adds for these words.
template <class Options>
std::set<std::string> option_names(std::span<const Wording> words) {
  std::set<std::string> names;
  each_field<Options>([&](const auto& field) {
    const auto found = std::ranges::find(words, field.name, &Wording::field);
    const Wording word = found == words.end() ? Wording{} : *found;
    if (!word.hidden) names.insert(word.option.empty() ? dashed(field.name) : word.option);
  });
  return names;
}

// A field as an option of a command.
template <class Options, class FieldOf>
CommandOption command_option(const FieldOf& field, const Wording& word,
                             const std::vector<Defaults<Options>>& defaults,
                             const std::string& group) {
  using Member = std::remove_cvref_t<decltype(std::declval<Options>().*field.member)>;
  std::vector<std::pair<std::string, std::string>> texts;
  texts.reserve(defaults.size());
  for (const auto& [task, options] : defaults) {
    // A flag changes the default: --post-norm, not given, is no.
    texts.emplace_back(
        task, std::is_same_v<Member, bool> ? "no" : option_of(field, options).default_text);
  }
  const std::string type = std::is_enum_v<Member>             ? "NAME"
                           : std::is_integral_v<Member>       ? "N"
                           : std::is_floating_point_v<Member> ? "X"
                           : kIsList<Member>                  ? "LIST"
                                                              : "TEXT";
  std::string tasks = word.tasks;
  for (auto at = tasks.find(' '); at != tasks.npos; at = tasks.find(' ', at + 2)) {
    tasks.replace(at, 1, ", ");
  }
  return {.of = option_of(field, defaults.front().options),
          .name = word.option.empty() ? dashed(field.name) : word.option,
          .type = word.type.empty() ? type : word.type,
          .meaning = (tasks.empty() ? "" : tasks + ": ") +
                     (word.meaning.empty() ? std::string(field.meaning) : word.meaning),
          .default_text = word.default_text.empty() ? merged(texts) : word.default_text,
          .group = word.group.empty() ? group : word.group,
          .negates = option_of(field, defaults.front().options).default_text == "yes"};
}

// f(field, option) for every field of the list that is an option of the command.
template <class Options, class F>
void each_option(const std::vector<Defaults<Options>>& defaults, const std::string& group,
                 std::span<const Wording> words, const F& f) {
  each_field<Options>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(std::declval<Options>().*field.member)>;
    const auto found = std::ranges::find(words, field.name, &Wording::field);
    const Wording word = found == words.end() ? Wording{} : *found;
    if constexpr (!kIsListOfStructs<Member>) {
      if (!word.hidden) f(field, command_option(field, word, defaults, group));
    }
  });
}

// An option for every field of the list; flags change a default. apply(change) is called for those
// that are given, with a function that sets the member of an Options.
template <class Options, class Apply>
void add_fields(CLI::App& command, const std::vector<Defaults<Options>>& defaults,
                const std::string& group, std::span<const Wording> words, const Apply& apply) {
  each_option(defaults, group, words, [&](const auto& field, const CommandOption& option) {
    using Member = std::remove_cvref_t<decltype(std::declval<Options>().*field.member)>;
    if constexpr (std::is_same_v<Member, bool>) {
      const bool value = !(defaults.front().options.*field.member);
      add_flag(command, option,
               [=] { apply([=](Options& options) { options.*field.member = value; }); });
    } else {
      add_value(command, option, [=](const std::string& text, const std::string& where) {
        Options read;
        read_field(read, field, text, where);
        apply([=, value = read.*field.member](Options& options) { options.*field.member = value; });
      });
    }
  });
}

// The same with the values of `target` as defaults, which options change.
template <class Options>
void add_fields(CLI::App& command, Options& target, const std::string& group = "",
                std::span<const Wording> words = {}) {
  add_fields<Options>(command, {{"", target}}, group, words,
                      [&target](const auto& change) { change(target); });
}

}  // namespace sextant::app

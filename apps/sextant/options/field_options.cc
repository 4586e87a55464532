// Options from lists of fields, for CLI11.
#include "options/field_options.h"

#include "options/choices.h"
#include "options/command_line.h"

namespace sextant::app {

namespace {

// The names that an option takes; none for numbers and texts.
std::vector<std::string_view> names_taken(const Option& option) {
  std::vector<std::string_view> names;
  if (const auto* choice = std::get_if<ChoiceRange>(&option.range)) {
    names = choice->names;
  } else if (std::holds_alternative<FlagRange>(option.range)) {
    names = {"yes", "no"};
  }
  if (!option.unset.empty()) names.push_back(option.unset);
  return names;
}

}  // namespace

std::string dashed(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string merged(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<std::pair<std::string, std::string>> others;  // tasks with one text, the text
  for (const auto& [task, text] : texts) {
    if (text == texts.front().second) continue;
    const auto same = std::ranges::find(others, text, &std::pair<std::string, std::string>::second);
    if (same == others.end()) {
      others.emplace_back(task, text);
    } else {
      same->first += " and " + task;
    }
  }
  std::string all = texts.front().second;
  for (const auto& [tasks, text] : others) {
    all += (&text == &others.front().second ? "; " : ", ") + tasks + " " + text;
  }
  return all;
}

Option CommandOption::worded() const {
  Option option = of;
  if (negates) option.name = std::string_view(name).substr(2);
  option.meaning = meaning;
  option.default_text = default_text;
  return option;
}

void add_value(CLI::App& command, const CommandOption& option,
               const std::function<void(const std::string&, const std::string&)>& read) {
  const std::string where = command.get_name() + "." + option.name.substr(2);
  auto* added = command.add_option_function<std::string>(
      option.name, [read, where](const std::string& text) { read(text, where); },
      option.worded().explained() + " (" + option.of.allowed() + "; default " +
          option.default_text + ")");
  offer(added->type_name(option.type), names_taken(option.of));
  if (!option.group.empty()) added->group(option.group);
}

void add_flag(CLI::App& command, const CommandOption& option, const std::function<void()>& set) {
  auto* added = command.add_flag_function(
      option.name, [set](std::int64_t) { set(); }, option.meaning);
  if (!option.group.empty()) added->group(option.group);
}

}  // namespace sextant::app

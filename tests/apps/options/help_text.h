// The help of a command, read from what the program prints.
#pragma once

#include <cctype>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/run_program.h"

namespace sextant::app_tests {

// An option, flag or positional argument.
struct HelpRow {
  std::string name, value, meaning, range, default_text;  // "--width", "N"
};

struct HelpGroup {
  std::string title;  // "Options"
  std::vector<HelpRow> rows;
};

struct CommandHelp {
  std::string description, usage;  // description: lines as printed
  std::vector<HelpGroup> groups;
  std::string examples, notes;  // examples: indented lines
};

inline bool is_title(const std::string& line) {
  return line.size() > 1 && std::isupper(static_cast<unsigned char>(line[0])) && line.back() == ':';
}

// "..., meaning (range; default 3)", "... (default 3)": the parts of the text of an option.
inline void divide(HelpRow& row) {
  const std::string text = row.meaning;
  const auto open = text.rfind(" (");
  if (open == text.npos || !text.ends_with(')')) return;
  const std::string inside = text.substr(open + 2, text.size() - open - 3);
  constexpr std::string_view kDefault = "default ";
  const auto split = inside.find("; default ");
  if (split != inside.npos) {
    row.range = inside.substr(0, split);
    row.default_text = inside.substr(split + 2 + kDefault.size());
  } else if (inside.starts_with(kDefault)) {
    row.default_text = inside.substr(kDefault.size());
  } else {
    return;
  }
  row.meaning = text.substr(0, open);
}

inline HelpRow row_of(const std::string& line) {
  const auto words = line.find_first_not_of(' '), gap = line.find("  ", words);
  const std::string names = line.substr(words, gap - words);
  HelpRow row{.name = names.substr(0, names.find(' '))};
  if (row.name.size() < names.size()) row.value = names.substr(row.name.size() + 1);
  if (gap != line.npos) row.meaning = line.substr(line.find_first_not_of(' ', gap));
  return row;
}

// `command`: "train", "plot losses".
inline CommandHelp help_of(const std::string& command) {
  CommandHelp help;
  std::istringstream lines(shell("COLUMNS=100 sextant " + command + " --help").out);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("Usage: ")) help.description += line + "\n";
  while (help.description.ends_with("\n\n")) help.description.pop_back();
  help.usage = line.substr(std::string_view("Usage: ").size());
  while (std::getline(lines, line) && line != "Examples:") {
    if (is_title(line)) {
      help.groups.push_back({.title = line.substr(0, line.size() - 1), .rows = {}});
    } else if (line.starts_with("      ") && !help.groups.back().rows.empty()) {
      std::string& text = help.groups.back().rows.back().meaning;
      text += (text.empty() ? "" : " ") + line.substr(line.find_first_not_of(' '));
    } else if (line.starts_with("  ")) {
      help.groups.back().rows.push_back(row_of(line));
    }
  }
  while (std::getline(lines, line))
    (line.starts_with("  ") ? help.examples : help.notes) += line + "\n";
  for (HelpGroup& group : help.groups) {
    for (HelpRow& row : group.rows) divide(row);
  }
  return help;
}

// All occurrences of `from` replaced.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace sextant::app_tests

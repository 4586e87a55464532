// The reference of commands in docs/cli.md is what their help says. With SEXTANT_UPDATE_GOLDEN=1
// it is written instead.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "apps/options/help_text.h"
#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

// As a cell of a table of Markdown: no tag, no emphasis, no end of the cell.
std::string cell(const std::string& text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool tag = text[i] == '<' && i + 1 < text.size() &&
                     std::isalpha(static_cast<unsigned char>(text[i + 1])) != 0;
    if (tag || text[i] == '*') safe += '\\';
    safe += text[i];
  }
  return with(safe, " | ", ", ");
}

// A scheme's names are listed once on the page.
HelpRow short_scheme(HelpRow row) {
  constexpr std::string_view kDefault = "(default ";
  if (row.meaning.find("Each has parameters") == row.meaning.npos) return row;
  const auto from = row.meaning.find(kDefault);
  if (from != row.meaning.npos) {
    const auto begin = from + kDefault.size();
    row.default_text = row.meaning.substr(begin, row.meaning.find(')', begin) - begin);
  }
  row.meaning =
      "the positional scheme, [by its name](#schemes-by-name); its parameters are options";
  return row;
}

std::string table_of(const HelpGroup& group) {
  const bool positional = group.title == "Positionals", plain = group.title == "Options";
  std::string text = positional || plain ? "" : group.title + ":\n\n";
  text += positional ? "| argument | meaning |\n|---|---|\n"
                     : "| option | default | range | meaning |\n|---|---|---|---|\n";
  for (const HelpRow& given : group.rows) {
    if (given.name == "-h,--help") continue;
    const HelpRow row = short_scheme(given);
    text += "| `" + row.name + (row.value.empty() ? "" : " " + row.value) + "` | ";
    if (!positional) text += cell(row.default_text) + " | " + cell(row.range) + " | ";
    text += cell(row.meaning) + " |\n";
  }
  return text + "\n";
}

std::string section_of(const std::string& command, const std::string& level) {
  const CommandHelp help = help_of(command);
  std::string text = level + " sextant " + command + "\n\n" + cell(help.description) + "\n";
  text += "    " + help.usage + "\n\n";
  std::string further;
  for (const HelpGroup& group : help.groups) {
    if (group.title == "Subcommands") {
      for (const HelpRow& row : group.rows) {
        further += section_of(command + " " + row.name, level + "#");
      }
    } else if (group.rows.size() > 1 || group.rows[0].name != "-h,--help") {
      text += table_of(group);
    }
  }
  std::istringstream examples(help.examples);
  for (std::string line; std::getline(examples, line);) text += "  " + line + "\n";
  if (!help.notes.empty()) text += "\n" + cell(help.notes);
  return text + "\n" + further;
}

std::string reference() {
  std::istringstream lines(shell("COLUMNS=100 sextant --help").out);
  std::string text, line;
  bool of_commands = false;
  while (std::getline(lines, line) && !line.starts_with('`')) {
    if (line.ends_with(':')) {
      of_commands = line != "Options:";
      if (of_commands) text += "## " + line.substr(0, line.size() - 1) + "\n\n";
    } else if (of_commands && line.starts_with("  ")) {
      text += section_of(line.substr(2, line.find(' ', 2) - 2), "###");
    }
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

TEST(OptionPages, ReferenceOfCommandsIsTheirHelp) {
  constexpr std::string_view kMark = "<!-- From here on the page is written by apps_tests. -->\n\n";
  const std::string path = sextant::tests::data_folder() + "/../docs/cli.md";
  std::string page = contents(path);
  const auto mark = page.find(kMark);
  ASSERT_NE(mark, page.npos);
  const std::string expected = reference();
  ASSERT_NE(expected.find("\n### sextant encode\n"), expected.npos);
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    put(path, page.substr(0, mark + kMark.size()) + expected);
    return;
  }
  EXPECT_EQ(page.substr(mark + kMark.size()), expected)
      << "run apps_tests --gtest_filter='*OptionPages*' with SEXTANT_UPDATE_GOLDEN=1";
}

}  // namespace
}  // namespace sextant::app_tests

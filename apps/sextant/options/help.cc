// Help, broken into lines.
#include "options/help.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include "options/arguments.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

constexpr std::size_t kNameWidth = 30, kCommandWidth = 18;  // columns of names and their gap
constexpr std::int64_t kNarrowest = 60, kWidest = 100;

// A command in lines that a shell joins again: broken at spaces that are not in quotes.
std::string broken_command(std::string_view command, std::size_t columns) {
  const std::string next_line = " \\\n      ";
  std::string text;
  std::size_t width = 0;
  while (!command.empty()) {
    char quote = 0;
    std::size_t end = command.find_first_not_of(' ');
    for (; end < command.size() && (quote != 0 || command[end] != ' '); ++end) {
      if (quote == 0 ? command[end] == '"' || command[end] == '\'' : command[end] == quote) {
        quote = quote == 0 ? command[end] : 0;
      }
    }
    std::string_view word = command.substr(0, std::min(end, command.size()));
    command.remove_prefix(word.size());
    const std::size_t mark = command.empty() ? 0 : 2;  // " \"
    if (width > 0 && width + word.size() + mark > columns) {
      text += next_line;
      width = next_line.size() - 3;
      word.remove_prefix(1);
    }
    text += word;
    width += word.size();
  }
  return text;
}

class HelpText : public CLI::Formatter {
 public:
  HelpText() { column_width(kNameWidth); }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_positional()) return "";
    const std::string type = option->get_type_name();
    return " " + type.substr(0, type.find(':'));  // without the list that the description has
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrap(option->get_description(), columns_ - kNameWidth);
  }
  std::string make_description(const CLI::App* app) const override {
    const std::string text = app->get_description();
    const auto line = text.find('\n');  // a command's first line is its short form
    return wrap(text.substr(line == std::string::npos ? 0 : line + 1), columns_) + "\n\n";
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    const std::string text = command->get_description();
    CLI::detail::format_help(out, command->get_name(),
                             wrap(text.substr(0, text.find('\n')), columns_ - kCommandWidth),
                             kCommandWidth);
    return out.str();
  }
  std::string make_footer(const CLI::App* app) const override {
    std::istringstream lines(CLI::Formatter::make_footer(app));
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      text +=
          (line.starts_with("  ") ? broken_command(line, columns_) : wrap(line, columns_)) + "\n";
    }
    return text;
  }

 private:
  const std::size_t columns_ =
      static_cast<std::size_t>(std::clamp(terminal_width(), kNarrowest, kWidest));
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpText>(); }

}  // namespace sextant::app

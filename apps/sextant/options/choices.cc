// The names that an option takes are the name of a check.
#include "options/choices.h"

#include "core/text/strings.h"

namespace sextant::app {
namespace {

constexpr std::string_view kMark = "one of: ";

}  // namespace

CLI::Validator named(CLI::Validator check, const std::vector<std::string_view>& names) {
  return check.name(std::string(kMark) + joined(names, " "));
}

CLI::Option* offer(CLI::Option* option, const std::vector<std::string_view>& names) {
  const CLI::Validator none([](const std::string&) { return std::string(); }, "");
  return option->check(named(none, names));
}

std::vector<std::string> choices_of(CLI::Option& option) {
  try {
    for (int i = 0;; ++i) {
      const std::string& name = option.get_validator(i)->get_name();
      if (name.size() <= kMark.size() || !name.starts_with(kMark)) continue;
      return CLI::detail::split(name.substr(kMark.size()), ' ');
    }
  } catch (const CLI::OptionNotFound&) {  // after the last check
    return {};
  }
}

}  // namespace sextant::app

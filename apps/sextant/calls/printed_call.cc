// Prints the computation of a command in other languages.
#include "calls/printed_call.h"

#include <algorithm>

#include "core/json/json.h"
#include "core/text/strings.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

// A word as a shell takes it.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

bool is_unset(const Option& option, std::string_view text) {
  return !option.unset.empty() && text == option.unset;
}

}  // namespace

void CallChoice::add_to(CLI::App& command) {
  command_ = &command;
  command
      .add_option("--print-call", language_,
                  "compute nothing, but print the call: command | python | c++")
      ->type_name("LANGUAGE")
      ->check(one_of(command.get_name() + ".print-call", {"command", "python", "c++"}));
}

void CallChoice::print(const PrintedCall& call) const {
  const bool is_python = language_ == "python";
  const std::string& text = is_python ? call.python : call.cpp;
  const std::string& missing =
      is_python || call.missing_cpp.empty() ? call.missing : call.missing_cpp;
  if (language_ == "command") {
    app::print(written_command(*command_) + "\n");
  } else if (!text.empty()) {
    app::print((is_python ? "import sextant\n\n" : "") + text + "\n");
  } else {
    throw Error(command_->get_name() + ".print-call",
                "must not be combined with " + missing + ", which " +
                    (is_python ? "the Python module" : "a call of C++") + " does not have");
  }
}

std::string written_command(const CLI::App& command) {
  std::string text = "sextant " + command.get_name(), last;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const auto& names = option->get_lnames();
    if (!names.empty() && names.front() == "print-call") continue;
    for (const std::string& value : option->results()) {
      if (names.empty()) {
        last += " " + shell_word(value);
      } else if (option->get_expected_min() == 0) {
        text += " --" + names.back();
      } else {
        text += " --" + names.back() + (value.starts_with('-') ? "=" : " ") + shell_word(value);
      }
    }
  }
  const bool mistakable = last.find(" -") != last.npos || last.find(" '-") != last.npos;
  return text + (mistakable ? " --" : "") + last;
}

std::string string_literal(std::string_view text) {
  return Json(text).dump(-1, JsonBytes::replace);
}

std::string word_list(const std::vector<std::string>& words, std::string_view brackets) {
  return brackets[0] + joined(words, ", ", string_literal) + brackets[1];
}

Arguments& Arguments::add(std::string value) {
  all_.push_back(std::move(value));
  return *this;
}

Arguments& Arguments::add(std::string_view name, const std::string& value) {
  return add(std::string(name) + "=" + value);
}

Arguments& Arguments::set(std::string_view name, const std::string& value) {
  return add("." + std::string(name) + " = " + value);
}

std::string Arguments::text() const { return joined(all_, ", "); }

std::string python_value(const Option& option, std::string_view text) {
  if (is_unset(option, text)) return "None";
  if (std::holds_alternative<FlagRange>(option.range)) return text == "yes" ? "True" : "False";
  if (std::holds_alternative<ListRange>(option.range)) return "[" + std::string(text) + "]";
  const bool is_number = std::holds_alternative<IntegerRange>(option.range) ||
                         std::holds_alternative<NumberRange>(option.range);
  return is_number ? std::string(text) : string_literal(text);
}

std::string cpp_value(const Option& option, std::string_view text) {
  if (std::holds_alternative<FlagRange>(option.range)) return text == "yes" ? "true" : "false";
  if (std::holds_alternative<ListRange>(option.range)) return "{" + std::string(text) + "}";
  if (!std::holds_alternative<TextRange>(option.range)) return std::string(text);
  // Pairs of numbers: "2,0", and "3:1,*:0", where * is -1.
  std::string pairs(text);
  if (text.find(':') == text.npos) return "{" + pairs + "}";
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    const char* instead = pairs[at] == ':' ? ", " : pairs[at] == ',' ? "}, {" : "-1";
    if (pairs[at] == ':' || pairs[at] == ',' || pairs[at] == '*') {
      pairs.replace(at, 1, instead);
      at += std::string_view(instead).size() - 1;
    }
  }
  return "{{" + pairs + "}}";
}

namespace {

const Option& parameter_of(const SchemeSpec& scheme, const std::string& name) {
  return *std::ranges::find(find_scheme(scheme.scheme).parameters(), name, &Option::name);
}

}  // namespace

std::string python_schemes(const SchemeSpecs& schemes) {
  if (schemes.size() == 1 && schemes[0].parameters.empty())
    return string_literal(schemes[0].scheme);
  return "{" +
         joined(schemes, ", ",
                [](const SchemeSpec& scheme) {
                  return string_literal(scheme.scheme) + ": {" +
                         joined(scheme.parameters, ", ",
                                [&](const auto& given) {
                                  const auto& [name, text] = given;
                                  return string_literal(name) + ": " +
                                         python_value(parameter_of(scheme, name), text);
                                }) +
                         "}";
                }) +
         "}";
}

std::string cpp_scheme(const SchemeSpec& scheme) {
  return "{" + string_literal(scheme.scheme) + ", {" +
         joined(scheme.parameters, ", ",
                [](const auto& given) {
                  return "{" + string_literal(given.first) + ", " + string_literal(given.second) +
                         "}";
                }) +
         "}}";
}

std::string cpp_schemes(const SchemeSpecs& schemes) {
  return "{" + joined(schemes, ", ", cpp_scheme) + "}";
}

void add_parameters(Arguments& arguments, const SchemeSpec& scheme) {
  for (const auto& [name, text] : scheme.parameters) {
    arguments.add(name, python_value(parameter_of(scheme, name), text));
  }
}

}  // namespace sextant::app

// Implements --print-call: the computation of a command as a line of the shell or lines of Python
// or C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/options/fields.h"
#include "options/command_line.h"
#include "sextant/layers/scheme_spec.h"

namespace sextant::app {

// A call in the two languages. Where one has none, its text is empty and `missing` says of what:
// "--window"; of C++, where that is another option, `missing_cpp`.
struct PrintedCall {
  std::string python, cpp;
  std::string missing = {}, missing_cpp = {};
};

class CallChoice {
 public:
  void add_to(CLI::App& command);
  bool is_given() const { return !language_.empty(); }
  // Throws Error where the language has no such call.
  void print(const PrintedCall& call) const;

 private:
  const CLI::App* command_ = nullptr;
  std::string language_;
};

// Returns the command with its given options, without --print-call.
std::string written_command(const CLI::App& command);

// Texts, lists and dicts, which differ between the languages only in their brackets.
std::string string_literal(std::string_view text);
std::string word_list(const std::vector<std::string>& words, std::string_view brackets);

// Arguments in their order: `add("base", "5")` is "base=5".
class Arguments {
 public:
  Arguments& add(std::string value);
  Arguments& add(std::string_view name, const std::string& value);
  // The same with C++'s point in front of the name, for a struct in braces.
  Arguments& set(std::string_view name, const std::string& value);
  std::string text() const;

 private:
  std::vector<std::string> all_;
};

// The value of an option, from its text.
std::string python_value(const Option& option, std::string_view text);
std::string cpp_value(const Option& option, std::string_view text);

// "rotary", {"rotary": {"base": 500000}}; {{"rotary", {{"base", "500000"}}}}, {"rotary", ...} of
// one.
std::string python_schemes(const SchemeSpecs& schemes);
std::string cpp_scheme(const SchemeSpec& scheme);
std::string cpp_schemes(const SchemeSpecs& schemes);
// Parameters of a scheme as arguments of its function.
void add_parameters(Arguments& arguments, const SchemeSpec& scheme);

// The fields that are not as they are by default, each with its value as `default_text`.
template <class Options>
std::vector<Option> changed_fields(const Options& options) {
  std::vector<Option> changed;
  each_field<Options>([&](const auto& field) {
    const Option now = option_of(field, options);
    if (now.default_text != option_of(field, Options()).default_text) changed.push_back(now);
  });
  return changed;
}

}  // namespace sextant::app

// --scheme and its parameters on the command line, from the descriptors of the schemes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/layers/scheme_spec.h"
#include "sextant/schemes/scheme.h"
#include "streams/console.h"

namespace sextant::app {

// The option of a scheme's parameter: "--odd-width", "--scheme-file".
std::string option_name(std::string_view parameter);

// Why a command cannot take a scheme, as the end of a sentence; empty: it can.
using SchemeRefusal = std::string (*)(const Scheme&);

// The names of the schemes that are not refused.
std::vector<std::string_view> scheme_names(SchemeRefusal refusal = nullptr);

// The meaning of a scheme's parameter, with that of each choice, for options of other names.
std::string meaning_of(std::string_view scheme, std::string_view parameter);

// The group of --scheme and --scheme-weights in the help; the parameters are in no group.
inline constexpr const char* kSchemeGroup = "The scheme";

// --scheme, the parameters in the descriptors of the schemes, and a file of weights. A parameter is
// `--scheme-NAME`, and `--NAME` if the command has no option of that name; help refers to `sextant
// list NAME` for them.
struct SchemeChoice {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  std::string weights_file;

  // "--scheme-file" is "--file" too where the command has no text to read from one. Options of the
  // command's own come before this.
  // `several`: the command takes schemes that go together, "rotary+t5".
  void add_to(CLI::App& command, const std::string& default_scheme, SchemeRefusal refusal = nullptr,
              bool several = false);
  // Throws Error for a scheme that the command does not take, for a parameter that the scheme does
  // not have, and for a value that does not read as its descriptor says.
  void check() const;
  bool is_given() const {
    return option_->count() > 0 || !parameters.empty() || !weights_file.empty();
  }
  // All of them, with the parameters of options where they belong. Throws Error for a parameter of
  // none or of several.
  SchemeSpecs positions() const;
  const Scheme& descriptor() const { return find_scheme(scheme); }  // of a single one
  // Whether it is the scheme with separate functions: every type rounded once, real-valued
  // positions.
  bool is_sinusoidal() const { return scheme == "sinusoidal"; }
  figures::NamedScheme named(const std::optional<SchemeWeights>& weights) const {
    return {scheme, parameters, weights ? &*weights : nullptr};
  }
  std::string title() const;  // "rotary positions", "no positions"
  // Their values; of several schemes a list in their order. Given: without defaults.
  Json resolved_parameters() const;
  Json given_parameters() const;
  // Returns the contents of --scheme-weights in float64; none if it was not given. Throws Error for
  // a file that has no floats.
  std::optional<SchemeWeights> weights() const;

 private:
  const CLI::Option* option_ = nullptr;
  std::string where_;  // "plot.scheme"
  SchemeRefusal refusal_ = nullptr;
  SchemeSpecs several_;  // where there are several; `scheme` is their names then
};

// The values of all parameters, defaults included.
Json resolved_parameters(const Scheme& scheme,
                         const std::map<std::string, std::string>& parameters);
// Throws Error for a content term, which has no table, and says which commands show it.
void check_has_table(const SchemeChoice& choice, const std::string& where);
// Throws Error that lists the names, and the one that was meant, for a name that is none.
void check_scheme_name(const std::string& name, const std::string& where);
// Throws Error unless the parameters are the scheme's own and read as its descriptor says; `where`
// names the option that chose the scheme.
void check_parameters(const Scheme& scheme, const std::map<std::string, std::string>& parameters,
                      const std::string& where);

}  // namespace sextant::app

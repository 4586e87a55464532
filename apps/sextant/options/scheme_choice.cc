// --scheme and its parameters on the command line, from the descriptors of the schemes.
#include "options/scheme_choice.h"

#include <algorithm>
#include <vector>

#include "core/json/option_json.h"
#include "core/text/strings.h"
#include "options/argument_scope.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "options/scheme_text.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"

namespace sextant::app {
namespace {

// The names of all schemes that are not refused, one line per kind.
std::string names_by_kind(SchemeRefusal refusal) {
  std::map<SchemeKind, std::vector<std::string_view>> names;
  for (const std::string_view name : scheme_names(refusal)) {
    names[find_scheme(name).kind].push_back(name);
  }
  std::string text;
  for (const auto& [kind, list] : names) text += joined(list, ", ") + "\n";
  return text;
}

}  // namespace

std::vector<std::string_view> scheme_names(SchemeRefusal refusal) {
  std::vector<std::string_view> names;
  for (const Scheme* scheme : schemes()) {
    if (refusal == nullptr || refusal(*scheme).empty()) names.push_back(scheme->name);
  }
  return names;
}

std::string option_name(std::string_view parameter) {
  std::string name(parameter == "file" ? "scheme-file" : parameter);  // --file is a text's
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

void SchemeChoice::add_to(CLI::App& command, const std::string& default_scheme,
                          SchemeRefusal refusal, bool several) {
  scheme = default_scheme;
  refusal_ = refusal;
  where_ = command.get_name() + ".scheme";
  option_ =
      scheme_list(command.add_option_function<std::string>(
                      "--scheme",
                      [this, several](const std::string& text) {
                        SchemeSpecs list = parse_position_schemes(text, where_);
                        scheme = names_of(list);
                        if (list.size() == 1) {
                          parameters = std::move(list[0].parameters);
                        } else if (several) {
                          several_ = std::move(list);
                        } else {
                          throw Error(where_,
                                      "must be a single scheme for this command, got " + scheme);
                        }
                      },
                      "the positional scheme\n" + names_by_kind(refusal) +
                          (default_scheme.empty() ? "" : "(default " + default_scheme + ") ") +
                          "Each has parameters, which are options: `sextant list NAME`. If this "
                          "command has an option of that name itself, use --scheme-PARAMETER, or "
                          "rotary:base=500000" +
                          (several ? ". Schemes that go together: rotary+t5" : "")),
                  "NAME", scheme_names(refusal))
          ->group(kSchemeGroup);
  input_file(
      command.add_option("--scheme-weights", weights_file,
                         "a .safetensors file with the learned weights of the scheme, named as in "
                         "`sextant list NAME` (default: the initial weights)"))
      ->group(kSchemeGroup);
  std::vector<std::string> done;
  for (const Scheme* candidate : schemes()) {
    if (refusal != nullptr && !refusal(*candidate).empty()) continue;
    for (const Option& parameter : candidate->parameters()) {
      const std::string name(parameter.name);
      if (std::find(done.begin(), done.end(), name) != done.end()) continue;
      done.push_back(name);
      std::string plain = option_name(name);
      std::string option = plain.starts_with("--scheme-") ? plain : "--scheme-" + plain.substr(2);
      if (name == "file") plain = "--file";
      if (command.get_option_no_throw(plain) == nullptr) option += "," + plain;
      auto* added = command.add_option_function<std::string>(
          option, [this, name](const std::string& value) { parameters[name] = value; },
          parameter.explained());
      added->type_name("X")->group("");
      if (std::holds_alternative<TextRange>(parameter.range)) input_file(added);
    }
  }
  auto* exponent = command.get_option_no_throw("--exponent");
  if (exponent == nullptr) return;
  command
      .add_flag_function(
          "--doubled-exponent", [this](std::int64_t) { parameters["exponent"] = "doubled"; },
          "reproduce a known mistake: the same as --exponent doubled, every exponent twice as "
          "large")
      ->excludes(exponent)
      ->group(kSchemeGroup);
}

std::string meaning_of(std::string_view scheme, std::string_view parameter) {
  const auto parameters = find_scheme(scheme).parameters();
  return std::ranges::find(parameters, parameter, &Option::name)->explained();
}

void check_parameters(const Scheme& scheme, const std::map<std::string, std::string>& parameters,
                      const std::string& where) {
  std::vector<std::string> known;
  for (const Option& parameter : scheme.parameters()) {
    known.push_back(option_name(parameter.name));
    const std::string place = std::string(scheme.name) + "." + std::string(parameter.name);
    const auto given = parameters.find(std::string(parameter.name));
    if (given != parameters.end()) {
      if (given->second == parameter.unset) continue;
      check_range(parameter.range, place, given->second);
    } else if (parameter.default_text.empty()) {
      throw Error(place, "must be given with " + known.back() + ": " + parameter.explained());
    }
  }
  for (const auto& [name, value] : parameters) {
    const std::string option = option_name(name);
    if (std::find(known.begin(), known.end(), option) != known.end()) continue;
    throw Error(where, std::string(scheme.name) + " has " +
                           (known.empty() ? "no parameters" : joined(known, ", ")) + ", got " +
                           option);
  }
}

void check_scheme_name(const std::string& name, const std::string& where) {
  try {
    find_scheme(name);
  } catch (const Error& error) {
    throw Error(where, what_of(error));
  }
}

void SchemeChoice::check() const {
  for (const auto& [name, values] : positions()) {
    check_scheme_name(name, where_);
    const Scheme& one = find_scheme(name);
    const std::string why = refusal_ == nullptr ? "" : refusal_(one);
    if (!why.empty()) throw Error(where_, why + ", got '" + name + "'");
    check_parameters(one, values, where_);
  }
  if (!weights_file.empty() && !several_.empty()) {
    throw Error(where_ + "-weights", "must be given with a single scheme, got it with " + scheme);
  }
  if (!weights_file.empty() && descriptor().weights.empty()) {
    throw Error(where_ + "-weights",
                "must be given with a scheme that has weights, got it with " + scheme);
  }
}

SchemeSpecs SchemeChoice::positions() const {
  if (several_.empty()) return {{scheme, parameters}};
  SchemeSpecs list = several_;
  for (const auto& [name, value] : parameters) {
    std::vector<SchemeSpec*> owners;
    for (SchemeSpec& each : list) {
      const auto known = find_scheme(each.scheme).parameters();
      if (std::ranges::find(known, name, &Option::name) != known.end()) owners.push_back(&each);
    }
    if (owners.size() == 1) {
      owners[0]->parameters[name] = value;
      continue;
    }
    if (owners.empty()) {
      throw Error(where_,
                  "must be schemes of which one has " + option_name(name) + ", got " + scheme);
    }
    throw Error(where_, "must say which scheme " + option_name(name) + " is for, as in " +
                            owners[0]->scheme + ":" + name + "=" + value + "+" + owners[1]->scheme);
  }
  return list;
}

std::optional<SchemeWeights> SchemeChoice::weights() const {
  if (weights_file.empty()) return std::nullopt;
  SchemeWeights weights;
  const TensorFile file = TensorFile::open(weights_file);
  for (const StoredTensor& tensor : file.tensors()) {
    if (!is_float(tensor.dtype)) {
      throw Error(weights_file, "must hold floats, got " + std::string(dtype_name(tensor.dtype)) +
                                    " in '" + tensor.name + "'");
    }
    auto values = Tensor<double>::uninitialized(tensor.shape);
    file.read(tensor, 0, values.span());
    weights.emplace(tensor.name, std::move(values));
  }
  return weights;
}

std::string SchemeChoice::title() const { return figures::title_of(positions()); }

Json SchemeChoice::resolved_parameters() const {
  Json list = Json::array();
  for (const auto& [name, values] : positions()) {
    list.push_back(app::resolved_parameters(find_scheme(name), values));
  }
  return several_.empty() ? list[0] : list;
}

Json SchemeChoice::given_parameters() const {
  Json list = Json::array();
  for (const auto& [name, values] : positions()) {
    list.push_back(values_json(find_scheme(name).parameters(), values));
  }
  return several_.empty() ? list[0] : list;
}

Json resolved_parameters(const Scheme& scheme,
                         const std::map<std::string, std::string>& parameters) {
  std::map<std::string, std::string> values = parameters;
  for (const Option& parameter : scheme.parameters()) {
    values.try_emplace(std::string(parameter.name), parameter.default_text);
  }
  return values_json(scheme.parameters(), values);
}

void check_has_table(const SchemeChoice& choice, const std::string& where) {
  if (choice.descriptor().kind != SchemeKind::content) return;
  throw Error(where,
              "must be a scheme that has a table, got '" + choice.scheme +
                  "', whose scores depend on q and k as well: see `sextant attend --scheme " +
                  choice.scheme + "` and `sextant attention --scheme " + choice.scheme + "`");
}

}  // namespace sextant::app

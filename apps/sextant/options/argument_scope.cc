// Maps options to the members of the library's options, in this one place.
#include "options/argument_scope.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/scheme_choice.h"
#include "sextant/schemes/scheme.h"

namespace sextant::app {
namespace {

// Scopes of the library whose members are options of commands.
constexpr std::string_view kScopes[] = {
    "adamw",         "attend_sentences", "beam_search",   "evaluate",
    "extrapolation", "figure",           "fill_masks",    "generate",
    "logit_lens",    "language_task",    "offset_matrix", "sampling",
    "muon",          "optimiser",        "schedule",      "skip_gram",
    "tokenizer",     "save_pretrained",  "model",         "model_config",
    "trainer",       "transformer",      "translate",     "translation_task"};

// Members that options call otherwise.
struct OtherName {
  std::string_view member, option;
};
constexpr OtherName kOtherNames[] = {{"hidden", "--hide"},    {"minimum_count", "--min-count"},
                                     {"kind", "--tokenizer"}, {"vocabulary_size", "--vocabulary"},
                                     {"peak", "--rate"},      {"method", "--optimizer"},
                                     {"clip_norm", "--clip"}};

CLI::Option* option_of(CLI::App& command, const std::string& name) {
  return command.get_option_no_throw(name);
}

// Options that a member of a scheme may have come from, the likeliest first.
std::vector<CLI::Option*> options_of_scheme(CLI::App& command, const std::string& member) {
  std::vector<std::string> names = {"--scheme-" + dashed(member).substr(2), dashed(member)};
  if (member == "head_dim") names.insert(names.end(), {"--width", "--heads"});
  if (member == "positions") names.emplace_back("--length");
  names.insert(names.end(), {"--schemes", "--scheme"});
  std::vector<CLI::Option*> options;
  for (const std::string& name : names) {
    if (CLI::Option* option = option_of(command, name)) options.push_back(option);
  }
  return options;
}

// "plot.num-buckets": the short one of "--scheme-num-buckets,--num-buckets".
std::string place_of(const CLI::App& command, const CLI::Option& option) {
  return command.get_name() + "." + option.get_lnames().back();
}

bool reads_files(CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [](CLI::Option* option) {
    const FileUse use = file_use(*option);
    const auto& values = option->results();
    return (use == FileUse::reads && !values.empty()) ||
           (use == FileUse::reads_text && std::ranges::find(values, "-") != values.end());
  });
}

}  // namespace

std::string what_of(const Error& error) {
  const std::string text = error.what();
  return text.substr(text.find("] ") + 2);
}

ToldError in_words_of(CLI::App& command, const Error& error) {
  const std::string& where = error.where();
  const std::size_t dot = where.find('.');
  const std::string scope = where.substr(0, dot);
  const std::string member = dot == where.npos ? "" : where.substr(dot + 1);
  const auto scheme = std::ranges::find(schemes(), scope, &Scheme::name);
  if (scheme != schemes().end() && !member.empty()) {
    const auto weights = (*scheme)->weights;  // a file has them
    if (std::ranges::find(weights, member, &SchemeWeight::name) != weights.end()) {
      return {error.what(), false};
    }
    const auto options = options_of_scheme(command, member);
    if (options.empty()) return {error.what(), false};
    const auto given = std::ranges::find_if(
        options, [](const CLI::Option* option) { return option->count() > 0; });
    const CLI::Option& option = given == options.end() ? *options.front() : **given;
    const std::string place = place_of(command, option);
    const std::string name = dashed(member).substr(2);
    const bool is_named = place.ends_with("." + name) || place.ends_with(".scheme-" + name);
    return {Error(place, (is_named ? "" : where + " ") + what_of(error)).what(), true};
  }
  if (std::ranges::find(kScopes, scope) == std::end(kScopes) || member.empty()) {
    return {error.what(), false};
  }
  CLI::Option* option = nullptr;
  const auto other = std::ranges::find(kOtherNames, member, &OtherName::member);
  if (other != std::end(kOtherNames)) option = option_of(command, std::string(other->option));
  if (option == nullptr) option = option_of(command, dashed(member));
  if (option == nullptr && scope != "figure") return {error.what(), false};
  const std::string place =
      option == nullptr ? command.get_name() + "." + member : place_of(command, *option);
  return {Error(place, what_of(error)).what(), option != nullptr && !reads_files(command)};
}

}  // namespace sextant::app

// `sextant list`: the schemes, from their descriptors.
#include <memory>

#include "commands.h"
#include "core/json/option_json.h"
#include "options/choices.h"
#include "options/scheme_choice.h"
#include "positions/option_list.h"
#include "sextant/schemes/scheme.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct List {
  std::string scheme;   // empty: all
  std::string command;  // whose options are listed instead
  Output output;
};

Json json_of(const Scheme& scheme) {
  Json json;
  json["name"] = scheme.name;
  json["title"] = scheme.title;
  json["kind"] = name_of(scheme.kind);
  json["idea"] = scheme.idea;
  json["paper"] = scheme.paper;
  json["parameters"] = Json::array();
  for (const Option& parameter : scheme.parameters()) {
    json["parameters"].push_back(sextant::json_of(parameter, option_name(parameter.name)));
  }
  json["weights"] = Json::array();
  for (const SchemeWeight& weight : scheme.weights) {
    json["weights"].push_back(
        {{"name", weight.name}, {"shape", weight.shape}, {"meaning", weight.meaning}});
  }
  json["weights_of_tokens"] = scheme.weights_of_tokens;
  return json;
}

constexpr std::size_t kListWidth = 80;  // columns of the narrowest terminal

std::string indented(std::string_view text, std::size_t indent) {
  const std::string space(indent, ' ');
  std::string out = space;
  for (const char c : wrap(text, kListWidth - indent)) {
    out += c;
    if (c == '\n') out += space;
  }
  return out + "\n";
}

// Describes the effect of a kind of schemes on attention.
std::string_view kind_meaning(SchemeKind kind) {
  switch (kind) {
    case SchemeKind::none:
      return "nothing";
    case SchemeKind::added:
      return "a vector per position, added to the embeddings";
    case SchemeKind::rotated:
      return "queries and keys are rotated by their positions";
    case SchemeKind::distance_bias:
      return "a number per head and distance, added to the scores";
    case SchemeKind::indexed_bias:
      return "a number per head, query and key, added to the scores";
    case SchemeKind::content:
      return "the number added to a score also depends on q and k";
  }
  return "";
}

// Returns "ALiBi: ", or nothing if the title equals the name.
std::string written(const Scheme& scheme) {
  return scheme.title == scheme.name || scheme.kind == SchemeKind::none
             ? ""
             : std::string(scheme.title) + ": ";
}

// "--base: base of the frequencies (> 0; default 10000)".
std::string line_of(const Option& option, std::string_view written) {
  return std::string(written) + ": " + option.explained() + " (" + option.allowed() +
         (option.default_text.empty() ? "; must be given)"
                                      : "; default " + option.default_text + ")");
}

// The options of a command, in the words of its help.
void list_options(const List& list, Format format) {
  std::string text;
  Json entries = Json::array();
  for (const CommandOption& option : options_of_command(list.command)) {
    const Option worded = option.worded();
    text += indented(line_of(worded, option.name), 0);
    entries.push_back(sextant::json_of(worded, option.name));
  }
  write_result(list.output, format, format == Format::json ? to_text(entries) + "\n" : text);
}

// Everything about one.
std::string page_of_scheme(const Scheme& scheme) {
  std::string text = indented(std::string(scheme.name) + " (" + std::string(name_of(scheme.kind)) +
                                  ": " + std::string(kind_meaning(scheme.kind)) + ")",
                              0);
  text += indented(written(scheme) + std::string(scheme.idea), 2) + indented(scheme.paper, 2);
  if (!scheme.parameters().empty()) text += "\nParameters:\n";
  for (const Option& parameter : scheme.parameters()) {
    text += indented(line_of(parameter, option_name(parameter.name)), 2);
  }
  if (!scheme.weights.empty()) text += "\nWeights, which --scheme-weights FILE gives:\n";
  for (const SchemeWeight& weight : scheme.weights) {
    text += indented(std::string(weight.name) + " " + std::string(weight.shape) + ": " +
                         std::string(weight.meaning),
                     2);
  }
  return text;
}

// All, one sentence each, by kind.
std::string overview() {
  std::size_t widest = 0;
  for (const Scheme* scheme : schemes()) widest = std::max(widest, scheme->name.size());
  std::string text;
  for (const SchemeKind kind :
       {SchemeKind::none, SchemeKind::added, SchemeKind::rotated, SchemeKind::distance_bias,
        SchemeKind::indexed_bias, SchemeKind::content}) {
    std::string lines;
    for (const Scheme* scheme : schemes()) {
      if (scheme->kind != kind) continue;
      std::string idea = indented(written(*scheme) + std::string(scheme->idea), widest + 4);
      idea.replace(2, scheme->name.size(), scheme->name);
      lines += idea;
    }
    if (lines.empty()) continue;
    text += (text.empty() ? "" : "\n") + std::string(name_of(kind)) + ": " +
            std::string(kind_meaning(kind)) + "\n" + lines;
  }
  return text +
         "\n`sextant list NAME` shows the parameters of one, which are options of\n"
         "encode, plot, attend, attention and compare.\n";
}

void run(const List& list) {
  const Format format = list.output.format(kTextOrJson, "list").value_or(Format::text);
  if (!list.command.empty()) return list_options(list, format);
  if (format != Format::json) {
    return write_result(
        list.output, Format::text,
        list.scheme.empty() ? overview() : page_of_scheme(find_scheme(list.scheme)));
  }
  Json entries = Json::array();
  for (const Scheme* scheme : schemes()) {
    if (list.scheme.empty() || scheme->name == list.scheme) entries.push_back(json_of(*scheme));
  }
  write_result(list.output, Format::json, to_text(entries) + "\n");
}

}  // namespace

void add_list(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "list",
      "the positional schemes\n"
      "Lists every scheme with one sentence, grouped by its place in attention. With NAME: also "
      "its paper, its parameters, which are options of the other commands, and its weights. --json "
      "has all of that for every scheme.");
  auto list = std::make_shared<List>();
  auto* scheme = offer(
      command.add_option("NAME,--scheme", list->scheme, "show only this scheme, with all details"),
      scheme_names());
  command
      .add_option("--options", list->command,
                  "list the options of a command with their ranges: attend | generate | train")
      ->type_name("COMMAND")
      ->check(one_of("list.options", kListedCommands))
      ->excludes(scheme);
  list->output.add_to(command, kTextOrJson, "save as .json");
  command.footer(
      "Examples:\n"
      "  sextant list\n"
      "  sextant list rotary\n"
      "  sextant list --json\n"
      "  sextant list --options attend");
  command.callback([list, &job] {
    if (!list->scheme.empty()) check_scheme_name(list->scheme, "list.name");
    list->output.format(kTextOrJson, "list");
    job = [list] { run(*list); };
  });
}

}  // namespace sextant::app

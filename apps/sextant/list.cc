// `sextant list`: the schemes, from their descriptors.
#include <memory>

#include "commands.h"
#include "console.h"
#include "sextant/schemes/scheme.h"
#include "table_output.h"

namespace sextant::app {
namespace {

constexpr Format kFormats[] = {Format::text, Format::json};
constexpr std::size_t kLineWidth = 100;

Json to_json() {
  Json list = Json::array();
  for (const Scheme* scheme : schemes()) {
    Json json;
    json["name"] = scheme->name;
    json["kind"] = name_of(scheme->kind);
    json["idea"] = scheme->idea;
    json["paper"] = scheme->paper;
    json["parameters"] = Json::array();
    for (const SchemeParameter& parameter : scheme->parameters) {
      Json entry;
      entry["name"] = parameter.name;
      entry["option"] = option_name(parameter.name);
      entry["default"] = parameter.default_text.empty() ? Json() : Json(parameter.default_text);
      entry["range"] = parameter.range;
      entry["meaning"] = parameter.meaning;
      json["parameters"].push_back(std::move(entry));
    }
    list.push_back(std::move(json));
  }
  return list;
}

std::string indented(std::string_view text, std::size_t indent) {
  const std::string space(indent, ' ');
  std::string out = space;
  for (const char c : wrap(text, kLineWidth - indent)) {
    out += c;
    if (c == '\n') out += space;
  }
  return out + "\n";
}

std::string to_person() {
  std::string text;
  for (const Scheme* scheme : schemes()) {
    if (!text.empty()) text += "\n";
    text += std::string(scheme->name) + " (" + std::string(name_of(scheme->kind)) + ")\n";
    text += indented(scheme->idea, 2) + indented(scheme->paper, 2);
    for (const SchemeParameter& parameter : scheme->parameters) {
      std::string line = option_name(parameter.name) + ": " + std::string(parameter.meaning);
      line += " (" + std::string(parameter.range);
      line += parameter.default_text.empty()
                  ? "; must be given)"
                  : "; default " + std::string(parameter.default_text) + ")";
      text += indented(line, 4);
    }
  }
  return text;
}

}  // namespace

void add_list(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand("list",
                                              "the schemes of positions\n"
                                              "Lists every scheme: what it does to attention, its "
                                              "idea, its paper and its parameters, which "
                                              "are options of the other commands.");
  auto output = std::make_shared<Output>();
  output->add_to(command, kFormats, "save as .json");
  command.footer(
      "Examples:\n"
      "  sextant list\n"
      "  sextant list --json");
  command.callback([output, &job] {
    output->format(kFormats, "list");
    job = [output] {
      const bool json = output->format(kFormats, "list").value_or(Format::text) == Format::json;
      write_result(*output, json ? Format::json : Format::text,
                   json ? to_text(to_json()) + "\n" : to_person());
    };
  });
}

}  // namespace sextant::app

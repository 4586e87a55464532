// `sextant identify`: whose table of positions is in this file?
#include <cmath>
#include <memory>

#include "commands.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/identify.h"
#include "table_input.h"
#include "table_output.h"

namespace sextant::app {
namespace {

constexpr Format kFormats[] = {Format::text, Format::json};

struct Identify {
  std::string file;
  std::string dtype;
  Output output;
};

// The type in which `encode` prints this table again.
DType dtype_for(const StoredTable& table) {
  if (table.dtype) return *table.dtype;
  return table.unit_roundoff <= unit_roundoff(DType::float64) ? DType::float64 : DType::float32;
}

Json to_json(const Identify& identify, const StoredTable& table, const Identification& found) {
  const bool known = found.scheme != "unknown";
  const Sinusoidal& options = found.options;
  const auto if_known = [&](Json value) { return known ? std::move(value) : Json(); };
  Json json;
  json["file"] = identify.file;
  json["scheme"] = found.scheme;
  json["layout"] = if_known(name_of(options.layout));
  json["ladder"] = if_known(name_of(options.ladder));
  json["base"] = if_known(options.base);
  json["first"] = if_known(options.first);
  json["scale"] = if_known(options.scale);
  json["mistake"] = found.mistake.empty() ? Json() : Json(found.mistake);
  json["max_deviation"] = found.max_deviation;
  json["confidence"] = found.confidence;
  json["exponent"] = if_known(name_of(options.exponent));
  json["precision"] = if_known(name_of(options.precision));
  json["odd_width"] = known && options.odd_width && options.width % 2 == 1
                          ? Json(name_of(*options.odd_width))
                          : Json();
  json["length"] = table.values.size(0);
  json["width"] = table.values.size(1);
  json["dtype"] = table.dtype ? Json(dtype_name(*table.dtype)) : Json();
  json["explanation"] = found.explanation;
  json["command"] = if_known(encode_command(options, dtype_for(table)));
  return json;
}

std::string to_person(const Identify& identify, const StoredTable& table,
                      const Identification& found) {
  const Sinusoidal& options = found.options;
  const std::string size =
      std::to_string(table.values.size(0)) + " x " + std::to_string(table.values.size(1));
  std::string text = identify.file + ": " + found.scheme + "\n";
  text += wrap(found.explanation, 100) + "\n\n";
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string name, std::string_view value) {
    rows.push_back({"  " + std::move(name), std::string(value)});
  };
  add("size", size + (table.dtype ? ", " + std::string(dtype_name(*table.dtype)) : ""));
  if (found.scheme != "unknown") {
    add("layout", name_of(options.layout));
    add("ladder", name_of(options.ladder));
    add("base", shortest(options.base));
    add("first", std::to_string(options.first));
    add("scale", shortest(options.scale));
    add("exponent", name_of(options.exponent));
    add("precision", name_of(options.precision));
    if (options.odd_width && options.width % 2 == 1) add("odd width", name_of(*options.odd_width));
    add("mistake", found.mistake.empty() ? "none" : found.mistake);
  }
  add("confidence", fixed(found.confidence, 3));
  add("largest deviation", significant(found.max_deviation, 3));
  text += aligned(rows, false);
  if (found.scheme != "unknown") {
    text += "\nmake it again: " + encode_command(options, dtype_for(table)) + "\n";
  }
  return text;
}

void run(const Identify& identify) {
  const StoredTable table = load_table(identify.file, identify.dtype);
  const Identification found =
      identify_table(std::as_const(table.values).view(), table.unit_roundoff);
  const bool json =
      identify.output.format(kFormats, "identify").value_or(Format::text) == Format::json;
  write_result(
      identify.output, json ? Format::json : Format::text,
      json ? to_text(to_json(identify, table, found)) + "\n" : to_person(identify, table, found));
}

}  // namespace

void add_identify(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "identify",
      "whose table of positions is in this file?\n"
      "Finds out how a table of positions was made, from its numbers alone: layout, ladder, base, "
      "first position, scale, and the known mistakes. A slice of a longer table is enough; what "
      "fits no formula is called unknown.");
  auto identify = std::make_shared<Identify>();
  command
      .add_option("FILE", identify->file,
                  ".npy of any float type, or rows of numbers as text (.csv); - reads stdin")
      ->required();
  command
      .add_option("--dtype", identify->dtype,
                  "bfloat16: the file holds its bits as uint16; or the type to which the numbers "
                  "were rounded before they were stored in a wider one")
      ->type_name("T")
      ->check(CLI::IsMember({"float64", "float32", "bfloat16", "float16"}));
  identify->output.add_to(command, kFormats, "save as .json");
  command.footer(
      "Examples:\n"
      "  sextant encode --length 100 --width 512 --ladder d/2-1 --layout half_split -o P.npy\n"
      "  sextant identify P.npy\n"
      "  sextant identify P.npy --json");
  command.callback([identify, &job] {
    identify->output.format(kFormats, "identify");
    job = [identify] { run(*identify); };
  });
}

}  // namespace sextant::app

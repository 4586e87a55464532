// `sextant identify`: which scheme made the table in this file?
#include <algorithm>
#include <cmath>
#include <memory>

#include "commands.h"
#include "core/json/option_json.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/identify/identify.h"
#include "sextant/schemes/scheme.h"
#include "streams/table_input.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

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

// Returns the command that makes the array again, or numbers of the same scheme; empty if there is
// none.
std::string command_of(const StoredTable& table, const Identification& found) {
  if (found.scheme == "sinusoidal") return encode_command(found.options, dtype_for(table));
  const auto all = schemes();
  const auto known = std::find_if(
      all.begin(), all.end(), [&](const Scheme* scheme) { return scheme->name == found.scheme; });
  if (known == all.end() || !found.mistake.empty()) return {};
  std::string command = "sextant encode --scheme " + found.scheme;
  const Shape& shape = table.values.shape();
  const auto longest = *std::max_element(shape.begin(), shape.end());
  if (found.head_dim > 0) {
    std::int64_t rows = 1;
    for (const std::int64_t size : shape) {
      rows = size;
      if (size > 1) break;
    }
    command +=
        " --length " + std::to_string(rows) + " --head-dim " + std::to_string(found.head_dim);
    if (found.first != 0) command += " --first " + std::to_string(found.first);
  } else {
    command += " --length " + std::to_string(found.length > 0 ? found.length : longest);
    if (found.heads > 0) command += " --heads " + std::to_string(found.heads);
  }
  for (const auto& [name, value] : found.parameters) {
    command += " " + option_name(name) + " " + value;
  }
  return command;
}

Json to_json(const Identify& identify, const StoredTable& table, const Identification& found) {
  const bool known = found.scheme != "unknown";
  const bool sinusoidal = found.scheme == "sinusoidal";
  const Sinusoidal& options = found.options;
  const auto if_sinusoidal = [&](Json value) { return sinusoidal ? std::move(value) : Json(); };
  const Shape& shape = table.values.shape();
  const std::string command = command_of(table, found);
  Json json;
  json["file"] = identify.file;
  json["scheme"] = found.scheme;
  json["layout"] = if_sinusoidal(name_of(options.layout));
  json["ladder"] = if_sinusoidal(name_of(options.ladder));
  json["base"] = if_sinusoidal(options.base);
  json["first"] = sinusoidal           ? Json(options.first)
                  : found.head_dim > 0 ? Json(found.first)
                                       : Json();
  json["scale"] = if_sinusoidal(options.scale);
  json["mistake"] = found.mistake.empty() ? Json() : Json(found.mistake);
  json["max_deviation"] = found.max_deviation;
  json["confidence"] = found.confidence;
  json["exponent"] = if_sinusoidal(name_of(options.exponent));
  json["precision"] = if_sinusoidal(name_of(options.precision));
  json["odd_width"] = sinusoidal && options.odd_width && options.width % 2 == 1
                          ? Json(name_of(*options.odd_width))
                          : Json();
  json["shape"] = std::vector<std::int64_t>(shape.begin(), shape.end());
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : shape) {
    if (size != 1 || shape.rank() <= 2) sizes.push_back(size);
  }
  json["length"] = sizes.size() == 2 ? Json(sizes[0]) : Json();
  json["width"] = sizes.size() == 2 ? Json(sizes[1]) : Json();
  json["dtype"] = table.dtype ? Json(dtype_name(*table.dtype)) : Json();
  json["form"] = found.form.empty() ? Json() : Json(found.form);
  json["parameters"] =
      known ? values_json(find_scheme(found.scheme).parameters(), found.parameters) : Json();
  json["heads"] = found.heads > 0 ? Json(found.heads) : Json();
  json["head_dim"] = found.head_dim > 0 ? Json(found.head_dim) : Json();
  json["inv_freq"] = found.inv_freq.empty() ? Json() : Json(found.inv_freq);
  json["attention_factor"] = found.head_dim > 0 ? Json(found.attention_factor) : Json();
  json["explanation"] = found.explanation;
  json["command"] = command.empty() ? Json() : Json(command);
  return json;
}

std::string to_person(const Identify& identify, const StoredTable& table,
                      const Identification& found) {
  const Sinusoidal& options = found.options;
  std::string size;
  for (const std::int64_t n : table.values.shape()) {
    size += (size.empty() ? "" : " x ") + std::to_string(n);
  }
  std::string text = identify.file + ": " + found.scheme + "\n";
  text += wrap(found.explanation, 100) + "\n\n";
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string name, std::string_view value) {
    rows.push_back({"  " + std::move(name), std::string(value)});
  };
  add("size", size + (table.dtype ? ", " + std::string(dtype_name(*table.dtype)) : ""));
  if (found.scheme == "sinusoidal") {
    add("layout", name_of(options.layout));
    add("ladder", name_of(options.ladder));
    add("base", shortest(options.base));
    add("first", std::to_string(options.first));
    add("scale", shortest(options.scale));
    add("exponent", name_of(options.exponent));
    add("precision", name_of(options.precision));
    if (options.odd_width && options.width % 2 == 1) add("odd width", name_of(*options.odd_width));
  } else if (found.scheme != "unknown") {
    add("holds", found.form);
    if (found.heads > 0) add("heads", std::to_string(found.heads));
    if (found.head_dim > 0) {
      add("rotated channels", std::to_string(found.head_dim));
      add("first", std::to_string(found.first));
      add("attention factor", shortest(found.attention_factor));
    }
    for (const auto& [name, value] : found.parameters) {
      std::string label = name;
      std::replace(label.begin(), label.end(), '_', ' ');
      add(label, value);
    }
  }
  if (found.scheme != "unknown") add("mistake", found.mistake.empty() ? "none" : found.mistake);
  add("confidence", fixed(found.confidence, 3));
  add("largest deviation", significant(found.max_deviation, 3));
  text += aligned(rows, false);
  const std::string command = command_of(table, found);
  if (!command.empty()) text += "\nmake it again: " + command + "\n";
  return text;
}

void run(const Identify& identify) {
  const StoredTable table = load_any_array(identify.file, identify.dtype);
  const Identification found =
      identify_array(std::as_const(table.values).view(), table.unit_roundoff);
  const bool json =
      identify.output.format(kTextOrJson, "identify").value_or(Format::text) == Format::json;
  write_result(
      identify.output, json ? Format::json : Format::text,
      json ? to_text(to_json(identify, table, found)) + "\n" : to_person(identify, table, found));
}

}  // namespace

void add_identify(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "identify",
      "find the scheme that made a table\n"
      "Finds out from the numbers alone how a table of positions was made: layout, ladder, base, "
      "first position, scale, and known mistakes. A slice of a longer table is enough. A table "
      "that fits no formula is reported as unknown. It also recognises caches of rotations "
      "(cosines and sines, also scaled), ALiBi's slopes and biases, and T5's buckets.");
  auto identify = std::make_shared<Identify>();
  input_file(command.add_option(
                 "FILE", identify->file,
                 ".npy of any type and shape, or rows of numbers as text (.csv); - reads stdin"))
      ->required();
  command
      .add_option("--dtype", identify->dtype,
                  "bfloat16: the file stores its bits as uint16; or the type to which the numbers "
                  "were rounded before they were stored in a wider one")
      ->type_name("T")
      ->check(one_of("identify.dtype", {"float64", "float32", "bfloat16", "float16"}));
  identify->output.add_to(command, kTextOrJson, "save as .json");
  command.footer(
      "Examples:\n"
      "  sextant encode --length 100 --width 512 --ladder d/2-1 --layout half_split -o P.npy\n"
      "  sextant identify P.npy\n"
      "  sextant identify cos_cached.npy\n"
      "  sextant identify P.npy --json");
  command.callback([identify, &job] {
    identify->output.format(kTextOrJson, "identify");
    job = [identify] { run(*identify); };
  });
}

}  // namespace sextant::app

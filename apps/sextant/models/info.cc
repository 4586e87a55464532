// Implements `sextant info`: describes the build and the machine, or a trained model.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "models/image_option.h"
#include "models/model_option.h"
#include "options/options.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/environment.h"
#include "sextant/figures/scheme_difference.h"
#include "sextant/models/text_model.h"
#include "sextant/schemes/scheme.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct Info {
  ModelOption model;
  Output output;
};

// How far a table that is computed in float32, as frameworks do, is from the true one, at most, in
// the 64 positions up to one.
struct FrameworkError {
  std::string scheme;
  std::int64_t position;
  double largest;
};

std::vector<FrameworkError> framework_errors(const TransformerConfig& config) {
  constexpr std::int64_t kRows = 64, kFar = 1'000'000;
  std::vector<FrameworkError> errors;
  for (const SchemeSpec& each : config.schemes) {
    const auto parameters = find_scheme(each.scheme).parameters();
    if (std::ranges::count(parameters, "precision", &Option::name) == 0) continue;
    std::map<std::string, std::string> framework = each.parameters;
    framework["precision"] = "framework";
    for (const std::int64_t last : {config.length - 1, kFar}) {
      const std::int64_t rows = std::min(kRows, last + 1);
      const figures::SchemeSizes sizes{.length = rows,
                                       .first = last + 1 - rows,
                                       .heads = config.heads,
                                       .head_dim = config.attention_head_dim()};
      const auto difference =
          figures::plot_difference({each.scheme, each.parameters, nullptr},
                                   {each.scheme, framework, nullptr}, sizes, config.width);
      errors.push_back({each.scheme, last, difference.largest});
    }
  }
  return errors;
}

// Returns the parts of a model, and where its positions act.
Json json_of(const ModelFolder& folder, std::int64_t parameters) {
  const TransformerConfig& config = folder.config;
  Json json{{"model", folder.path}, {"parameters", parameters}};
  json["tokenizer"] = name_of(folder.tokenizer.kind());
  json["config"] = Json::parse(format_config(config));
  json["config"].erase("format");
  if (!folder.taught.empty()) json["taught"] = folder.taught;
  json["float32_errors"] = Json::array();
  for (const auto& [scheme, position, largest] : framework_errors(config)) {
    json["float32_errors"].push_back(
        {{"scheme", scheme}, {"position", position}, {"largest", largest}});
  }
  json["schemes"] = Json::array();
  for (const SchemeSpec& position : config.schemes) {
    const Scheme& scheme = find_scheme(position.scheme);
    json["schemes"].push_back(
        {{"name", scheme.name}, {"title", scheme.title}, {"kind", name_of(scheme.kind)}});
  }
  return json;
}

std::string text_of(const ModelFolder& folder, std::int64_t parameters) {
  const TransformerConfig& c = folder.config;
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const bool pairs = c.kind == ModelKind::translator;
  const std::int64_t encoder = c.encoder_layers > 0 ? c.encoder_layers : c.layers;
  std::vector<std::vector<std::string>> rows = {
      {"model", described(c.kind).substr(2) + " in " + folder.path},
      {"parameters", number(parameters)},
      {"tokens",
       number(c.vocabulary) + " of kind " + std::string(name_of(folder.tokenizer.kind()))},
      {"layers", pairs
                     ? number(encoder) + " of the encoder, " + number(c.layers) + " of the decoder"
                     : number(c.layers)},
      {"width", number(c.width) + ", heads " + number(c.heads)},
      {"positions",
       names_of(c.schemes) +
           (c.decoder_schemes.empty() ? "" : "; of the decoder " + label_of(c.decoder_schemes))},
      {"length", number(c.length)}};
  for (const auto& [scheme, position, largest] : framework_errors(c)) {
    rows.push_back({"in float32", scheme + " is off by up to " + significant(largest, 2) +
                                      " at position " + grouped(position)});
  }
  if (!folder.taught.empty()) rows.push_back({"taught", folder.taught});
  return aligned(rows, false);
}

void describe_image_model(const Info& info) {
  const ImageModel model = open_image_model(info.model, "info.model");
  const std::string& folder = info.model.folders.front();
  const ImageConfig& c = model.config;
  const std::int64_t parameters = count_of(model.parameters());
  if (info.output.format(kTextOrJson, "info").value_or(Format::text) == Format::json) {
    Json json{{"model", folder}, {"parameters", parameters}};
    json["config"] = Json::parse(format_image_config(c));
    return write_result(info.output, Format::json, to_text(json) + "\n");
  }
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const GridSize grid = c.grid();
  write_result(
      info.output, Format::text,
      aligned({{"model", "image model in " + folder},
               {"parameters", number(parameters)},
               {"images", number(c.channels) + " channels of " + number(c.image_height) + " x " +
                              number(c.image_width) + " pixels"},
               {"patches", number(grid.rows) + " x " + number(grid.columns) + " of " +
                               number(c.patch_height) + " x " + number(c.patch_width) + " pixels"},
               {"layers", number(c.layers)},
               {"width", number(c.width) + ", heads " + number(c.heads)},
               {"positions", "learned; resized for images of another size"},
               {"classes", c.classes == 0 ? "none" : number(c.classes)}},
              false));
}

void describe_model(const Info& info) {
  if (info.model.is_of_images()) return describe_image_model(info);
  const ModelFolder folder =
      info.model.open({ModelKind::causal, ModelKind::masked, ModelKind::translator});
  const std::int64_t parameters = folder.config.kind == ModelKind::translator
                                      ? count_of(TextTranslator::load(folder).parameters())
                                      : count_of(TextModel::load(folder).parameters());
  if (info.output.format(kTextOrJson, "info").value_or(Format::text) == Format::json) {
    return write_result(info.output, Format::json, to_text(json_of(folder, parameters)) + "\n");
  }
  write_result(info.output, Format::text, text_of(folder, parameters));
}

}  // namespace

void add_info(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "info",
      "version, compiler, instruction sets, threads; or a trained model\n"
      "Prints the version, the compiler, the compiled instruction sets and the one in use on this "
      "processor, and the number of threads of a call (set by OMP_NUM_THREADS). With --model: the "
      "kind of the model, its sizes and positions, and the error of the positions if they are "
      "computed in float32, as in frameworks; its files are read and checked.");
  auto info = std::make_shared<Info>();
  info->model.add_folder(command);
  info->output.add_to(command, kTextOrJson, "save as .json");
  command.footer(
      "Examples:\n  sextant info\n  OMP_NUM_THREADS=1 sextant info --json\n"
      "  sextant info --model shipped");
  command.callback([info, &job] {
    info->output.format(kTextOrJson, "info");
    job = [info] {
      if (!info->model.folders.empty()) return describe_model(*info);
      const Output* output = &info->output;
      const figures::Environment here = figures::environment();
      if (output->format(kTextOrJson, "info").value_or(Format::text) == Format::json) {
        return write_result(*output, Format::json, here.json() + "\n");
      }
      write_result(*output, Format::text,
                   aligned({{"version", here.version},
                            {"compiler", here.compiler},
                            {"compiled for", here.compiled_targets},
                            {"chosen", here.chosen_target},
                            {"threads", std::to_string(here.threads)},
                            {"schemes", std::to_string(here.schemes)}},
                           false));
    };
  });
}

}  // namespace sextant::app

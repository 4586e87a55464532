// Implements `sextant logit-lens`: the next token that each layer of a trained model predicts.
#include <memory>

#include "commands.h"
#include "models/generation_fields.h"
#include "models/model_option.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/models/logit_lens.h"
#include "sextant/text/tokenizer.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr Format kLensFormats[] = {Format::text, Format::csv, Format::json};

struct LensCommand {
  ModelOption model;
  TextInput text;
  std::string target;
  const CLI::Option* target_option = nullptr;
  LogitLensOptions options;
  Output output;
};

LogitLens lens_of(const LensCommand& command, const ModelFolder& folder,
                  const LogitLensOptions& options) {
  const std::string text = command.text.read("logit-lens.text", kLongestShownText);
  const bool has_target = command.target_option->count() > 0;
  if (folder.config.kind != ModelKind::translator) {
    if (has_target) {
      throw Error("logit-lens.target",
                  "must not be given: " + described(folder.config.kind) + " looks at one text");
    }
    return logit_lens(TextModel::load(folder), text, options);
  }
  std::optional<std::string> target;
  if (has_target) target = read_text(command.target, "logit-lens.target", kLongestShownText);
  return logit_lens(TextTranslator::load(folder), text, target, options);
}

Json json_of(const LogitLens& found, const ModelFolder& folder) {
  const auto piece = [&](std::int64_t token) { return folder.tokenizer.piece_or_number(token); };
  Json json{{"model", folder.path}, {"positions", folder.other_schemes.empty()}};
  json["tokens"] = Json::array();
  json["next"] = Json::array();
  for (const std::int64_t token : found.read) json["tokens"].push_back(piece(token));
  for (const std::int64_t token : found.next) {
    json["next"].push_back(token < 0 ? Json() : Json(piece(token)));
  }
  json["layers"] = Json::array();
  for (std::size_t layer = 0; layer < found.predictions.size(); ++layer) {
    Json of_layer{{"name", layer_name(layer)},
                  {"next_probability", Json::array()},
                  {"predictions", Json::array()}};
    for (std::size_t row = 0; row < found.read.size(); ++row) {
      const double next = found.next_probability[layer][row];
      of_layer["next_probability"].push_back(found.next[row] < 0 ? Json() : Json(next));
      Json predictions = Json::array();
      for (const auto& [token, probability] : found.predictions[layer][row]) {
        predictions.push_back({{"token", piece(token)}, {"probability", probability}});
      }
      of_layer["predictions"].push_back(predictions);
    }
    json["layers"].push_back(of_layer);
  }
  return json;
}

// A line for every token that is read, a column for every layer: its guess and how sure it is.
std::string text_of(const LogitLens& found, const Tokenizer& tokenizer) {
  const auto label = [&](std::int64_t token) {
    return token_label(tokenizer.piece_or_number(token));
  };
  std::vector<std::vector<std::string>> rows(1, {"read"});
  for (std::size_t layer = 0; layer < found.predictions.size(); ++layer) {
    rows[0].push_back(layer_name(layer));
  }
  rows[0].push_back("next");
  for (std::size_t row = 0; row < found.read.size(); ++row) {
    rows.push_back({label(found.read[row])});
    for (const auto& layer : found.predictions) {
      const TokenProbability& best = layer[row].front();
      rows.back().push_back(label(best.token) + " " + fixed(best.probability, 3));
    }
    rows.back().push_back(found.next[row] < 0 ? "" : label(found.next[row]));
  }
  return aligned(rows, false);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string csv_of(const LogitLens& found, const Tokenizer& tokenizer) {
  std::string text = "row,read,layer,rank,prediction,probability\n";
  for (std::size_t row = 0; row < found.read.size(); ++row) {
    for (std::size_t layer = 0; layer < found.predictions.size(); ++layer) {
      const auto& predictions = found.predictions[layer][row];
      for (std::size_t rank = 0; rank < predictions.size(); ++rank) {
        text += std::to_string(row) + "," + quoted(tokenizer.piece_or_number(found.read[row])) +
                "," + std::to_string(layer) + "," + std::to_string(rank + 1) + "," +
                quoted(tokenizer.piece_or_number(predictions[rank].token)) + "," +
                shortest(predictions[rank].probability) + "\n";
      }
    }
  }
  return text;
}

void run(const LensCommand& command) {
  const ModelFolder folder =
      command.model.open({ModelKind::causal, ModelKind::masked, ModelKind::translator});
  LogitLensOptions options = command.options;
  options.threads = command.model.threads;
  const LogitLens found = lens_of(command, folder, options);
  const Format format = command.output.format(kLensFormats, "logit-lens").value_or(Format::text);
  write_result(command.output, format,
               format == Format::json  ? to_text(json_of(found, folder)) + "\n"
               : format == Format::csv ? csv_of(found, folder.tokenizer)
                                       : text_of(found, folder.tokenizer));
}

}  // namespace

void add_logit_lens(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "logit-lens",
      "the next token predicted by each layer of a trained model\n"
      "Prints the most probable next tokens after each layer (the logit lens): the final norm, the "
      "output projection and the pointer, if there is one, are applied to the sum of the layers up "
      "to this one. The last layer gives the model's output. A masked model predicts the token "
      "itself.");
  auto lens = std::make_shared<LensCommand>();
  lens->model.add_to(command)->required();
  lens->text.add_to(command, "the text to read; for a translator, the source");
  lens->target_option = text_or_stdin(command.add_option(
      "TARGET", lens->target,
      "for a translator: the translation (default: the model's own); - reads stdin"));
  add_fields(
      command, lens->options, "",
      only<LogitLensOptions>(
          {{.field = "top_k", .meaning = "most probable tokens per layer, in .json and .csv"}}));
  lens->output.add_to(command, kLensFormats, "save as .txt, .json or .csv, by the extension");
  command.footer(
      "Examples:\n"
      "  sextant logit-lens --model shipped \"the third of march 1999\"\n"
      "  sextant logit-lens --model runs/plays \"To be, or not to be\" --json\n"
      "  sextant logit-lens --model shipped \"the third of march 1999\" --without-positions");
  command.callback([lens, &job] {
    lens->text.check("logit-lens.text");
    lens->output.format(kLensFormats, "logit-lens");
    job = [lens] { run(*lens); };
  });
}

}  // namespace sextant::app

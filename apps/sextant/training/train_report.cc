// Results as text and as JSON.
#include "training/train_report.h"

#include <cmath>

#include "options/arguments.h"
#include "sextant/core/numbers.h"
#include "sextant/training/progress.h"

namespace sextant::app {
namespace {

std::string line(const char* name, const std::string& value) {
  std::string text = name;
  text.resize(12, ' ');
  return text + value + "\n";
}

std::string ending(const TrainReport& report) {
  switch (report.result.end) {
    case TrainingEnd::steps:
      return "all steps done";
    case TrainingEnd::minutes:
      return "time limit reached";
    case TrainingEnd::patience:
      return "no new best loss for --patience validations";
    default:
      return "stopped";
  }
}

std::string losses(const TrainReport& report) {
  std::string text = fixed(*report.training_loss, 4) + " in training";
  if (report.validation_loss) text += ", " + fixed(*report.validation_loss, 4) + " held out";
  if (report.result.best_loss) {
    text += ", best " + fixed(*report.result.best_loss, 4) + " at step " +
            grouped(report.result.best_step);
  }
  return text + " (nats per token)";
}

// The same sentence as in the page where a model is dropped (web/page/views/model_folder.js).
std::string explorer_line(const TrainReport& report) {
  if (report.tokenizer == TokenizerKind::character ||
      report.tokenizer == TokenizerKind::pretrained) {
    return "opens this run";
  }
  return "opens models of characters, of words between white space (--no-split-punctuation) and of "
         "a tokenizer.json of Hugging Face";
}

std::string next_commands(const TrainReport& report) {
  const std::string dir = " --model " + report.folder + " ";
  std::string text;
  if (report.kind == "lm") text += "  sextant generate" + dir + "--prompt \"...\"\n";
  if (report.kind == "mlm") text += "  sextant attend" + dir + "\"...\" -o attention.svg\n";
  if (report.kind == "translate") text += "  sextant translate" + dir + "\"...\"\n";
  if (is_built_in(report.kind) && report.kind != "dates") {
    text += "  sextant translate" + dir + "\"dbca\"\n  sextant attend" + dir +
            "\"dbca\" --part encoder -o " + report.folder + "/attention.svg\n";
  }
  if (report.kind == "dates") {
    text += "  sextant translate" + dir + "\"the third of march nineteen ninety-nine\"\n";
    text += "  sextant attend" + dir +
            "\"the third of march nineteen ninety-nine\" \"1999-03-03\" -o " + report.folder +
            "/attention.svg\n";
  }
  text += "  sextant train --resume -o " + report.folder +
          (report.result.end == TrainingEnd::stopped
               ? "\n"
               : " --steps " + std::to_string(2 * report.result.step) + "\n");
  return text;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::optional<double> TrainReport::perplexity() const {
  if (!validation_loss) return std::nullopt;
  return std::exp(*validation_loss);
}

std::optional<double> TrainReport::bits_per_character() const {
  if (!validation_loss || tokenizer != TokenizerKind::character || kind == "mlm") {
    return std::nullopt;
  }
  return *validation_loss / std::log(2.0);
}

std::string text_of(const TrainReport& report) {
  const TransformerConfig& model = report.model;
  std::string text =
      line("model", report.kind + ", " + grouped(report.parameters) + " parameters, vocabulary " +
                        grouped(model.vocabulary) + ", positions " + names_of(model.schemes));
  text += line("data", report.data);
  text +=
      line("trained", grouped(report.result.step) + " steps, " + grouped(report.result.tokens) +
                          " tokens, " + clock_text(report.result.seconds) + ": " + ending(report));
  if (report.training_loss) text += line("loss", losses(report));
  if (const auto perplexity = report.perplexity()) {
    const auto bits = report.bits_per_character();
    text += line("perplexity", fixed(*perplexity, 3) + " per token held out" +
                                   (bits ? ", " + fixed(*bits, 3) + " bits per character" : ""));
  }
  if (report.exact) {
    text += line("exact match",
                 fixed(100 * report.exact->share(), 1) + " %: " + grouped(report.exact->right) +
                     " of " + grouped(report.exact->count) +
                     (report.kind == "dates" ? " held-out dates" : " held-out texts"));
    for (const auto& miss : report.exact->misses) {
      text += line("", miss.source + " is " + miss.wanted + ", got " + miss.got);
    }
  }
  text += line("saved", report.folder + ": best and last (models)" +
                            (report.picture.empty() ? "" : ", loss.svg (curves)"));
  text += line("explorer", explorer_line(report));
  return text + "\nnext:\n" + next_commands(report);
}

Json report_as_json(const TrainReport& report) {
  Json json;
  json["kind"] = report.kind;
  json["folder"] = report.folder;
  json["end"] = name_of(report.result.end);
  json["step"] = report.result.step;
  json["seconds"] = report.result.seconds;
  json["tokens"] = report.result.tokens;
  json["parameters"] = report.parameters;
  json["data"] = report.data;
  json["model"] = Json::parse(format_config(report.model));
  json["training_loss"] = number(report.training_loss);
  json["validation_loss"] = number(report.validation_loss);
  json["best_loss"] = number(report.result.best_loss);
  json["best_step"] = report.result.best_step;
  json["perplexity"] = number(report.perplexity());
  json["bits_per_character"] = number(report.bits_per_character());
  if (report.exact) {
    json["exact_match"] = report.exact->share();
    json["exact_match_count"] = report.exact->count;
  }
  json["picture"] = report.picture.empty() ? Json() : Json(report.picture);
  return json;
}

}  // namespace sextant::app

// Options of `sextant extrapolate`, with defaults for two cores.
#include "training/extrapolate_options.h"

#include <algorithm>

#include "core/text/strings.h"
#include "experiments/extrapolation_plan.h"
#include "experiments/extrapolation_words.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/scheme_choice.h"
#include "options/scheme_text.h"
#include "sextant/core/error.h"

namespace sextant::app {
namespace {

constexpr Format kPictureFormats[] = {Format::svg, Format::png, Format::pdf, Format::html};

// "kerple" is its logarithmic form, which its authors found best.
std::string with_full_names(std::string text) {
  constexpr std::string_view kShort = "kerple";
  for (std::size_t at = 0; (at = text.find(kShort, at)) != std::string::npos; at += 1) {
    const std::size_t end = at + kShort.size();
    const bool begins = at == 0 || text[at - 1] == ',' || text[at - 1] == '+';
    const bool ends = end == text.size() || std::string_view(",:+").find(text[end]) != text.npos;
    if (begins && ends) text.replace(at, kShort.size(), "kerple_log");
  }
  return text;
}

std::string listed_names(const std::vector<ExtrapolationScheme>& schemes) {
  return joined(schemes, ",", &ExtrapolationScheme::label);
}

std::vector<ExtrapolationScheme> schemes_of(const std::string& text) {
  std::vector<ExtrapolationScheme> schemes;
  for (SchemeSpecs& list : parse_position_lists(with_full_names(text), "extrapolate.schemes")) {
    std::string label = label_of(list);
    schemes.push_back({std::move(label), std::move(list)});
  }
  return schemes;
}

}  // namespace

void ExtrapolateOptions::add_to(CLI::App& command) {
  run = default_extrapolation();
  run.folder = "extrapolation";

  input_file(command.add_option("--file", texts, "one or more files of text"), "FILE ...")
      ->required();
  output_file(
      command.add_option("-o,--output", run.folder,
                         "the experiment's folder, created if needed (default extrapolation)"),
      "DIR")
      ->default_str(run.folder);
  model.add_folder(command);
  scheme_list(
      command.add_option_function<std::string>(
          "--schemes", [this](const std::string& given) { run.schemes = schemes_of(given); },
          std::string("schemes with their parameters, such as rotary,rotary:base=500000,rotary+t5; "
                      "kerple is "
                      "kerple_log (default ") +
              listed_names(run.schemes) + ")"),
      "LIST", scheme_names());
  output.add_formats(command, kScoreFormats);
  output_file(command.add_option("--picture", picture,
                                 "also save the picture in this file (.svg .png .pdf .html); the "
                                 "folder has extrapolation.svg"));

  add_fields(command, run.data, "Training", kExtrapolationTaskWords);
  add_fields(command, run, "Training", kExtrapolationWords);
  add_fields(command, data, "Scoring", kScoredTextWords);
  add_fields(command, run.model, "The model", kExtrapolationModelWords);
  add_fields(command, data.tokenizer, "The model", kExtrapolationTokenizerWords);
}

// Checks the options for a trained model: the text, how it is scored, and the further training.
void ExtrapolateOptions::check_of_model(const CLI::App& command) const {
  constexpr std::string_view kOfModels[] = {"--file",         "--model",  "--schemes", "--output",
                                            "--test-lengths", "--stride", "--scored",  "--threads",
                                            "--format",       "--json",   "--picture"};
  constexpr std::string_view kOfTraining[] = {"--train-length", "--batch-size", "--seed",
                                              "--minutes",      "--steps",      "--seeds",
                                              "--rate",         "--dropout",    "--held-out"};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames()[0];
    if (std::ranges::find(kOfModels, name) != std::end(kOfModels)) continue;
    if (std::ranges::find(kOfTraining, name) != std::end(kOfTraining)) {
      if (trains()) continue;
      throw Error("extrapolate." + name.substr(2),
                  "must be given with --steps or --minutes, which train the model further");
    }
    throw Error("extrapolate.model",
                "must not be combined with " + name + ": the model is trained");
  }
  for (const ExtrapolationScheme& each : run.schemes) {
    check_replacement(each.schemes, "extrapolate.schemes");
  }
}

void ExtrapolateOptions::train_further(const CLI::App& command, const TextModel& trained) {
  const std::int64_t length = run.data.length;
  sextant::train_further(run, trained);
  if (command.count("--train-length") > 0) run.data.length = length;
  if (command.count("--rate") == 0) run.learning_rate = kFurtherRate;
}

void ExtrapolateOptions::check(const CLI::App& command) const {
  check_lengths(run, [](std::string_view name) { return "extrapolate." + dashed(name).substr(2); });
  output.format(kScoreFormats, "extrapolate");
  if (!picture.empty()) format_of_path(picture, kPictureFormats, "extrapolate.picture");
  if (!model.folders.empty()) check_of_model(command);
  if (!trains()) return;
  const bool steps = command.count("--steps") > 0, minutes = command.count("--minutes") > 0;
  if (!steps && !minutes) throw CLI::RequiredError("--minutes or --steps");
  if (steps && minutes) {
    throw Error("extrapolate.steps", "must not be given together with --minutes");
  }
  if (run.steps == 0 && run.minutes == 0) {
    throw Error(steps ? "extrapolate.steps" : "extrapolate.minutes", "must be above 0, got 0");
  }
  if (model.folders.empty() && run.model.width % run.model.heads != 0) {
    throw Error("extrapolate.heads", "must divide --width " + std::to_string(run.model.width) +
                                         ", got " + std::to_string(run.model.heads));
  }
}

}  // namespace sextant::app

// Options of `sextant extrapolate`, with defaults for two cores.
#include "training/extrapolate_options.h"

#include "experiments/extrapolation_fields.h"
#include "experiments/extrapolation_plan.h"
#include "options/field_options.h"
#include "options/scheme_text.h"
#include "sextant/core/error.h"
#include "sextant/figures/named_scheme.h"
#include "text/tokenizer_fields.h"

namespace sextant::app {
namespace {

constexpr Format kPictureFormats[] = {Format::svg, Format::png, Format::html};
constexpr const char* kSchemes = "none,sinusoidal,learned,rotary,alibi,t5,kerple";

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

std::vector<ExtrapolationScheme> schemes_of(const std::string& text) {
  std::vector<ExtrapolationScheme> schemes;
  for (PositionSchemes& list : parse_position_lists(with_full_names(text), "extrapolate.schemes")) {
    std::string label;
    for (const auto& [scheme, parameters] : list) {
      label += (label.empty() ? "" : "+") + figures::NamedScheme{scheme, parameters}.label();
    }
    schemes.push_back({label, std::move(list)});
  }
  return schemes;
}

}  // namespace

void ExtrapolateOptions::add_to(CLI::App& command) {
  run.folder = "extrapolation";
  run.schemes = schemes_of(kSchemes);
  run.test_lengths = {128, 256, 512, 1024};
  run.data = {.length = 128, .batch_size = 16};
  run.model.width = 128;
  run.model.heads = 4;
  run.model.layers = 4;

  command.add_option("--text", texts, "one or more files of text")
      ->type_name("FILE ...")
      ->required();
  command
      .add_option("-o,--output", run.folder,
                  "the experiment's folder, created if needed (default extrapolation)")
      ->type_name("DIR");
  command
      .add_option_function<std::string>(
          "--schemes", [this](const std::string& given) { run.schemes = schemes_of(given); },
          std::string("schemes with their parameters, such as rotary,rotary:base=500000,rotary+t5; "
                      "kerple is "
                      "kerple_log (default ") +
              kSchemes + ")")
      ->type_name("LIST");
  output.add_formats(command, kScoreFormats);
  command
      .add_option(
          "--picture", picture,
          "also save the picture in this file (.svg .png .html); the folder has extrapolation.svg")
      ->type_name("FILE");

  const std::vector<Wording> budget = {{.field = "test_lengths", .group = "Options"},
                                       {.field = "minutes", .group = "Options"},
                                       {.field = "steps", .group = "Options"},
                                       {.field = "stride", .group = "Scoring"},
                                       {.field = "scored", .group = "Scoring"},
                                       {.field = "learning_rate", .option = "--rate"}};
  const auto task =
      only<LanguageTaskOptions>({{.field = "length",
                                  .option = "--train-length",
                                  .meaning = "tokens of a sequence, at least 2",
                                  .group = "Options"},
                                 {.field = "batch_size", .meaning = "sequences per step"},
                                 {.field = "seed", .meaning = "of weights, order and dropout"}});
  add_fields(command, run.data, "Training", task);
  add_fields(command, run, "Training", budget);
  const Wording held_out[] = {
      {.field = "held_out",
       .meaning = "fraction of each text, at its end, that is scored and not trained on"}};
  add_fields(command, data, "Scoring", held_out);
  add_fields(
      command, run.model, "The model",
      only<TransformerConfig>({{.field = "width"}, {.field = "heads"}, {.field = "layers"}}));
  add_fields(command, data.tokenizer, "The model",
             only<TokenizerTraining>(
                 {{.field = "kind", .option = "--tokenizer"},
                  {.field = "vocabulary_size",
                   .option = "--vocabulary",
                   .default_text = "0; " + std::to_string(kSmallVocabulary) + " sub-words"}}));
}

void ExtrapolateOptions::check(const CLI::App& command) const {
  const bool steps = command.count("--steps") > 0, minutes = command.count("--minutes") > 0;
  if (!steps && !minutes) throw CLI::RequiredError("--minutes or --steps");
  if (steps && minutes) {
    throw Error("extrapolate.steps", "must not be given together with --minutes");
  }
  if (run.steps == 0 && run.minutes == 0) {
    throw Error(steps ? "extrapolate.steps" : "extrapolate.minutes", "must be above 0, got 0");
  }
  check_lengths(run, [](std::string_view name) { return "extrapolate." + dashed(name).substr(2); });
  if (run.model.width % run.model.heads != 0) {
    throw Error("extrapolate.heads", "must divide --width " + std::to_string(run.model.width) +
                                         ", got " + std::to_string(run.model.heads));
  }
  output.format(kScoreFormats, "extrapolate");
  if (!picture.empty()) format_of_path(picture, kPictureFormats, "extrapolate.picture");
}

}  // namespace sextant::app

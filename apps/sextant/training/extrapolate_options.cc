// Options of `sextant extrapolate`, with defaults for two cores.
#include "training/extrapolate_options.h"

#include <algorithm>

#include "positions/scheme_list.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

namespace sextant::app {
namespace {

constexpr Format kPictureFormats[] = {Format::svg, Format::png, Format::html};
constexpr const char* kSchemes = "none,sinusoidal,learned,rotary,alibi,t5,kerple";

// "kerple" is its logarithmic form, which its authors found best.
std::string with_full_names(std::string text) {
  constexpr std::string_view kShort = "kerple";
  for (std::size_t at = 0; (at = text.find(kShort, at)) != std::string::npos; at += 1) {
    const std::size_t end = at + kShort.size();
    const bool begins = at == 0 || text[at - 1] == ',';
    const bool ends = end == text.size() || text[end] == ',' || text[end] == ':';
    if (begins && ends) text.replace(at, kShort.size(), "kerple_log");
  }
  return text;
}

std::vector<ExtrapolationScheme> schemes_of(const std::string& text) {
  std::vector<ExtrapolationScheme> schemes;
  for (const figures::NamedScheme& named :
       parse_schemes(with_full_names(text), "extrapolate.schemes")) {
    schemes.push_back({named.label(), {{named.scheme, named.parameters}}});
  }
  return schemes;
}

// Adds options of one group that read one text each.
struct Adder {
  CLI::App& command;
  std::string group;

  template <class Read>
  void text(const std::string& name, const std::string& type, const std::string& meaning,
            const Read& read) const {
    command
        .add_option_function<std::string>(
            name,
            [read, where = "extrapolate." + name.substr(2)](const std::string& given) {
              read(given, where);
            },
            meaning)
        ->type_name(type)
        ->group(group);
  }
  template <class T>
  void integer(const std::string& name, T& value, std::int64_t least, std::int64_t most,
               const std::string& meaning) const {
    add_integer(command, name, value, least, most, meaning)->group(group);
  }
  // In (least, below), or [least, below) where `above` is false.
  void real(const std::string& name, double& value, bool above, double below,
            const std::string& meaning) const {
    text(name, "X", meaning,
         [&value, above, below](const std::string& given, const std::string& where) {
           value = parse_finite(given, where, 0, above);
           if (value < below) return;
           throw Error(where, "must be below " + shortest(below) + ", got " + given);
         });
  }
};

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
  const Adder plain{command, "Options"};
  plain.text(
      "--schemes", "LIST",
      std::string("schemes with their parameters, such as rotary,rotary:base=500000; kerple is "
                  "kerple_log (default ") +
          kSchemes + ")",
      [this](const std::string& given, const std::string&) { run.schemes = schemes_of(given); });
  plain.integer("--train-length", run.data.length, 2, kMostSize, "tokens (default 128)");
  plain.text("--test-lengths", "LIST", "tokens, in ascending order (default 128,256,512,1024)",
             [this](const std::string& given, const std::string& where) {
               run.test_lengths = parse_int64_list(given, where, 1000);
             });
  plain.real("--minutes", run.minutes, true, 1e6,
             "time for all schemes together, scoring included; it determines the number of steps");
  plain.integer("--steps", run.steps, 1, kMostInteger,
                "steps of each scheme, instead of --minutes");
  output.add_formats(command, kScoreFormats);
  command
      .add_option(
          "--picture", picture,
          "also save the picture in this file (.svg .png .html); the folder has extrapolation.svg")
      ->type_name("FILE");

  const Adder scoring{command, "Scoring"};
  scoring.integer("--stride", run.stride, 1, kMostSize,
                  "how far a sliding window moves, and how many of its tokens are scored (default "
                  "32); 1: full context for every token, slow");
  scoring.integer("--scored", run.scored, 1, kMostInteger,
                  "at most so many tokens of the held-out text (default 16384)");
  scoring.real(
      "--held-out", held_out, true, 1,
      "fraction of each text, at its end, that is scored and not trained on (default 0.1)");

  const Adder model{command, "The model"};
  model.integer("--width", run.model.width, 1, 1 << 16, "of embeddings and layers (default 128)");
  model.integer("--heads", run.model.heads, 1, 1 << 16, "divides the width (default 4)");
  model.integer("--layers", run.model.layers, 1, 1000, "(default 4)");
  model.text("--tokenizer", "KIND", "word | character | subword (default character)",
             [this](const std::string& given, const std::string& where) {
               tokenizer.kind = parse_name<TokenizerKind>(given, where);
             });
  model.integer("--vocabulary", tokenizer.vocabulary_size, 5, 1000000,
                "largest size (default: all words or characters; 2000 sub-words)");

  const Adder training{command, "Training"};
  training.integer("--batch-size", run.data.batch_size, 1, kMostSize,
                   "sequences per step (default 16)");
  training.real("--rate", run.learning_rate, true, 1e6,
                "highest learning rate; it falls by a cosine to a tenth (default 0.002)");
  training.real("--dropout", run.dropout, false, 1, "(default 0)");
  training.integer("--seed", run.data.seed, 0, kMostSeed,
                   "of weights, order and dropout, 0 .. 2^32 - 1 (default 0)");
  training.integer("--threads", run.threads, 0, kMaxThreads,
                   "0: all cores (default 0); results have the same bits for any number");
}

void ExtrapolateOptions::check() const {
  if (run.steps == 0 && run.minutes == 0) throw CLI::RequiredError("--minutes or --steps");
  if (run.steps > 0 && run.minutes > 0) {
    throw Error("extrapolate.steps", "must not be given together with --minutes");
  }
  const auto& lengths = run.test_lengths;
  if (lengths.empty() || lengths.front() < 2 ||
      std::adjacent_find(lengths.begin(), lengths.end(), std::greater_equal<>()) != lengths.end()) {
    throw Error("extrapolate.test-lengths", "must be at least 2 and ascending");
  }
  if (run.stride > lengths.front()) {
    throw Error("extrapolate.stride", "must be at most the shortest test length, " +
                                          std::to_string(lengths.front()) + ", got " +
                                          std::to_string(run.stride));
  }
  if (run.model.width % run.model.heads != 0) {
    throw Error("extrapolate.heads", "must divide --width " + std::to_string(run.model.width) +
                                         ", got " + std::to_string(run.model.heads));
  }
  output.format(kScoreFormats, "extrapolate");
  if (!picture.empty()) format_of_path(picture, kPictureFormats, "extrapolate.picture");
}

}  // namespace sextant::app

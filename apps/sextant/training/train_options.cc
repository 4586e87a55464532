// Options as changes to a plan of defaults.
#include "training/train_options.h"

#include <algorithm>
#include <type_traits>

#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

namespace sextant::app {

// Adds options of one group; `field` gives the part of a plan that one is about.
struct TrainOptionAdder {
  CLI::App& command;
  TrainOptions& to;
  std::string group;
  std::string kinds = {};  // the tasks that have these options; empty: all

  using Reader = std::function<std::function<void(TrainingPlan&)>(const std::string&)>;
  void add(const std::string& name, const std::string& type, const std::string& meaning,
           const Reader& reader) const {
    to.kinds_[name] = kinds;
    command
        .add_option_function<std::string>(
            name,
            [options = &to, reader](const std::string& text) {
              options->given_.push_back(reader(text));
            },
            meaning)
        ->type_name(type)
        ->group(group);
  }

  template <class Field>
  void integer(const std::string& name, std::int64_t least, std::int64_t most, Field field,
               const std::string& meaning) const {
    add(name, "N", meaning, [=, where = "train." + name.substr(2)](const std::string& text) {
      const std::int64_t value = parse_integer(text, where, least, most);
      return [field, value](TrainingPlan& plan) {
        field(plan) = static_cast<std::remove_reference_t<decltype(field(plan))>>(value);
      };
    });
  }

  // In [least, below), without `least` itself when `above` is true.
  template <class Field>
  void real(const std::string& name, double least, double below, bool above, Field field,
            const std::string& meaning) const {
    add(name, "X", meaning, [=, where = "train." + name.substr(2)](const std::string& text) {
      const double value = parse_finite(text, where, least, above);
      if (!(value < below)) {
        throw Error(where, "must be below " + shortest(below) + ", got " + text);
      }
      return [field, value](TrainingPlan& plan) { field(plan) = value; };
    });
  }

  template <class Parse, class Field>
  void word(const std::string& name, Parse parse, Field field, const std::string& meaning) const {
    add(name, "NAME", meaning, [=, where = "train." + name.substr(2)](const std::string& text) {
      const auto value = parse(text, where);
      return [field, value](TrainingPlan& plan) { field(plan) = value; };
    });
  }

  template <class Field>
  void flag(const std::string& name, bool value, Field field, const std::string& meaning) const {
    to.kinds_[name] = kinds;
    command
        .add_flag_function(
            name,
            [options = &to, field, value](std::int64_t) {
              options->given_.emplace_back(
                  [field, value](TrainingPlan& plan) { field(plan) = value; });
            },
            meaning)
        ->group(group);
  }
};

namespace {

constexpr double kAnyNumber = 1e300;
constexpr const char* kPairTasks = "translate dates";
constexpr const char* kTextTasks = "lm mlm";

// Makes "[&](TrainingPlan& p) -> T& { return p.settings.model.width; }" short.
#define SEXTANT_FIELD(name) \
  [](TrainingPlan & plan) -> auto& { return plan.name; }

constexpr const char* kModel = "The model";

void add_model_options(CLI::App& command, TrainOptions& to) {
  const TrainOptionAdder model{command, to, kModel};
  model.integer("--width", 1, 1 << 16, SEXTANT_FIELD(settings.model.width),
                "of embeddings and layers (default 192; translate 256, dates 64)");
  model.integer("--heads", 1, 1 << 16, SEXTANT_FIELD(settings.model.heads),
                "of attention; divides the width (default 6; translate 8, dates 4)");
  model.integer("--heads-k", 1, 1 << 16, SEXTANT_FIELD(settings.model.heads_k),
                "of keys and values; divides the heads (default: the heads)");
  model.integer("--layers", 1, 1000, SEXTANT_FIELD(settings.model.layers),
                "of the decoder, or of the only stack (default 4; translate 3, dates 2)");
  model.integer("--hidden", 1, kMostSize, SEXTANT_FIELD(settings.model.hidden),
                "width inside feed-forward layers (default 4 times the width)");
  model.word("--activation", parse_name<Activation>, SEXTANT_FIELD(settings.model.activation),
             "relu | gelu | gelu_tanh | silu | swiglu (default gelu)");
  model.word("--norm", parse_name<NormKind>, SEXTANT_FIELD(settings.model.norm),
             "layer | rms (default layer)");
  model.flag("--post-norm", false, SEXTANT_FIELD(settings.model.pre_norm),
             "norms after each block, as in Vaswani et al. 2017, instead of before it");
  model.flag("--no-bias", false, SEXTANT_FIELD(settings.model.bias), "linear maps without bias");
  model.flag("--untied", false, SEXTANT_FIELD(settings.model.tied),
             "a separate matrix for the logits instead of the embedding");
  const TrainOptionAdder pairs{command, to, kModel, kPairTasks};
  pairs.integer("--encoder-layers", 1, 1000, SEXTANT_FIELD(settings.model.encoder_layers),
                "translate, dates: of the encoder (default: the layers)");
  pairs.flag("--pointer", true, SEXTANT_FIELD(settings.model.pointer),
             "translate, dates: the model may copy tokens of the source");
}

void add_data_options(CLI::App& command, TrainOptions& to) {
  const TrainOptionAdder data{command, to, "The data"};
  data.integer("--length", 1, kMostSize, SEXTANT_FIELD(settings.length),
               "tokens per sequence; longer sides of pairs are cut (default 128)");
  data.real("--held-out", 0, 1, true, SEXTANT_FIELD(settings.held_out),
            "fraction of the data that is held out for validation: the end of each text, random "
            "pairs (default 0.1)");
  data.word("--tokenizer", parse_name<TokenizerKind>, SEXTANT_FIELD(settings.tokenizer.kind),
            "word | character | subword (default character; mlm, translate: subword)");
  data.integer("--vocabulary", 5, 1000000, SEXTANT_FIELD(settings.tokenizer.vocabulary_size),
               "largest size (default: all words or characters; 4000 sub-words, translate 12000)");
  data.flag("--lower-case", true, SEXTANT_FIELD(settings.tokenizer.lower_case),
            "lower-case the text first");
  data.integer("--min-count", 1, kMostInteger, SEXTANT_FIELD(settings.tokenizer.minimum_count),
               "rarer words and characters are unknown (default 1)");
  const TrainOptionAdder masked{command, to, "The data", "mlm"};
  masked.real("--masked", 0, 1, true, SEXTANT_FIELD(settings.masked),
              "mlm: fraction of the tokens to predict (default 0.15)");
}

void add_step_options(CLI::App& command, TrainOptions& to) {
  const TrainOptionAdder steps{command, to, "The steps"};
  steps.integer("--steps", 1, kMostInteger, SEXTANT_FIELD(trainer.steps),
                "how many (dates: default 600)");
  steps.real("--minutes", 0, kAnyNumber, true, SEXTANT_FIELD(trainer.minutes),
             "wall time across resumed runs; with --steps: whichever ends first");
  steps.integer("--patience", 1, kMostInteger, SEXTANT_FIELD(trainer.patience),
                "end after N validations without a new best loss");
  steps.integer("--batch", 1, kMostSize, SEXTANT_FIELD(settings.batch),
                "sequences or pairs per step (default 32; translate, dates 64)");
  steps.integer("--parts", 1, kMostSize, SEXTANT_FIELD(settings.parts),
                "batches per step: less memory, the same sums (default 1)");
  steps.real("--rate", 0, kAnyNumber, true, SEXTANT_FIELD(trainer.schedule.peak),
             "highest learning rate (default 0.001; dates 0.003)");
  steps.integer("--warmup", 0, kMostInteger, SEXTANT_FIELD(trainer.schedule.warmup),
                "steps of linear warm-up (default 100, translate 400; at most a tenth of --steps)");
  steps.word("--decay", parse_name<Decay>, SEXTANT_FIELD(trainer.schedule.decay),
             "constant | inverse_square_root | cosine: the rate after the warm-up (default cosine "
             "to 1/20 with --steps, else inverse_square_root)");
  steps.real("--weight-decay", 0, kAnyNumber, false, SEXTANT_FIELD(trainer.optimiser.weight_decay),
             "of AdamW (default 0.1; dates 0.01)");
  steps.real("--clip", 0, kAnyNumber, false, SEXTANT_FIELD(trainer.optimiser.clip_norm),
             "largest norm of the gradients; 0: no limit (default 1)");
  steps.real("--dropout", 0, 1, false, SEXTANT_FIELD(trainer.dropout),
             "(default 0.1; translate 0.3, dates 0)");
  steps.real("--word-dropout", 0, 1, false, SEXTANT_FIELD(trainer.word_dropout),
             "fraction of the words whose vectors are hidden in a step (default 0)");
  steps.real("--smoothing", 0, 1, false, SEXTANT_FIELD(settings.smoothing),
             "label smoothing (default 0; translate 0.1)");
  steps.integer("--seed", 0, kMostSeed, SEXTANT_FIELD(trainer.seed),
                "of weights, order and dropout, 0 .. 2^32 - 1 (default 0)");
  steps.integer("--threads", 0, kMostThreads, SEXTANT_FIELD(trainer.threads),
                "0: all cores (default 0); results have the same bits for any number");
  steps.integer("--validate-every", 1, kMostInteger, SEXTANT_FIELD(trainer.validate_every),
                "steps (default 250; dates 200)");
  steps.integer("--checkpoint-every", 1, kMostInteger, SEXTANT_FIELD(trainer.checkpoint_every),
                "steps (default: every five minutes, at the best validations and at the end)");
}
#undef SEXTANT_FIELD

PairAugmentation parse_augmentation(const std::string& text, const std::string& where) {
  PairAugmentation how;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    bool* const one = name == "turn"      ? &how.turn
                      : name == "shuffle" ? &how.shuffle
                      : name == "replace" ? &how.replace
                      : name == "join"    ? &how.join
                                          : nullptr;
    if (one == nullptr) {
      throw Error(where, "must be of turn, shuffle, replace, join, separated by commas, got '" +
                             text + "'");
    }
    *one = true;
    begin = end + 1;
  }
  return how;
}

std::string why_it_cannot_learn(const Scheme& scheme) {
  return scheme.name == "forgetting" ? "must be one whose weights do not depend on the tokens" : "";
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether an option says what the model and its tokenizer are like. Those of a scheme's parameters
// are in no group.
bool is_about_model(const CLI::Option& option, const std::string& name) {
  const std::string& group = option.get_group();
  return group.empty() || group == kSchemeGroup || (group == kModel && name != "--from") ||
         is_one_of(name, {"--tokenizer", "--vocabulary", "--lower-case", "--min-count"});
}

}  // namespace

void TrainOptions::add_to(CLI::App& command) {
  command.add_option("KIND", kind,
                     "lm: the next token of a text; mlm: hidden tokens of a text; translate: pairs "
                     "of sentences; dates: a small built-in task");
  command.add_option("-o,--output", folder, "the run's folder, created if needed")
      ->type_name("DIR");
  command.add_flag("--resume", resume,
                   "continue the run in -o with its settings; only --steps, --minutes and "
                   "--patience may change");
  command.add_flag("--json", json, "the result as one JSON object");
  constexpr const char* kData = "The data";
  command.add_option("--text", texts_, "lm, mlm: one or more files of text")
      ->type_name("FILE ...")
      ->group(kData);
  command
      .add_option("--pairs", pairs_, "translate: one pair per line, two columns separated by a tab")
      ->type_name("FILE.tsv")
      ->group(kData);
  command.add_option("--valid", valid_, "translate: the held-out pairs (default: as --held-out)")
      ->type_name("FILE.tsv")
      ->group(kData);
  kinds_ = {{"--text", kTextTasks},
            {"--pairs", "translate"},
            {"--valid", "translate"},
            {"--from", "lm mlm translate"}};
  const TrainOptionAdder pairs{command, *this, kData, "translate"};
  pairs.flag(
      "--reverse", true, [](TrainingPlan & plan) -> auto& { return plan.settings.reverse; },
      "translate from the second column to the first");
  pairs.word(
      "--augment", parse_augmentation,
      [](TrainingPlan & plan) -> auto& { return plan.settings.augment; },
      "translate, if both sides are the same language: more pairs, by one or more of turn (both "
      "directions), shuffle (each target with its own words in a disturbed order), replace (words "
      "that both sides share are replaced) and join (each pair with the next), separated by "
      "commas");
  pairs.real(
      "--subword-dropout", 0, 1, false,
      [](TrainingPlan & plan) -> auto& { return plan.settings.subword_dropout; },
      "translate: fraction of the sub-words that are split into smaller ones, different in each "
      "epoch (default 0)");
  add_data_options(command, *this);
  command
      .add_option("--from", from_, "start from this trained model and its tokenizer, on any data")
      ->type_name("DIR")
      ->group(kModel);
  add_model_options(command, *this);
  add_step_options(command, *this);
  choice_.add_to(command, "rotary", why_it_cannot_learn);
}

void TrainOptions::check(const CLI::App& command) const {
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  if (!kind.empty() && !is_training_kind(kind)) {
    throw CLI::ValidationError("KIND",
                               "must be one of lm, mlm, translate, dates, got '" + kind + "'");
  }
  if (kind.empty() && !resume) throw CLI::RequiredError("KIND (lm, mlm, translate or dates)");
  if (folder.empty()) throw CLI::RequiredError("--output");
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    // CLI11's get_name() is empty where help leaves an option out.
    const auto& names = option->get_lnames();
    const std::string name = names.empty() ? option->get_name() : "--" + names.front();
    const std::string where = "train." + name.substr(name.find_first_not_of('-'));
    if (resume && !is_one_of(name, {"KIND", "--output", "--resume", "--json", "--steps",
                                    "--minutes", "--patience", "--threads"})) {
      throw Error(where, "must not be given with --resume: the run keeps its settings");
    }
    if (!from_.empty() && is_about_model(*option, name)) {
      throw Error(where, "must not be given with --from: the model keeps its sizes");
    }
    const auto kinds = kinds_.find(name);
    if (resume || kinds == kinds_.end() || kinds->second.empty()) continue;
    if ((" " + kinds->second + " ").find(" " + kind + " ") == std::string::npos) {
      throw Error(where, "must be given with " + kinds->second + " only, got it with " + kind);
    }
  }
  if (resume) return;
  if ((kind == "lm" || kind == "mlm") && texts_.empty()) {
    throw CLI::RequiredError("--text");
  }
  if (kind == "translate" && pairs_.empty()) throw CLI::RequiredError("--pairs");
  if (given("--valid") && given("--held-out")) {
    throw Error("train.held-out", "must not be given with --valid, which is the held-out data");
  }
  if (kind != "dates" && !given("--steps") && !given("--minutes")) {
    throw CLI::RequiredError("--steps or --minutes");
  }
  if (!choice_.weights_file.empty()) {
    throw Error("train.scheme-weights", "must not be given: training learns them");
  }
  choice_.check();
}

TrainingPlan TrainOptions::plan(const CLI::App& command) const {
  if (resume) {
    TrainingPlan plan = read_plan(folder);
    if (!kind.empty() && kind != plan.settings.kind) {
      throw Error("train.kind",
                  "must be " + plan.settings.kind + " as in " + folder + ", got " + kind);
    }
    for (const auto& change : given_) change(plan);
    return plan;
  }
  TrainingPlan plan = default_plan(kind);
  for (const auto& change : given_) change(plan);
  TrainingSettings& settings = plan.settings;
  for (const std::string& path : texts_) settings.files.push_back(data_file(path));
  if (!pairs_.empty()) settings.files.push_back(data_file(pairs_));
  if (!valid_.empty()) settings.valid.push_back(data_file(valid_));
  if (!from_.empty()) settings.from.push_back(data_file(from_));
  settings.model.scheme = choice_.scheme;
  settings.model.scheme_parameters = choice_.parameters;
  complete_plan(plan,
                {.decay = command.count("--decay") > 0, .warmup = command.count("--warmup") > 0});
  return plan;
}

}  // namespace sextant::app

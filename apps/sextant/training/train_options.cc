// Options as changes to a plan of defaults.
#include "training/train_options.h"
#include "options/file_arguments.h"

#include <algorithm>

#include "options/choices.h"
#include "options/field_options.h"
#include "options/options.h"
#include "options/scheme_text.h"
#include "sextant/core/error.h"
#include "sextant/core/names.h"

namespace sextant::app {

namespace {

std::string why_it_cannot_learn(const Scheme& scheme) {
  return scheme.weights_of_tokens ? "must be one whose weights do not depend on the tokens" : "";
}

LayerSchemes parse_layers(std::string_view text) {
  const std::string where = "train.layer-schemes";
  const auto equals = text.find('=');
  if (equals == text.npos) {
    throw Error(where, "must be layers and schemes, as in 0,2=rotary+window:left=127, got '" +
                           std::string(text) + "'");
  }
  LayerSchemes some{read_option<std::vector<std::int64_t>>(text.substr(0, equals), where),
                    parse_position_schemes(text.substr(equals + 1), where)};
  for (const auto& [name, parameters] : some.schemes) {
    const Scheme& scheme = find_scheme(name);
    const std::string why = why_it_cannot_learn(scheme);
    if (!why.empty()) throw Error(where, why + ", got '" + name + "'");
    check_parameters(scheme, parameters, where);
  }
  return some;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

template <class Options>
void TrainOptions::add(CLI::App& command, const PlanPart<Options>& part) {
  for (const Wording& word : part.words) {
    kinds_[word.option.empty() ? dashed(word.field) : word.option] = word.tasks;
  }
  if (std::is_same_v<Options, TransformerConfig> || std::is_same_v<Options, TokenizerTraining>) {
    of_model_.merge(option_names<Options>(part.words));
  }
  if (std::is_same_v<Options, TokenizerTraining>) of_tokenizer_ = option_names<Options>(part.words);
  add_fields<Options>(command, defaults_of(part), part.group, part.words,
                      [this, of = part.of](const auto& change) {
                        given_.push_back([change, of](TrainingPlan& plan) { change(of(plan)); });
                      });
}

void TrainOptions::add_to(CLI::App& command) {
  offer(command.add_option("KIND", kind,
                           "lm: the next token of a text; mlm: masked tokens of a text; translate: "
                           "pairs of sentences; dates, copy, reverse, sort: small built-in tasks"),
        {std::begin(kTrainingKinds), std::end(kTrainingKinds)});
  output_file(command.add_option("-o,--output", folder, "the run's folder, created if needed"),
              "DIR");
  command.add_flag("--resume", resume,
                   "continue the run in -o with its settings; only --steps, --epochs, --minutes, "
                   "--patience and the paths of its data may change");
  command.add_flag("--json", json, "print the result as one JSON object");
  command.add_flag("--json-lines", json_lines,
                   "print every step's metrics as a line of JSON, as in metrics.jsonl, and the "
                   "result as the last line");
  input_file(command.add_option("--file", texts_,
                                "lm, mlm: one or more files of text, or one of tokens (`sextant "
                                "tokenize -o NAME.safetensors`)"),
             "FILE ...")
      ->group(kData);
  input_file(command.add_option("--pairs", pairs_,
                                "translate: one pair per line, two columns separated by a tab"),
             "FILE.tsv")
      ->group(kData);
  input_file(command.add_option("--valid", valid_,
                                "translate: the held-out pairs (default: as --held-out)"),
             "FILE.tsv")
      ->group(kData);
  kinds_ = {{"--file", kTextTasks},
            {"--pairs", "translate"},
            {"--valid", "translate"},
            {"--from", "lm mlm translate"},
            {"--tokenizer-from", "lm mlm translate"},
            {"--context-parallel", kTextTasks}};
  kinds_["--augment"] = "translate";
  command
      .add_option_function<std::string>(
          "--augment",
          [this](const std::string& text) {
            given_.push_back([how = parse_augmentation(text, "train.augment")](TrainingPlan& plan) {
              plan.settings.augment = how;
            });
          },
          "translate, if both sides are in the same language: add pairs, by one or more of swap "
          "(the other direction), shuffle (the source is the target in slightly changed order), "
          "replace (other words in place of those that both sides share) and join (each pair with "
          "the next), separated by commas")
      ->type_name("NAMES")
      ->group(kData);
  input_file(
      command.add_option("--from", from_,
                         "start from this trained model and its tokenizer; the data may be new"),
      "DIR")
      ->group(kModel);
  input_file(command.add_option("--tokenizer-from", tokenizer_from_,
                                "use the tokenizer of this folder (a model's, or written by "
                                "Tokenizer::save()) instead of training one"),
             "DIR")
      ->group(kModel);
  each_part([this, &command](const auto& part) { add(command, part); });
  add_integer(
      command, "--context-parallel", context_parallel, 1, kMaxInteger,
      "lm, mlm, under mpirun: divide each sequence among N neighbouring ranks, for sequences whose "
      "activations do not fit on one rank (a divisor of the ranks; default 1)")
      ->group(kSteps);
  choice_.add_to(command, "rotary", why_it_cannot_learn, true);
  command
      .add_option_function<std::vector<std::string>>(
          "--layer-schemes",
          [this](const std::vector<std::string>& texts) {
            layer_schemes_.clear();
            for (const std::string& text : texts) layer_schemes_.push_back(parse_layers(text));
          },
          "lm, mlm: layers, counted from 0, and their schemes instead of --scheme, such as "
          "0,2=rotary+window:left=127; may be repeated")
      ->allow_extra_args(false)
      ->type_name("L=NAME")
      ->group(kSchemeGroup);
  command
      .add_option_function<std::string>(
          "--decoder-scheme",
          [this](const std::string& text) {
            auto lists = parse_position_lists(text, "train.decoder-scheme");
            if (lists.size() != 1) {
              throw Error("train.decoder-scheme",
                          "must be one scheme, or several joined by +, got " + text);
            }
            decoder_schemes_ = std::move(lists.front());
          },
          "translate and the built-in tasks: the decoder's schemes if they differ from --scheme, "
          "such as t5:bidirectional=no")
      ->type_name("NAME")
      ->group(kSchemeGroup);
  kinds_["--decoder-scheme"] = kPairTasks;
  print_call.add_to(command);
}

void TrainOptions::check(const CLI::App& command) const {
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  if (!kind.empty() && !is_training_kind(kind)) {
    find_name(std::vector<std::string_view>(std::begin(kTrainingKinds), std::end(kTrainingKinds)),
              kind, "train.kind");
  }
  if (kind.empty() && !resume) throw CLI::RequiredError("KIND (" + training_kinds() + ")");
  if (folder.empty()) throw CLI::RequiredError("--output");
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    // CLI11's get_name() is empty where help leaves an option out.
    const auto& names = option->get_lnames();
    const std::string name = names.empty() ? option->get_name() : "--" + names.front();
    const std::string where = "train." + name.substr(name.find_first_not_of('-'));
    if (resume &&
        !is_one_of(name, {"KIND", "--output", "--resume", "--json", "--json-lines", "--steps",
                          "--epochs", "--minutes", "--patience", "--threads", "--file", "--pairs",
                          "--valid", "--context-parallel", "--print-call"})) {
      throw Error(where, "must not be given with --resume: the run keeps its settings");
    }
    // Those of a scheme's parameters are in no group.
    const bool of_scheme = option->get_group().empty() || option->get_group() == kSchemeGroup;
    if (!from_.empty() && (of_scheme || of_model_.contains(name))) {
      throw Error(where, "must not be given with --from: the model keeps its sizes");
    }
    if (!tokenizer_from_.empty() && (name == "--from" || of_tokenizer_.contains(name))) {
      throw Error(where, "must not be given with --tokenizer-from");
    }
    const auto kinds = kinds_.find(name);
    if (resume || kinds == kinds_.end() || kinds->second.empty()) continue;
    if ((" " + kinds->second + " ").find(" " + kind + " ") == std::string::npos) {
      throw Error(where, "must be given with " + kinds->second + " only, got it with " + kind);
    }
  }
  if (resume) return;
  if ((kind == "lm" || kind == "mlm") && texts_.empty()) {
    throw CLI::RequiredError("--file");
  }
  if (kind == "translate" && pairs_.empty()) throw CLI::RequiredError("--pairs");
  if (given("--valid") && given("--held-out")) {
    throw Error("train.held-out", "must not be given with --valid, which is the held-out data");
  }
  if (!is_built_in(kind) && !given("--steps") && !given("--epochs") && !given("--minutes")) {
    throw CLI::RequiredError("--steps, --epochs or --minutes");
  }
  if (!choice_.weights_file.empty()) {
    throw Error("train.scheme-weights", "must not be given: training learns them");
  }
  choice_.check();
}

// Moves the files of a resumed run.
void TrainOptions::move_files(TrainingPlan& plan) const {
  TrainingSettings& settings = plan.settings;
  const auto check_kind = [&settings](const char* where, bool fits) {
    if (!fits) throw Error(where, "must not be given for a run of " + settings.kind);
  };
  if (!texts_.empty()) {
    check_kind("train.file", !settings.is_pairs());
    move_data(settings.files, texts_, "train.file");
  }
  if (!pairs_.empty()) {
    check_kind("train.pairs", settings.kind == "translate");
    move_data(settings.files, {pairs_}, "train.pairs");
  }
  if (!valid_.empty()) {
    check_kind("train.valid", settings.kind == "translate");
    move_data(settings.valid, {valid_}, "train.valid");
  }
}

TrainingPlan TrainOptions::plan(const CLI::App& command) const {
  if (resume) {
    TrainingPlan plan = read_plan(folder);
    if (!kind.empty() && kind != plan.settings.kind) {
      throw Error("train.kind",
                  "must be " + plan.settings.kind + " as in " + folder + ", got " + kind);
    }
    for (const auto& change : given_) change(plan);
    move_files(plan);
    return plan;
  }
  TrainingPlan plan = default_plan(kind);
  for (const auto& change : given_) change(plan);
  TrainingSettings& settings = plan.settings;
  for (const std::string& path : texts_) settings.files.push_back(data_file(path));
  if (!pairs_.empty()) settings.files.push_back(data_file(pairs_));
  if (!valid_.empty()) settings.valid.push_back(data_file(valid_));
  if (!from_.empty()) settings.from.push_back(data_file(from_));
  if (!tokenizer_from_.empty()) settings.tokenizer_from.push_back(data_file(tokenizer_from_));
  settings.model.schemes = choice_.positions();
  settings.model.layer_schemes = layer_schemes_;
  settings.model.decoder_schemes = decoder_schemes_;
  if (plan.trainer.steps == 0 && plan.trainer.minutes == 0 && plan.epochs.epochs == 0) {
    throw Error("train.steps", "must be above 0 when there are no --epochs or --minutes");
  }
  fill_defaults(plan,
                {.decay = command.count("--decay") > 0, .warmup = command.count("--warmup") > 0});
  return plan;
}

}  // namespace sextant::app

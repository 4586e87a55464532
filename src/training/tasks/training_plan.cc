// Defaults of each task, and settings as JSON and back.
#include "sextant/training/tasks/training_plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>

#include "core/json/fields_json.h"
#include "core/options/enum_names.h"
#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/training/tasks/text_data.h"
#include "text/tokenizer_fields.h"
#include "training/tasks/task_fields.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// With their places as seen from the run's folder: both may move together.
Json json_of(const std::vector<DataFile>& files, const std::string& run) {
  Json json = Json::array();
  for (const DataFile& file : files) {
    Json one{{"path", file.path}, {"checksum", file.checksum}};
    if (!run.empty()) {
      one["from_run"] = fs::path(file.path).lexically_relative(data_file(run).path).string();
    }
    json.push_back(std::move(one));
  }
  return json;
}

std::vector<DataFile> files_of(const Json& json, const std::string& run) {
  std::vector<DataFile> files;
  std::error_code none;
  for (const Json& file : json) {
    DataFile& one = files.emplace_back();
    one = {file.at("path").get<std::string>(), file.at("checksum").get<std::string>()};
    const Json* from_run = file.find("from_run");  // not in older runs
    if (from_run == nullptr || fs::exists(one.path, none)) continue;
    const std::string moved = data_file(run + "/" + from_run->get<std::string>()).path;
    if (fs::exists(moved, none)) one.path = moved;
  }
  return files;
}

// The keys of settings that are older than others of the lists.
constexpr std::string_view kRequiredOptions[] = {
    "reverse",          "held_out",        "length",          "batch_size", "accumulation_steps",
    "mask_probability", "label_smoothing", "subword_dropout", "lower_case", "split_punctuation",
    "minimum_count",    "vocabulary_size", "steps",           "minutes",    "patience",
    "validate_every",   "checkpoint_every"};

// The decay after the warm-up depends on whether the number of steps is known.
void complete_schedule(TrainingPlan& plan) {
  TrainerOptions& trainer = plan.trainer;
  const ScheduleOverrides& chosen = plan.chosen;
  Schedule& schedule = trainer.schedule;
  const bool counted = trainer.steps > 0;
  if (!chosen.decay) schedule.decay = counted ? Decay::cosine : Decay::inverse_square_root;
  if (!chosen.warmup && counted) {
    schedule.warmup = std::max<std::int64_t>(1, std::min(schedule.warmup, trainer.steps / 10));
    if (trainer.steps == 1) schedule.warmup = 0;
  }
  if (!has_end(schedule.decay)) return;
  if (!counted) {
    throw Error("train.decay", "must not be " + std::string(name_of(schedule.decay)) +
                                   " without --steps or --epochs, which say where it ends");
  }
  schedule.steps = trainer.steps;
  schedule.floor = schedule.peak / 20;
}

}  // namespace

std::string_view name_of(DocumentUnit unit) noexcept {
  return enum_name(unit, {"none", "file", "paragraph", "line", "endoftext"});
}

bool is_training_kind(std::string_view kind) noexcept {
  return std::find(std::begin(kTrainingKinds), std::end(kTrainingKinds), kind) !=
         std::end(kTrainingKinds);
}

std::string training_kinds() {
  const std::span<const char* const> kinds = kTrainingKinds;
  return joined(kinds.first(kinds.size() - 1), ", ") + " or " + kinds.back();
}

TrainingPlan default_plan(const std::string& kind) {
  if (!is_training_kind(kind)) {
    throw Error("training_plan.kind", "must be " + training_kinds() + ", got '" + kind + "'");
  }
  TrainingPlan plan;
  TrainingSettings& settings = plan.settings;
  TrainerOptions& trainer = plan.trainer;
  settings.kind = kind;
  settings.tokenizer.split_punctuation = true;
  settings.model.width = 192;
  settings.model.heads = 6;
  settings.model.layers = 4;
  trainer.optimiser = {.beta2 = 0.98, .weight_decay = 0.1, .clip_norm = 1};
  trainer.schedule = {.peak = 1e-3, .warmup = 100};
  trainer.dropout = 0.1;
  trainer.validate_every = 250;
  if (kind == "lm") {
    settings.tokenizer.kind = TokenizerKind::character;
  } else if (kind == "mlm") {
    settings.model.kind = ModelKind::masked;
    settings.tokenizer.kind = TokenizerKind::subword;
  } else if (kind == "translate") {
    settings.tokenizer.kind = TokenizerKind::subword;
    settings.model.width = 256;
    settings.model.heads = 8;
    settings.model.layers = 3;
    settings.task.batch_size = 64;
    settings.task.label_smoothing = 0.1;
    trainer.schedule.warmup = 400;
    trainer.dropout = 0.3;
  } else {
    settings.tokenizer.kind = TokenizerKind::character;
    settings.model.width = 64;
    settings.model.heads = 4;
    settings.model.layers = 2;
    settings.task.batch_size = 64;
    trainer.schedule.peak = 3e-3;
    trainer.optimiser.weight_decay = 0.01;
    trainer.dropout = 0;
    trainer.steps = 600;
    trainer.validate_every = 200;
    if (kind == "dates") return plan;
    settings.model.width = 32;
    settings.model.layers = 1;
  }
  return plan;
}

void fill_defaults(TrainingPlan& plan, const ScheduleOverrides& chosen) {
  TrainingSettings& settings = plan.settings;
  TokenizerTraining& tokenizer = settings.tokenizer;
  if (tokenizer.kind == TokenizerKind::subword && tokenizer.vocabulary_size == 0) {
    tokenizer.vocabulary_size = settings.kind == "translate" ? kPairSubwords : kSubwords;
  }
  check_options(tokenizer);
  TransformerConfig& model = settings.model;
  // Where training starts: a matter of the run, not of the model.
  for (SchemeSpec& scheme : model.schemes) {
    const auto table = scheme.parameters.extract("file");
    if (!table.empty() && table.mapped() != "none") {
      settings.table.push_back(data_file(table.mapped()));
    }
  }
  model.seed = static_cast<std::uint32_t>(plan.trainer.seed);
  if (!model.pre_norm && !model.output_norm) model.final_norm = false;
  // A translation may be longer than its source; a language model has its trained length.
  model.length = settings.is_pairs() ? 2 * settings.task.length + 16 : settings.task.length;
  plan.chosen = chosen;
  if (plan.epochs.epochs > 0) return;  // count_epochs() does it
  complete_schedule(plan);
}

void count_epochs(TrainingPlan& plan, std::int64_t steps_per_epoch, bool resumed) {
  const EpochOptions& epochs = plan.epochs;
  check_fields("train", epochs);
  const auto steps_of = [steps_per_epoch](double count) {
    return std::max<std::int64_t>(1, std::llround(count * static_cast<double>(steps_per_epoch)));
  };
  TrainerOptions& trainer = plan.trainer;
  if (epochs.epochs > 0) {
    const std::int64_t steps = steps_of(epochs.epochs);
    trainer.steps = trainer.steps > 0 && !resumed ? std::min(trainer.steps, steps) : steps;
  }
  if (resumed) return;
  if (epochs.validate_epochs > 0) trainer.validate_every = steps_of(epochs.validate_epochs);
  if (epochs.checkpoint_epochs > 0) trainer.checkpoint_every = steps_of(epochs.checkpoint_epochs);
  if (epochs.warmup_epochs > 0) {
    trainer.schedule.warmup = steps_of(epochs.warmup_epochs);
    plan.chosen.warmup = true;
  }
  if (epochs.epochs > 0) complete_schedule(plan);
}

void move_data(std::vector<DataFile>& files, const std::vector<std::string>& paths,
               std::string_view where) {
  if (paths.size() != files.size()) {
    throw Error(where, "must be as many files as the run has, " + std::to_string(files.size()) +
                           ", got " + std::to_string(paths.size()));
  }
  for (std::size_t i = 0; i < files.size(); ++i) files[i].path = data_file(paths[i]).path;
}

DataFile data_file(const std::string& path) {
  std::error_code problem;
  const auto whole = std::filesystem::absolute(path, problem);
  if (problem) throw Error(path, "cannot be found: " + problem.message());
  return {whole.lexically_normal().string()};
}

std::string format_settings(const TrainingPlan& plan) {
  const TrainingSettings& settings = plan.settings;
  Json json;
  json["kind"] = settings.kind;
  const std::string& run = plan.trainer.folder;
  json["files"] = json_of(settings.files, run);
  json["valid"] = json_of(settings.valid, run);
  json["from"] = json_of(settings.from, run);
  json["table"] = json_of(settings.table, run);
  json["tokenizer_from"] = json_of(settings.tokenizer_from, run);
  json["tokenizer"] = name_of(settings.tokenizer.kind);
  json["reverse"] = settings.reverse;  // its place, before those of the augmentation
  each_field<PairAugmentation>([&](const auto& one) {
    json["augment_" + std::string(one.name)] = settings.augment.*one.member;
  });
  write_fields(json, settings);
  write_fields(json, settings.task, kTaskFields);
  write_fields(json, settings.tokenizer, kTokenizerSettings);
  write_fields(json, plan.trainer, kLimitFields);
  json["model"] = Json::parse(format_config(settings.model));
  json["model"].erase("format");  // run.json has its own number
  return json.dump();
}

TrainingPlan read_plan(const std::string& folder) {
  const std::string path = folder + "/run.json";
  TrainingPlan plan;
  plan.trainer =
      read_run(folder);  // not in braces: gcc 12 destroys the settings twice if it throws
  TrainingSettings& settings = plan.settings;
  try {
    const Json json = Json::parse(plan.trainer.settings);
    settings.kind = json.at("kind").get<std::string>();
    if (!is_training_kind(settings.kind)) {
      throw Error(path, "must be of a known task, got '" + settings.kind + "'");
    }
    settings.files = files_of(json.at("files"), folder);
    settings.valid = files_of(json.at("valid"), folder);
    settings.from = files_of(json.at("from"), folder);
    if (const Json* table = json.find("table"))
      settings.table = files_of(*table, folder);  // not in older runs
    if (const Json* from = json.find("tokenizer_from"))
      settings.tokenizer_from = files_of(*from, folder);
    settings.tokenizer.kind = parse_name<TokenizerKind>(json.at("tokenizer").text(), path);
    each_field<PairAugmentation>([&](const auto& one) {
      const Json* found = json.find("augment_" + std::string(one.old_name));
      if (found == nullptr) found = &json.at("augment_" + std::string(one.name));
      found->get_to(settings.augment.*one.member);
    });
    read_fields(settings, json, path, kRequiredOptions);
    read_fields(settings.task, json, path, kRequiredOptions, kTaskFields);
    read_fields(settings.tokenizer, json, path, kRequiredOptions, kTokenizerSettings);
    read_fields(plan.trainer, json, path, kRequiredOptions, kLimitFields);
    settings.model = parse_config(json.at("model").dump(), path);
  } catch (const JsonError& error) {
    throw Error(path, "must be of `sextant train`: " + error.problem());
  }
  return plan;
}

}  // namespace sextant

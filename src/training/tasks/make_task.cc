// Reads the data of each task, divided into training and held-out data.
#include "sextant/training/tasks/make_task.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/models/model_folder.h"
#include "sextant/schemes/added/learned.h"
#include "sextant/text/pairs.h"
#include "sextant/training/tasks/augment_pairs.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/translation_task.h"
#include "training/tasks/data_file.h"
#include "training/tasks/text_tokens.h"

namespace sextant {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

std::string read_data(DataFile& file) {
  std::string bytes = read_file(file.path, kMaxBytes);
  check_data(file, checksum_of(bytes));
  return bytes;
}

// Returns the checksum of the file, or of the checksums of several.
std::string checksum_of_weights(const ModelFolder& folder) {
  std::string sums;
  const TensorFile weights = folder.open_weights();
  for (const std::string& file : weights.files()) sums += checksum_of_file(file).checksum;
  return weights.files().size() == 1 ? sums : checksum_of(sums);
}

// The start of a run: its own last checkpoint, or another model if nothing is saved yet.
struct InitialWeights {
  std::optional<ModelFolder> folder;
  bool is_resumed = false;
};

// The model of --from, whose description becomes the plan's.
ModelFolder open_initial_weights(TrainingPlan& plan) {
  TrainingSettings& settings = plan.settings;
  ModelFolder folder = open_model(settings.from.front().path);
  const ModelKind wanted = settings.is_pairs() ? ModelKind::translator : settings.model.kind;
  if (folder.config.kind != wanted) {
    throw Error("train.from", "must be " + described(wanted) + " for " + settings.kind + ", got " +
                                  described(folder.config.kind) + " in " + folder.path);
  }
  check_data(settings.from.front(), checksum_of_weights(folder));
  const std::int64_t length = std::max(settings.model.length, folder.config.length);
  settings.model = folder.config;
  settings.model.length = length;
  settings.tokenizer.kind = folder.tokenizer.kind();
  return folder;
}

InitialWeights find_initial_weights(TrainingPlan& plan, const std::string& resumed) {
  const std::string saved = resumed + "/last";
  std::error_code problem;
  if (!resumed.empty() && std::filesystem::exists(saved + "/tokenizer.json", problem)) {
    return {ModelFolder{saved, {}, Tokenizer::load(saved)}, true};
  }
  if (plan.settings.from.empty()) return {};
  return {open_initial_weights(plan), false};
}

// That of the run, of --from, of --tokenizer-from; nothing where data makes it.
std::optional<Tokenizer> known_tokenizer(TrainingPlan& plan, const InitialWeights& initial) {
  if (initial.folder) return initial.folder->tokenizer;
  if (plan.settings.tokenizer_from.empty()) return std::nullopt;
  DataFile& from = plan.settings.tokenizer_from.front();
  std::error_code problem;
  Tokenizer found = std::filesystem::exists(from.path + "/tokenizer.json", problem)
                        ? Tokenizer::load(from.path)
                        : open_model(from.path).tokenizer;
  check_data(from, found.checksum());
  plan.settings.tokenizer.kind = found.kind();
  return found;
}

// The table that the scheme starts from: the model gets as many positions as it has.
void load_position_table(TrainingPlan& plan, const InitialWeights& initial) {
  TrainingSettings& settings = plan.settings;
  if (settings.table.empty() || initial.is_resumed) return;
  DataFile& file = settings.table.front();
  read_data(file);
  TransformerConfig& model = settings.model;
  const auto has_file = [](const SchemeSpec& scheme) {
    return std::ranges::any_of(find_scheme(scheme.scheme).parameters(),
                               [](const Option& option) { return option.name == "file"; });
  };
  const auto scheme = std::ranges::find_if(model.schemes, has_file);
  if (scheme == model.schemes.end()) return;
  const auto given = [&scheme](const char* name, const char* otherwise) {
    const auto found = scheme->parameters.find(name);
    return found == scheme->parameters.end() ? std::string(otherwise) : found->second;
  };
  const std::int64_t offset = parse_int64(given("offset", "0"), scheme->scheme + ".offset");
  model.length = LearnedPositions::load(file.path, offset).table().size(0) - offset;
  // A decoder reads <bos> before its tokens.
  const std::int64_t least = settings.task.length + (settings.is_pairs() ? 1 : 0);
  if (model.length < least && given("clamp", "no") != "yes") {
    throw Error("train.scheme-file",
                "must have at least " + std::to_string(least + offset) + " rows for sequences of " +
                    std::to_string(settings.task.length) + " tokens, got " +
                    std::to_string(model.length + offset) + " in " + file.path);
  }
  scheme->parameters["file"] = file.path;
}

// Returns the checksum of lists of tokens, with their lengths.
std::string checksum_of_tokens(std::span<const std::vector<std::int64_t>> lists) {
  std::string sums;
  for (const std::vector<std::int64_t>& list : lists) {
    sums += checksum_of(
        {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(std::int64_t)});
  }
  return checksum_of(sums);
}

TaskOptions task_options(const TrainingPlan& plan) {
  TaskOptions options = plan.settings.task;
  options.seed = plan.trainer.seed;
  return options;
}

// Returns the model to start from, or none.
template <class Model>
std::optional<Model> initial_model(const InitialWeights& initial, const TrainingPlan& plan) {
  if (!initial.folder) return std::nullopt;
  ModelFolder folder = *initial.folder;
  folder.config = plan.settings.model;
  return Model::load(folder);
}

template <class Task>
PlannedTask finished(std::unique_ptr<Task> task, TrainingPlan& plan, PlannedTask result) {
  plan.settings.model = task->model().config;
  result.parameters = count_of(task->parameters());
  result.steps_per_epoch = task->steps_per_epoch();
  result.task = std::move(task);
  return result;
}

PlannedTask make_language_task(TrainingPlan& plan, const InitialWeights& initial, bool resumed) {
  TextTokens text = text_tokens(plan, known_tokenizer(plan, initial), resumed);
  const TokenFile& file = text.file;
  const auto training = static_cast<std::size_t>(file.training);
  StoredTokens tokens{file.tokens.part(0, training), file.tokens.part(training, file.tokens.size()),
                      file.document_ends};
  PlannedTask made{
      .unit = "tokens", .train = tokens.tokens.size(), .held_out = tokens.held_out.size()};
  made.checksum = file.checksum + std::to_string(training);
  made.kept = text.kept;
  auto model = initial_model<TextModel>(initial, plan);
  if (!model) model.emplace(plan.settings.model, std::move(text.tokenizer));
  return finished(
      std::make_unique<LanguageTask>(std::move(tokens), std::move(*model), task_options(plan)),
      plan, std::move(made));
}

PlannedTask make_pair_task(TrainingPlan& plan, const InitialWeights& initial) {
  TrainingSettings& settings = plan.settings;
  SentencePairs pairs, held_out;
  if (is_built_in(settings.kind)) {
    BuiltInData data = built_in_data(settings.kind, plan.trainer.seed);
    pairs = std::move(data.training);
    held_out = std::move(data.validation);
  } else {
    const PairColumns columns{.source = settings.reverse ? 1 : 0,
                              .target = settings.reverse ? 0 : 1};
    const auto load = [&columns](DataFile& file) {
      return parse_pairs(read_data(file), columns, file.path);
    };
    pairs = load(settings.files.front());
    if (settings.valid.empty()) {
      held_out = hold_out(pairs, settings.held_out);
    } else {
      held_out = load(settings.valid.front());
    }
  }
  if (pairs.source.empty()) {
    throw Error(settings.files.front().path, "must have two pairs or more, one to hold out");
  }
  std::vector<std::string> texts = pairs.source;
  texts.insert(texts.end(), pairs.target.begin(), pairs.target.end());
  const std::optional<Tokenizer> known = known_tokenizer(plan, initial);
  const Tokenizer tokenizer = known ? *known : Tokenizer::train(texts, settings.tokenizer);
  if (tokenizer.kind() == TokenizerKind::pretrained) {
    throw Error(
        "train.tokenizer-from",
        "must be a tokenizer that was learned here, as translators read <bos> and <eos>, got "
        "one of a published model");
  }
  if (settings.task.subword_dropout > 0 && tokenizer.kind() != TokenizerKind::subword) {
    throw Error("train.subword-dropout", std::string("must be given with sub-words only, got ") +
                                             "tokens of kind " +
                                             std::string(name_of(tokenizer.kind())));
  }
  if (settings.augment.any()) {
    pairs = augmented(pairs, settings.augment, static_cast<std::uint32_t>(plan.trainer.seed));
  }
  TranslationData data{tokenizer, TokenPairs::encode(pairs, tokenizer),
                       TokenPairs::encode(held_out, tokenizer)};
  PlannedTask made{
      .unit = "pairs", .train = data.pairs.source.size(), .held_out = data.held_out.source.size()};
  made.checksum = checksum_of_tokens(data.pairs.source) + checksum_of_tokens(data.pairs.target);
  auto model = initial_model<TextTranslator>(initial, plan);
  return finished(model ? std::make_unique<TranslationTask>(std::move(data), std::move(*model),
                                                            task_options(plan))
                        : std::make_unique<TranslationTask>(std::move(data), settings.model,
                                                            task_options(plan)),
                  plan, std::move(made));
}

}  // namespace

PlannedTask make_task(TrainingPlan& plan, const std::string& resumed) {
  const InitialWeights initial = find_initial_weights(plan, resumed);
  load_position_table(plan, initial);
  PlannedTask made = plan.settings.is_pairs() ? make_pair_task(plan, initial)
                                              : make_language_task(plan, initial, !resumed.empty());
  if (plan.epochs.any()) count_epochs(plan, made.steps_per_epoch, !resumed.empty());
  return made;
}

}  // namespace sextant

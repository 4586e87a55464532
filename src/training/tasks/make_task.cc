// The data of each task, split into what is trained on and what is held out.
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
#include "sextant/models/model_folder.h"
#include "sextant/schemes/added/learned.h"
#include "sextant/text/pairs.h"
#include "sextant/training/tasks/augment_pairs.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/translation_task.h"

namespace sextant {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

void check_same(DataFile& file, const std::string& found) {
  if (!file.checksum.empty() && file.checksum != found) {
    throw Error(file.path, "must be the same as at the start of the run, but has changed");
  }
  file.checksum = found;
}

std::string read_data(DataFile& file) {
  std::string bytes = read_file(file.path, kMaxBytes);
  check_same(file, checksum_of(bytes));
  return bytes;
}

// Of the file, or of the checksums of several.
std::string checksum_of_weights(const ModelFolder& folder) {
  std::string sums;
  const TensorFile weights = folder.open_weights();
  for (const std::string& file : weights.files()) sums += checksum_of_file(file).checksum;
  return weights.files().size() == 1 ? sums : checksum_of(sums);
}

// What a run goes on from: its own last checkpoint, or another model where nothing is saved yet.
struct InitialWeights {
  std::optional<ModelFolder> folder;
  bool is_resumed = false;
};

// The model of --from, whose description becomes the plan's.
ModelFolder open_initial_weights(TrainingPlan& plan) {
  TrainingSettings& settings = plan.settings;
  ModelFolder folder = open_model_folder(settings.from.front().path);
  const ModelKind wanted = settings.is_pairs() ? ModelKind::translator : settings.model.kind;
  if (folder.config.kind != wanted) {
    throw Error("train.from", "must be " + described(wanted) + " for " + settings.kind + ", got " +
                                  described(folder.config.kind) + " in " + folder.path);
  }
  check_same(settings.from.front(), checksum_of_weights(folder));
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

Tokenizer tokenizer_for(const TrainingPlan& plan, const InitialWeights& initial,
                        const std::vector<std::string>& texts) {
  if (initial.folder) return initial.folder->tokenizer;
  return Tokenizer::train(texts, plan.settings.tokenizer);
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
  const auto scheme = std::ranges::find_if(model.positions, has_file);
  if (scheme == model.positions.end()) return;
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

// Of lists of tokens, with their lengths.
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

// With the weights to go on from, or first ones.
template <class Task, class Model, class Data>
PlannedTask with_task(Data data, const InitialWeights& initial, TrainingPlan& plan,
                      PlannedTask result) {
  std::unique_ptr<Task> task;
  if (initial.folder) {
    ModelFolder folder = *initial.folder;
    folder.config = plan.settings.model;
    task = std::make_unique<Task>(std::move(data), Model::load(folder), task_options(plan));
  } else {
    task = std::make_unique<Task>(std::move(data), plan.settings.model, task_options(plan));
  }
  plan.settings.model = task->model().config;
  result.parameters = count_of(task->parameters());
  result.steps_per_epoch = task->steps_per_epoch();
  result.task = std::move(task);
  return result;
}

PlannedTask make_language_task(TrainingPlan& plan, const InitialWeights& initial) {
  TrainingSettings& settings = plan.settings;
  SplitTexts texts;
  for (DataFile& file : settings.files) {
    texts.add(parse_texts(read_data(file), TextUnit::file, file.path).front(), settings.held_out);
  }
  LanguageData text = texts.encode(tokenizer_for(plan, initial, texts.train));
  PlannedTask made{.unit = "tokens", .train = text.tokens.size(), .held_out = text.held_out.size()};
  made.checksum = checksum_of_tokens(std::span(&text.tokens, 1));
  return with_task<LanguageTask, TextModel>(std::move(text), initial, plan, std::move(made));
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
  const Tokenizer tokenizer = tokenizer_for(plan, initial, texts);
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
  return with_task<TranslationTask, TextTranslator>(std::move(data), initial, plan,
                                                    std::move(made));
}

}  // namespace

PlannedTask make_task(TrainingPlan& plan, const std::string& resumed) {
  const InitialWeights initial = find_initial_weights(plan, resumed);
  load_position_table(plan, initial);
  return plan.settings.is_pairs() ? make_pair_task(plan, initial)
                                  : make_language_task(plan, initial);
}

}  // namespace sextant

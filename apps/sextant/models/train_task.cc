// The data of each task, split into what is learned and what is held out.
#include "models/train_task.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "models/model_option.h"
#include "models/train_dates.h"
#include "options/arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/model_folder.h"
#include "sextant/schemes/added/learned.h"
#include "sextant/text/pairs.h"
#include "sextant/training/tasks/augment_pairs.h"
#include "sextant/training/tasks/dates.h"
#include "sextant/training/tasks/epochs.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/translation_task.h"
#include "streams/text_data.h"

namespace sextant::app {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

std::string read_data(DataFile& file) {
  std::string bytes = read_file(file.path, kMostBytes);
  const std::string found = checksum_of(bytes);
  if (!file.checksum.empty() && file.checksum != found) {
    throw Error(file.path, "must be the same as at the start of the run, but has changed");
  }
  file.checksum = found;
  return bytes;
}

// What a run goes on from.
struct Start {
  std::string saved;                // a run to be resumed: its last checkpoint, or empty
  std::optional<ModelFolder> from;  // another model, where nothing is saved yet
};

// The model of --from, whose description becomes the plan's.
ModelFolder open_start(TrainPlan& plan) {
  TrainSettings& settings = plan.settings;
  ModelFolder folder = open_model_folder(settings.from.front().path);
  const ModelKind wanted = settings.is_pairs() ? ModelKind::translator : settings.model.kind;
  if (folder.config.kind != wanted) {
    throw Error("train.from", "must be " + described(wanted) + " for " + settings.kind + ", got " +
                                  described(folder.config.kind) + " in " + folder.path);
  }
  DataFile weights{folder.path + "/model.safetensors", settings.from.front().checksum};
  read_data(weights);
  settings.from.front().checksum = weights.checksum;
  const std::int64_t length = std::max(settings.model.length, folder.config.length);
  settings.model = folder.config;
  settings.model.length = length;
  settings.tokenizer.kind = folder.tokenizer.kind();
  return folder;
}

Start start_of(TrainPlan& plan, const std::string& resumed) {
  const std::string saved = resumed + "/last";
  std::error_code problem;
  if (!resumed.empty() && std::filesystem::exists(saved + "/tokenizer.json", problem)) {
    return {saved, {}};
  }
  if (plan.settings.from.empty()) return {};
  return {"", open_start(plan)};
}

Tokenizer tokenizer_for(const TrainPlan& plan, const Start& start,
                        const std::vector<std::string>& texts) {
  if (!start.saved.empty()) return Tokenizer::load(start.saved);
  if (start.from) return start.from->tokenizer;
  return Tokenizer::train(texts, plan.settings.tokenizer);
}

// The table that the scheme starts from: the model gets as many positions as it has.
void take_table(TrainPlan& plan, const Start& start) {
  TrainSettings& settings = plan.settings;
  if (settings.table.empty() || !start.saved.empty()) return;
  DataFile& file = settings.table.front();
  read_data(file);
  TransformerConfig& model = settings.model;
  const auto given = [&model](const char* name, const char* otherwise) {
    const auto found = model.scheme_parameters.find(name);
    return found == model.scheme_parameters.end() ? std::string(otherwise) : found->second;
  };
  const std::int64_t offset =
      parse_integer(given("offset", "0"), model.scheme + ".offset", 0, kMostInteger);
  model.length = LearnedPositions::load(file.path, offset).table().size(0) - offset;
  // A decoder reads <bos> before its tokens.
  const std::int64_t least = settings.length + (settings.is_pairs() ? 1 : 0);
  if (model.length < least && given("clamp", "no") != "yes") {
    throw Error("train.scheme-file",
                "must have at least " + std::to_string(least + offset) + " rows for sequences of " +
                    std::to_string(settings.length) + " tokens, got " +
                    std::to_string(model.length + offset) + " in " + file.path);
  }
  model.scheme_parameters["file"] = file.path;
}

std::string amounts(std::size_t training, std::size_t held_out, const char* unit) {
  return grouped(static_cast<std::int64_t>(training)) + " " + unit + " to learn from, " +
         grouped(static_cast<std::int64_t>(held_out)) + " held out";
}

template <class Task>
TrainTask finished(std::unique_ptr<Task> task, const Start& start, TrainPlan& plan,
                   std::string data) {
  if (start.from) load_parameters(start.from->path + "/model.safetensors", task->parameters());
  plan.settings.model = task->model().config;
  TrainTask result;
  result.parameters = count_of(task->parameters());
  result.steps_per_epoch = task->steps_per_epoch();
  result.data = std::move(data);
  result.task = std::move(task);
  return result;
}

TrainTask make_language_task(TrainPlan& plan, const Start& start) {
  TrainSettings& settings = plan.settings;
  std::vector<std::string> learned, held_out;
  for (DataFile& file : settings.files) {
    const std::string text = parse_texts(read_data(file), TextUnit::file, file.path).front();
    const std::size_t split = split_of(text, settings.held_out);
    learned.push_back(text.substr(0, split));
    held_out.push_back(text.substr(split));
  }
  Tokenizer tokenizer = tokenizer_for(plan, start, learned);
  auto tokens = encode_all(tokenizer, learned);
  auto held_out_tokens = encode_all(tokenizer, held_out);
  std::string data = amounts(tokens.size(), held_out_tokens.size(), "tokens");
  const LanguageData options{.length = settings.length,
                             .sequences = settings.batch,
                             .parts = settings.parts,
                             .smoothing = settings.smoothing,
                             .hidden = settings.masked,
                             .seed = plan.trainer.seed};
  return finished(
      std::make_unique<LanguageTask>(settings.model, std::move(tokenizer), std::move(tokens),
                                     std::move(held_out_tokens), options),
      start, plan, std::move(data));
}

// The first pairs of a seeded order of their own.
void hold_out(SentencePairs& pairs, double part, SentencePairs& held_out) {
  const auto count = static_cast<std::int64_t>(pairs.source.size());
  const auto wanted = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::llround(static_cast<double>(count) * part)));
  Epochs order(count, 0);
  std::vector<bool> held(pairs.source.size());
  for (std::int64_t i = 0; i < wanted; ++i) held[static_cast<std::size_t>(order(i))] = true;
  SentencePairs rest;
  for (std::size_t i = 0; i < held.size(); ++i) {
    SentencePairs& to = held[i] ? held_out : rest;
    to.source.push_back(std::move(pairs.source[i]));
    to.target.push_back(std::move(pairs.target[i]));
  }
  pairs = std::move(rest);
}

TrainTask make_pair_task(TrainPlan& plan, const Start& start) {
  TrainSettings& settings = plan.settings;
  SentencePairs pairs, held_out;
  if (settings.kind == "dates") {
    pairs = training_dates(plan.trainer.seed);
    held_out = validation_dates(plan.trainer.seed);
  } else {
    const PairColumns columns{.source = settings.reverse ? 1 : 0,
                              .target = settings.reverse ? 0 : 1};
    const auto load = [&columns](DataFile& file) {
      return parse_pairs(read_data(file), columns, file.path);
    };
    pairs = load(settings.files.front());
    if (settings.valid.empty()) {
      hold_out(pairs, settings.held_out, held_out);
    } else {
      held_out = load(settings.valid.front());
    }
  }
  if (pairs.source.empty()) {
    throw Error(settings.files.front().path, "must have two pairs or more, one to hold out");
  }
  std::vector<std::string> texts = pairs.source;
  texts.insert(texts.end(), pairs.target.begin(), pairs.target.end());
  Tokenizer tokenizer = tokenizer_for(plan, start, texts);
  if (settings.subword_dropout > 0 && tokenizer.kind() != TokenizerKind::subword) {
    throw Error("train.subword-dropout", std::string("must be given with sub-words only, got ") +
                                             "tokens of kind " + name(tokenizer.kind()));
  }
  if (settings.augment.any()) {
    pairs = augmented(pairs, settings.augment, static_cast<std::uint32_t>(plan.trainer.seed));
  }
  auto tokens = TokenPairs::encode(pairs, tokenizer, settings.length);
  auto held_out_tokens = TokenPairs::encode(held_out, tokenizer, settings.length);
  std::string data = amounts(tokens.source.size(), held_out_tokens.source.size(), "pairs");
  const TranslationData options{.pairs = settings.batch,
                                .parts = settings.parts,
                                .longest = settings.length,
                                .smoothing = settings.smoothing,
                                .subword_dropout = settings.subword_dropout,
                                .seed = plan.trainer.seed};
  return finished(
      std::make_unique<TranslationTask>(settings.model, std::move(tokenizer), std::move(tokens),
                                        std::move(held_out_tokens), options),
      start, plan, std::move(data));
}

}  // namespace

TrainTask make_task(TrainPlan& plan, const std::string& resumed) {
  const Start start = start_of(plan, resumed);
  take_table(plan, start);
  return plan.settings.is_pairs() ? make_pair_task(plan, start) : make_language_task(plan, start);
}

}  // namespace sextant::app

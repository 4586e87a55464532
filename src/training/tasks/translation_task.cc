// Batches of pairs.
#include "sextant/training/tasks/translation_task.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sextant/core/error.h"
#include "training/gradients/part_of.h"
#include "training/splitmix64.h"
#include "training/tasks/task_fields.h"

namespace sextant {
namespace {

TransformerConfig of_translator(TransformerConfig config) {
  config.kind = ModelKind::translator;
  return config;
}

const TaskOptions& checked(const TaskOptions& options, const TranslationData& pairs) {
  check_fields("translation_task", options);
  if (pairs.pairs.source.empty()) {
    throw Error("translation_task.pairs", "must have a pair with tokens");
  }
  if (pairs.held_out.source.empty()) {
    throw Error("translation_task.held_out", "must have a pair with tokens");
  }
  return options;
}

std::vector<std::int64_t> cut(std::vector<std::int64_t> ids, std::int64_t longest) {
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(longest)));
  return ids;
}

TokenPairs cut(TokenPairs pairs, std::int64_t longest) {
  for (auto& side : pairs.source) side = cut(std::move(side), longest);
  for (auto& side : pairs.target) side = cut(std::move(side), longest);
  return pairs;
}

std::int64_t tokens_in(std::span<const std::vector<std::int64_t>> sides) {
  std::int64_t count = 0;
  for (const auto& side : sides) count += static_cast<std::int64_t>(side.size());
  return count;
}

// The tokenizers that are learned here have the same ends.
TextTranslator checked(TextTranslator model) {
  const TransformerConfig& c = model.config;
  if (c.target_start == std::vector<std::int64_t>{Tokenizer::kBos} &&
      c.target_end == Tokenizer::kEos) {
    return model;
  }
  throw Error("translation_task.target_start",
              "must be <bos>, and target_end <eos>, as the tokenizer's are");
}

}  // namespace

PairBatch pair_batch(const TokenPairs& pairs, std::span<const std::int64_t> which) {
  PairBatch batch;
  batch.source_segments.push_back(0);
  batch.target.segments.push_back(0);
  for (const std::int64_t index : which) {
    const auto& source = pairs.source[static_cast<std::size_t>(index)];
    const auto& target = pairs.target[static_cast<std::size_t>(index)];
    batch.source.insert(batch.source.end(), source.begin(), source.end());
    batch.source_segments.push_back(static_cast<std::int64_t>(batch.source.size()));
    TokenBatch& to = batch.target;
    to.tokens.push_back(Tokenizer::kBos);
    to.tokens.insert(to.tokens.end(), target.begin(), target.end());
    to.targets.insert(to.targets.end(), target.begin(), target.end());
    to.targets.push_back(Tokenizer::kEos);
    to.segments.push_back(static_cast<std::int64_t>(to.tokens.size()));
  }
  return batch;
}

TranslationTask::TranslationTask(TranslationData pairs, TransformerConfig config,
                                 const TaskOptions& options)
    : TranslationTask(TextTranslator(of_translator(std::move(config)), pairs.tokenizer),
                      std::move(pairs), checked(options, pairs)) {}

TranslationTask::TranslationTask(TranslationData pairs, TextTranslator model,
                                 const TaskOptions& options)
    : TranslationTask(std::move(model), std::move(pairs), checked(options, pairs)) {}

TranslationTask::TranslationTask(TextTranslator model, TranslationData&& pairs,
                                 const TaskOptions& options)
    : TokenTask(checked(std::move(model)), options),
      pairs_(cut(std::move(pairs.pairs), options_.length)),
      held_out_(cut(std::move(pairs.held_out), options_.length)),
      epochs_(static_cast<std::int64_t>(pairs_.source.size()), options_.seed),
      split_(model_.tokenizer, options_.subword_dropout) {}

std::int64_t TranslationTask::steps_per_epoch() const noexcept {
  return (epochs_.count() + options_.batch_size - 1) / options_.batch_size;
}

const TokenPairs& TranslationTask::pairs_of(std::int64_t step) {
  if (made_step_ == step) return made_;
  made_step_ = -1;
  made_ = {};
  for (std::int64_t place = step * options_.batch_size; place < (step + 1) * options_.batch_size;
       ++place) {
    const auto index = static_cast<std::size_t>(epochs_(place));
    const auto split = [&](const std::vector<std::int64_t>& ids) {
      return cut(split_(ids, splitmix64(options_.seed, static_cast<std::uint64_t>(place))),
                 options_.length);
    };
    made_.source.push_back(split(pairs_.source[index]));
    made_.target.push_back(split(pairs_.target[index]));
  }
  made_step_ = step;
  return made_;
}

PairBatch TranslationTask::training_batch(std::int64_t step, std::int64_t part) {
  const TokenPairs& pairs = pairs_of(step);
  const auto [first, last] = part_of(options_.batch_size, part, options_.accumulation_steps);
  std::vector<std::int64_t> which(static_cast<std::size_t>(last - first));
  std::iota(which.begin(), which.end(), first);
  PairBatch batch = pair_batch(pairs, which);
  const auto before = static_cast<std::size_t>(first);
  batch.source_first_row = tokens_in(std::span(pairs.source).first(before));
  batch.target.first_row = tokens_in(std::span(pairs.target).first(before)) + first;  // <bos> each
  return batch;
}

std::int64_t TranslationTask::target_tokens(std::int64_t step) {
  return tokens_in(pairs_of(step).target) + options_.batch_size;  // <eos> each
}

PairBatch TranslationTask::held_out_batch(std::int64_t first, std::int64_t count) const {
  std::vector<std::int64_t> which(static_cast<std::size_t>(count));
  std::iota(which.begin(), which.end(), first);
  return pair_batch(held_out_, which);
}

}  // namespace sextant

// Trains a translator on pairs of sentences.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/training/tasks/subword_dropout.h"
#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/token_task.h"

namespace sextant {

// Batches are packed: sentences of all lengths follow each other without padding.
class TranslationTask : public TokenTask<Translator, PairBatch> {
 public:
  // Sets config.kind and config.vocabulary. Throws Error for options out of range and for data
  // without a pair.
  TranslationTask(TranslationData pairs, TransformerConfig config, const TaskOptions& options = {});
  // Trains this model further; its tokenizer made the tokens.
  TranslationTask(TranslationData pairs, TextTranslator model, const TaskOptions& options = {});

  std::int64_t steps_per_epoch() const noexcept;
  std::int64_t target_tokens(std::int64_t step) override;
  PairBatch training_batch(std::int64_t step, std::int64_t batch) override;

 private:
  TranslationTask(TextTranslator model, TranslationData&& pairs, const TaskOptions& options);
  std::int64_t held_out_count() const noexcept override { return std::ssize(held_out_.source); }
  PairBatch held_out_batch(std::int64_t first, std::int64_t count) const override;
  // Returns the pairs of a step, as this epoch uses them.
  const TokenPairs& pairs_of(std::int64_t step);

  TokenPairs pairs_, held_out_;
  Epochs epochs_;
  SubwordDropout split_;
  std::int64_t made_step_ = -1;  // step of the pairs in made_, which are made once
  TokenPairs made_;
};

// Returns pairs [first, last) of `pairs` in the given order, packed: <bos> before the decoder's
// tokens, <eos> after its targets.
PairBatch pair_batch(const TokenPairs& pairs, std::span<const std::int64_t> which);

}  // namespace sextant

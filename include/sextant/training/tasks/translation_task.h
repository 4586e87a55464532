// Learning to translate from pairs of sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/models/translator.h"
#include "sextant/text/pairs.h"
#include "sextant/text/tokenizer.h"
#include "sextant/training/task.h"
#include "sextant/training/tasks/epochs.h"
#include "sextant/training/tasks/subword_dropout.h"

namespace sextant {

struct TranslationTaskOptions {
  std::int64_t batch_size = 64;         // of a step
  std::int64_t accumulation_steps = 1;  // batches that a step is made in: less memory, the same
                                        // sums; at most batch_size
  std::int64_t max_length = 256;        // tokens; longer sides are cut
  double label_smoothing = 0.1;         // of labels
  double subword_dropout = 0;           // part of the sub-words that are split, on both sides alike
  std::uint64_t seed = 0;
};

// Pairs as tokens.
struct TokenPairs {
  std::vector<std::vector<std::int64_t>> source, target;

  // Pairs of which a side has no token are left out. Sides are cut to max_length tokens.
  static TokenPairs encode(const SentencePairs& pairs, const Tokenizer& tokenizer,
                           std::int64_t max_length);
};

// Batches are packed: sentences of all lengths side by side, without padding.
class TranslationTask : public TrainingTask {
 public:
  // config.kind and config.vocabulary are set. Throws Error for options out of range and for data
  // without a pair.
  TranslationTask(TransformerConfig config, Tokenizer tokenizer, TokenPairs pairs,
                  TokenPairs held_out, const TranslationTaskOptions& data);

  Translator<float>& model() noexcept { return model_; }
  const Tokenizer& tokenizer() const noexcept { return tokenizer_; }
  std::int64_t steps_per_epoch() const noexcept;

  Parameters<float> parameters() override { return model_.parameters(); }
  Parameters<float> gradients() override { return gradient_.parameters(); }
  std::int64_t target_tokens(std::int64_t step) override;
  std::int64_t batches(std::int64_t step) const override;
  LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) override;
  LossSum validate(Pass& pass) override;
  void save_model(const std::string& folder) override;

  PairBatch training_batch(std::int64_t step, std::int64_t batch);

 private:
  // The pairs of a step, as this epoch sees them.
  const TokenPairs& pairs_of(std::int64_t step);

  TranslationTaskOptions data_;
  Tokenizer tokenizer_;
  Translator<float> model_, gradient_;
  TokenPairs pairs_, held_out_;
  Epochs epochs_;
  SubwordDropout split_;
  std::int64_t made_step_ = -1;  // of which made_ has the pairs: they are made once
  TokenPairs made_;
};

// Pairs [first, last) of `pairs` in the given order, packed: <bos> before the decoder's tokens,
// <eos> after its targets.
PairBatch pair_batch(const TokenPairs& pairs, std::span<const std::int64_t> which);

}  // namespace sextant

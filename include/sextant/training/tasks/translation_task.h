// Learning to translate from pairs of sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/models/text_model.h"
#include "sextant/training/task.h"
#include "sextant/training/tasks/epochs.h"
#include "sextant/training/tasks/subword_dropout.h"
#include "sextant/training/tasks/text_data.h"

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

// Batches are packed: sentences of all lengths side by side, without padding.
class TranslationTask : public TrainingTask {
 public:
  // config.kind and config.vocabulary are set. Throws Error for options out of range and for data
  // without a pair.
  TranslationTask(TranslationData pairs, TransformerConfig config,
                  const TranslationTaskOptions& data = {});

  TextTranslator& model() noexcept { return model_; }  // with the weights of the last step
  std::int64_t steps_per_epoch() const noexcept;

  Parameters<float> parameters() override { return model_.parameters(); }
  Parameters<float> gradients() override { return gradient_.parameters(); }
  std::int64_t target_tokens(std::int64_t step) override;
  std::int64_t batches(std::int64_t step) const override;
  LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) override;
  std::int64_t validation_batches() const override;
  LossSum validate(std::int64_t batch, Pass& pass) override;
  void save_model(const std::string& folder) override;

  PairBatch training_batch(std::int64_t step, std::int64_t batch);

 private:
  // The pairs of a step, as this epoch sees them.
  const TokenPairs& pairs_of(std::int64_t step);

  TranslationTaskOptions data_;
  TextTranslator model_;
  Translator<float> gradient_;
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

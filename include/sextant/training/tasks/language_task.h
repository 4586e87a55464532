// Learning the next token of a text, or its hidden ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/models/text_model.h"
#include "sextant/training/task.h"
#include "sextant/training/tasks/epochs.h"
#include "sextant/training/tasks/text_data.h"

namespace sextant {

struct LanguageTaskOptions {
  std::int64_t length = 256;            // tokens of a sequence
  std::int64_t batch_size = 16;         // of a step
  std::int64_t accumulation_steps = 1;  // batches that a step is made in: less memory, the same
                                        // sums; at most batch_size
  double label_smoothing = 0;           // of labels
  double mask_probability = 0.15;       // of masked models: the fraction of the tokens to predict
  std::uint64_t seed = 0;
};

// Sequences are pieces of one stream of tokens; where they begin moves with every pass over it.
// Causal models predict each next token. Masked models predict chosen tokens, of which 80 % are
// replaced by the token behind the tokenizer's last, 10 % by a random one, and 10 % are left as
// they are (Devlin et al. 2018, section 3.1). A step in which no token is drawn takes the one that
// was closest to being drawn.
class LanguageTask : public TrainingTask {
 public:
  // config.vocabulary is set to what the tokenizer needs. Throws Error for options out of range and
  // for a text or a held-out text of fewer than length + 1 tokens.
  LanguageTask(LanguageData text, TransformerConfig config, const LanguageTaskOptions& data = {});

  TextModel& model() noexcept { return model_; }  // with the weights of the last step
  std::int64_t steps_per_epoch() const noexcept;

  Parameters<float> parameters() override { return model_.parameters(); }
  Parameters<float> gradients() override { return gradient_.parameters(); }
  std::int64_t target_tokens(std::int64_t step) override;
  std::int64_t batches(std::int64_t step) const override;
  LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) override;
  std::int64_t validation_batches() const override;
  LossSum validate(std::int64_t batch, Pass& pass) override;
  void save_model(const std::string& folder) override;

  // One batch of a step, and one of the held-out text.
  TokenBatch training_batch(std::int64_t step, std::int64_t batch);
  TokenBatch held_out_batch(std::int64_t first, std::int64_t count) const;

 private:
  // A sequence of the text: where it begins, and the key of what is hidden.
  struct Sequence {
    std::int64_t begin;
    std::uint64_t key;
  };
  std::int64_t held_out_sequences() const noexcept;
  std::vector<Sequence> sequences_of(std::int64_t step);
  TokenBatch batch_of(std::span<const std::int64_t> text, std::span<const Sequence> sequences,
                      double mask_probability) const;
  double smallest_number(std::span<const Sequence> sequences) const;
  const TokenBatch& whole_batch(std::int64_t step);

  LanguageTaskOptions data_;
  TextModel model_;
  LanguageModel<float> gradient_;
  std::vector<std::int64_t> tokens_, held_out_;
  Epochs epochs_;
  std::int64_t made_step_ = -1;  // of which made_ is the whole batch: it is made once
  TokenBatch made_;
};

}  // namespace sextant

// Learning the next token of a text, or its hidden ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/token_task.h"

namespace sextant {

// Sequences are pieces of one stream of tokens; where they begin moves with every pass over it.
// Causal models predict each next token. Masked models predict chosen tokens, of which 80 % are
// replaced by the token after the tokenizer's last, 10 % by a random one, and 10 % are left as
// they are (Devlin et al. 2018, section 3.1). A step in which no token is drawn takes the one that
// was closest to being drawn.
class LanguageTask : public TokenTask<LanguageModel, TokenBatch> {
 public:
  // config.vocabulary is set to what the tokenizer needs. Throws Error for options out of range and
  // for a text or a held-out text of fewer than length + 1 tokens.
  LanguageTask(LanguageData text, TransformerConfig config, const TaskOptions& options = {});
  // Trains this model on, whose tokenizer made the tokens.
  LanguageTask(LanguageData text, TextModel model, const TaskOptions& options = {});

  std::int64_t steps_per_epoch() const noexcept;
  std::int64_t target_tokens(std::int64_t step) override;
  TokenBatch training_batch(std::int64_t step, std::int64_t batch) override;

 private:
  LanguageTask(TextModel model, LanguageData&& text, const TaskOptions& options);
  // A sequence of the text: where it begins, and the key of what is hidden.
  struct Sequence {
    std::int64_t begin;
    std::uint64_t key;
  };
  std::int64_t held_out_count() const noexcept override;
  TokenBatch held_out_batch(std::int64_t first, std::int64_t count) const override;
  std::vector<Sequence> sequences_of(std::int64_t step);
  TokenBatch batch_of(std::span<const std::int64_t> text, std::span<const Sequence> sequences,
                      double mask_probability) const;
  double smallest_draw(std::span<const Sequence> sequences) const;
  const TokenBatch& whole_batch(std::int64_t step);

  std::vector<std::int64_t> tokens_, held_out_;
  Epochs epochs_;
  std::int64_t made_step_ = -1;  // of which made_ is the whole batch: it is made once
  TokenBatch made_;
};

}  // namespace sextant

// Learning the next token of a text, or its hidden ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/text/token_array.h"
#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/token_task.h"

namespace sextant {

// Tokens to learn from, then those that are held out.
struct StoredTokens {
  TokenArray tokens, held_out;
  TokenArray document_ends{};  // in both together: the token after each document's last, ascending
};

// Sequences are pieces of one stream of tokens; where they begin moves with every pass over it. A
// sequence may hold parts of several documents; with options.document_mask each is a sequence of
// its own, whose positions begin at 0. Causal models predict each next token. Masked models predict
// chosen tokens, of which 80 % are replaced by the token after the tokenizer's last, 10 % by a
// random one, and 10 % are left as they are (Devlin et al. 2018, section 3.1). A step in which no
// token is drawn takes the one that was closest to being drawn.
class LanguageTask : public TokenTask<LanguageModel, TokenBatch> {
 public:
  // config.vocabulary is set to what the tokenizer needs. Throws Error for options out of range and
  // for a text or a held-out text of fewer than length + 1 tokens.
  LanguageTask(LanguageData text, TransformerConfig config, const TaskOptions& options = {});
  // Trains this model on tokens that its tokenizer made, and that stay where they are: in a mapped
  // file, or in memory. Throws Error also for a document mask without documents.
  LanguageTask(StoredTokens tokens, TextModel model, const TaskOptions& options = {});

  std::int64_t steps_per_epoch() const noexcept;
  std::int64_t target_tokens(std::int64_t step) override;
  TokenBatch training_batch(std::int64_t step, std::int64_t batch) override;

 private:
  // A sequence of the text: where it begins, and the key of what is hidden.
  struct Sequence {
    std::int64_t begin;
    std::uint64_t key;
  };
  std::int64_t held_out_count() const noexcept override;
  TokenBatch held_out_batch(std::int64_t first, std::int64_t count) const override;
  std::vector<Sequence> sequences_of(std::int64_t step);
  // Of tokens, of which the first is number `place` of all.
  TokenBatch batch_of(const TokenArray& text, std::size_t place,
                      std::span<const Sequence> sequences, double mask_probability) const;
  double smallest_draw(std::span<const Sequence> sequences) const;
  const TokenBatch& whole_batch(std::int64_t step);

  StoredTokens text_;
  Epochs epochs_;
  std::int64_t made_step_ = -1;  // of which made_ is the whole batch: it is made once
  TokenBatch made_;
};

}  // namespace sextant

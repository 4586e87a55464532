// Trains a model to predict the next token of a text, or its hidden ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/text/token_array.h"
#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/token_task.h"

namespace sextant {

// Training tokens, then the held-out ones.
struct StoredTokens {
  TokenArray tokens, held_out;
  // Ends in both together: the token after each document's last, ascending.
  TokenArray document_ends{};
};

// Sequences are pieces of one stream of tokens; their beginnings change with every pass over it. A
// sequence may have parts of several documents; with options.document_mask each is a separate
// sequence, whose positions begin at 0. Causal models predict each next token. Masked models
// predict chosen tokens, of which 80 % are replaced by the token after the tokenizer's last, 10 %
// by a random one, and 10 % are unchanged (Devlin et al. 2018, section 3.1). If no token is drawn
// in a step, the one that was closest to being drawn is used.
class LanguageTask : public TokenTask<LanguageModel, TokenBatch> {
 public:
  // Sets config.vocabulary to the size for the tokenizer. Throws Error for options out of range and
  // for a text or a held-out text of fewer than length + 1 tokens.
  LanguageTask(LanguageData text, TransformerConfig config, const TaskOptions& options = {});
  // Trains this model on tokens from its tokenizer, which are not copied: in a mapped file, or in
  // memory. Throws Error also for a document mask without documents.
  LanguageTask(StoredTokens tokens, TextModel model, const TaskOptions& options = {});

  std::int64_t steps_per_epoch() const noexcept;
  std::int64_t target_tokens(std::int64_t step) override;
  TokenBatch training_batch(std::int64_t step, std::int64_t batch) override;

 private:
  // A sequence of the text: its beginning, and the key of its hidden tokens.
  struct Sequence {
    std::int64_t begin;
    std::uint64_t key;
  };
  std::int64_t held_out_count() const noexcept override;
  TokenBatch held_out_batch(std::int64_t first, std::int64_t count) const override;
  std::vector<Sequence> sequences_of(std::int64_t step);
  // Makes a batch of tokens, the first of which is number `place` of all.
  TokenBatch batch_of(const TokenArray& text, std::size_t place,
                      std::span<const Sequence> sequences, double mask_probability) const;
  double smallest_draw(std::span<const Sequence> sequences) const;
  const TokenBatch& whole_batch(std::int64_t step);

  StoredTokens text_;
  Epochs epochs_;
  std::int64_t made_step_ = -1;  // step of the batch in made_, which is made once
  TokenBatch made_;
};

}  // namespace sextant

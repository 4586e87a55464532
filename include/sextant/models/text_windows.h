// Scores a text that is longer than a causal model's context, in windows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "sextant/models/language_model.h"

namespace sextant {

// Collects windows of a text into batches of about `batch_tokens` tokens, which limits the memory.
class WindowBatches {
 public:
  using Score = std::function<void(const TokenBatch&)>;
  WindowBatches(std::span<const std::int64_t> tokens, std::int64_t batch_tokens, Score score);

  // Adds a window that predicts tokens [begin, end), begin >= 1, each from those before it from
  // begin - 1 on; only those from `scored` on are targets of the batch.
  void add(std::int64_t begin, std::int64_t end, std::int64_t scored);
  void finish();  // scores the rest

 private:
  std::span<const std::int64_t> tokens_;
  std::int64_t batch_tokens_;
  Score score_;
  TokenBatch batch_{{}, {0}, {}};
};

struct TextWindows {
  std::int64_t length = 0;  // tokens that a window reads, >= 1; 0: the length in the model's config
  std::int64_t stride = 0;  // step of the window, 1 .. length; 0: length, windows do not overlap
  std::int64_t batch_tokens = 8192;  // approximate tokens of one pass
  int threads = 0;                   // as in parallel_for; the numbers do not depend on it
  // Called before each pass with the number of tokens read so far and of all.
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};

// Throws Error(where, ...) unless 1 <= stride <= length.
void check_stride(std::int64_t length, std::int64_t stride,
                  std::string_view where = "evaluate.stride");

// Returns the loss of all tokens except the first, each predicted once. Of the first window all
// predictions count, of the others the last `stride`, which see length - stride + 1 .. length
// tokens. Throws Error for a model that is not causal, fewer than 2 tokens, and options out of
// range.
LossSum text_loss(const LanguageModel<float>& model, std::span<const std::int64_t> tokens,
                  const TextWindows& windows = {});

}  // namespace sextant

// Windows as sequences of a batch.
#include "sextant/models/text_windows.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/check_kind.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"

namespace sextant {

WindowBatches::WindowBatches(std::span<const std::int64_t> tokens, std::int64_t batch_tokens,
                             Score score)
    : tokens_(tokens), batch_tokens_(batch_tokens), score_(std::move(score)) {}

void WindowBatches::add(std::int64_t begin, std::int64_t end, std::int64_t scored) {
  for (std::int64_t i = begin; i < end; ++i) {
    batch_.tokens.push_back(tokens_[static_cast<std::size_t>(i - 1)]);
    batch_.targets.push_back(i < scored ? -1 : tokens_[static_cast<std::size_t>(i)]);
  }
  const auto size = static_cast<std::int64_t>(batch_.tokens.size());
  batch_.segments.push_back(size);
  if (size >= batch_tokens_) finish();
}

void WindowBatches::finish() {
  if (batch_.tokens.empty()) return;
  score_(batch_);
  batch_ = {{}, {0}, {}};
}

void check_stride(std::int64_t length, std::int64_t stride, std::string_view where) {
  if (length >= 1 && stride >= 1 && stride <= length) return;
  throw Error(where, "must be 1 .. " + std::to_string(length) + ", the length, got " +
                         std::to_string(stride));
}

LossSum text_loss(const LanguageModel<float>& model, std::span<const std::int64_t> tokens,
                  const TextWindows& windows) {
  check_kind("evaluate.model", model.config.kind, ModelKind::causal);
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (count < 2) {
    throw Error("evaluate.tokens", "must be 2 or more, got " + std::to_string(count));
  }
  check_fields("evaluate", windows);
  const std::int64_t length = windows.length == 0 ? model.config.length : windows.length;
  const std::int64_t stride = windows.stride == 0 ? length : windows.stride;
  check_stride(length, stride);
  Workspace memory;
  Pass pass{.memory = memory, .threads = windows.threads};
  LossSum sum;
  std::int64_t next = 1;  // the first token that was not predicted yet
  WindowBatches batches(tokens, windows.batch_tokens, [&](const TokenBatch& batch) {
    if (windows.progress) windows.progress(next, count);
    memory.reset();
    sum.add(model.loss(batch, {}, nullptr, pass));
  });
  for (std::int64_t begin = 1; next < count; begin += stride) {
    const std::int64_t end = std::min(begin + length, count), scored = std::exchange(next, end);
    batches.add(begin, end, scored);
  }
  batches.finish();
  return sum;
}

}  // namespace sextant

// Computes perplexities by length: makes batches of windows, and sums over the scored tokens.
#include "sextant/experiments/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/options/fields.h"
#include "models/check_kind.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/models/text_windows.h"

namespace sextant {
namespace {

void check(const LanguageModel<float>& model, std::span<const std::int64_t> tokens,
           const ScoredTokens& scored, std::int64_t length, const ScoringOptions& options) {
  check_kind("extrapolation.model", model.config.kind, ModelKind::causal);
  check_range(at_least(2), "extrapolation.length", length);
  check_range(at_least(1), "extrapolation.batch_tokens", options.batch_tokens);
  const auto size = static_cast<std::int64_t>(tokens.size());
  if (scored.first < length || scored.count < 1 || scored.first > size ||
      scored.count > size - scored.first) {
    throw Error("extrapolation.scored", "must lie in the text's " + std::to_string(size) +
                                            " tokens with length = " + std::to_string(length) +
                                            " before them, got " + std::to_string(scored.count) +
                                            " from " + std::to_string(scored.first) + " on");
  }
}

// Computes the mean over the scored tokens; each token's log likelihood is added separately.
class Scorer {
 public:
  Scorer(const LanguageModel<float>& model, std::span<const std::int64_t> tokens,
         const ScoringOptions& options)
      : windows_(tokens, options.batch_tokens, [&model, this, &options](const TokenBatch& batch) {
          memory_.reset();
          Pass pass{.memory = memory_, .threads = options.threads};
          const Tensor<double> likelihoods = model.log_likelihoods(batch, pass);
          // 0 for tokens that are not scored.
          for (const double value : likelihoods.span()) sum_ += value;
        }) {}

  void add(std::int64_t begin, std::int64_t end, std::int64_t scored) {
    windows_.add(begin, end, scored);
    count_ += end - scored;
  }

  LengthScore finish() {
    windows_.finish();
    const double loss = -sum_ / static_cast<double>(count_), perplexity = std::exp(loss);
    if (std::isfinite(perplexity)) return {perplexity, ""};
    return {std::nullopt, "the loss per token is " + shortest(loss)};
  }

 private:
  Workspace memory_;
  WindowBatches windows_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

// Why the model cannot see `length` tokens; empty: it can.
std::string refusal(const LanguageModel<float>& model, std::int64_t length) {
  try {
    (void)model.positions.tables(length);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

ScoredTokens scored_tokens(std::int64_t text, std::int64_t longest, std::int64_t max_tokens) {
  check_range(at_least(2), "extrapolation.length", longest);
  check_range(at_least(1), "extrapolation.scored", max_tokens);
  if (text / 2 < longest) {
    throw Error("extrapolation.tokens", "must be at least twice the longest length of " +
                                            std::to_string(longest) + ", got " +
                                            std::to_string(text));
  }
  std::int64_t count = std::min(max_tokens, text - longest);
  if (count > longest) count = count / longest * longest;
  return {longest, count};
}

LengthScore segment_perplexity(const LanguageModel<float>& model,
                               std::span<const std::int64_t> tokens, const ScoredTokens& scored,
                               std::int64_t length, const ScoringOptions& options) {
  check(model, tokens, scored, length, options);
  if (std::string reason = refusal(model, length); !reason.empty()) {
    return {std::nullopt, std::move(reason)};
  }
  Scorer scorer(model, tokens, options);
  const std::int64_t end = scored.first + scored.count;
  for (std::int64_t begin = scored.first; begin < end; begin += length) {
    scorer.add(begin, std::min(end, begin + length), begin);
  }
  return scorer.finish();
}

LengthScore sliding_perplexity(const LanguageModel<float>& model,
                               std::span<const std::int64_t> tokens, const ScoredTokens& scored,
                               std::int64_t length, std::int64_t stride,
                               const ScoringOptions& options) {
  check(model, tokens, scored, length, options);
  check_stride(length, stride, "extrapolation.stride");
  if (std::string reason = refusal(model, length); !reason.empty()) {
    return {std::nullopt, std::move(reason)};
  }
  Scorer scorer(model, tokens, options);
  const std::int64_t last = scored.first + scored.count;
  for (std::int64_t first = scored.first; first < last; first += stride) {
    const std::int64_t end = std::min(last, first + stride);
    scorer.add(end - length, end, first);
  }
  return scorer.finish();
}

std::int64_t tokens_to_score(const ScoredTokens& scored, std::int64_t length, std::int64_t stride) {
  return stride == 0 ? scored.count : (scored.count + stride - 1) / stride * length;
}

}  // namespace sextant

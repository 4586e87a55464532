// Reads the masks of a text as tokens, and predicts the most probable tokens of each.
#include "sextant/models/fill_masks.h"

#include <algorithm>

#include "models/check_kind.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/sampling.h"

namespace sextant {
namespace {

using Predictions = std::vector<FilledText::Prediction>;

// A text as tokens, and the places of its masks.
struct MaskedText {
  TokenBatch batch;
  std::vector<std::int64_t> places;
};

// The text's parts one by one: a tokenizer of this library has no piece for a mask.
std::vector<std::int64_t> parts_and_masks(std::string_view text, const Tokenizer& tokenizer) {
  std::vector<std::int64_t> tokens;
  while (true) {
    const std::size_t mask = text.find(kMask);
    const auto part = tokenizer.encode(text.substr(0, mask));
    tokens.insert(tokens.end(), part.begin(), part.end());
    if (mask == std::string_view::npos) return tokens;
    tokens.push_back(tokenizer.special().mask);
    text.remove_prefix(mask + kMask.size());
  }
}

// The whole text, with the model's own piece for a mask.
std::vector<std::int64_t> read_with_masks(std::string_view text, const Tokenizer& tokenizer) {
  const std::string mask = tokenizer.piece(tokenizer.special().mask);
  std::string written(text);
  for (std::size_t at = 0; (at = written.find(kMask, at)) != std::string::npos;) {
    written.replace(at, kMask.size(), mask);
    at += mask.size();
  }
  return tokenizer.model_input(written).ids;
}

MaskedText masked_text_of(std::string_view text, const Tokenizer& tokenizer,
                          const FillOptions& options) {
  const std::int64_t mask = tokenizer.special().mask;
  if (mask < 0) {
    throw Error("fill_masks.model", "must have a mask token, got a tokenizer without");
  }
  const auto tokens =
      tokenizer.has(mask) ? read_with_masks(text, tokenizer) : parts_and_masks(text, tokenizer);
  MaskedText masked;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == mask) masked.places.push_back(static_cast<std::int64_t>(i));
  }
  if (masked.places.empty()) {
    throw Error(options.where, "must have " + std::string(kMask) + " where a token is hidden");
  }
  if (tokens.size() > options.max_tokens) {
    throw Error(options.where, "must be at most " + std::to_string(options.max_tokens) +
                                   " tokens, got " + std::to_string(tokens.size()));
  }
  masked.batch = TokenBatch::of(tokens);
  return masked;
}

// Returns tokens that no text is written with: mask tokens and end tokens are no answers.
std::vector<std::int64_t> no_answers(const TextModel& model) {
  std::vector<std::int64_t> ids = model.tokenizer.unwritten(model.config.vocabulary);
  const SpecialTokens& special = model.tokenizer.special();
  ids.insert(ids.end(), {special.pad, special.bos, special.unk, special.mask});
  ids.insert(ids.end(), special.ends.begin(), special.ends.end());
  return ids;
}

// The most probable tokens of one mask.
Predictions predictions_of(std::span<const float> all, std::int64_t most,
                           std::span<const std::int64_t> never, const Tokenizer& tokenizer) {
  std::vector<float> logits(all.begin(), all.end());
  forbid(never, logits);
  Predictions predictions;
  const auto count = static_cast<std::int64_t>(all.size());
  const std::int64_t asked = std::min(most, count) + std::ssize(never);
  for (const auto& [token, probability] : most_probable(logits, asked)) {
    if (std::ssize(predictions) == most) break;
    if (probability == 0 && std::ranges::count(never, token) > 0) continue;
    predictions.push_back({token, tokenizer.piece(token), probability});
  }
  return predictions;
}

// The text with the most probable token for every mask.
std::string filled(const MaskedText& masked, const std::vector<Predictions>& predictions,
                   const Tokenizer& tokenizer) {
  std::vector<std::int64_t> ids = masked.batch.tokens;
  for (std::size_t mask = 0; mask < predictions.size(); ++mask) {
    ids[static_cast<std::size_t>(masked.places[mask])] = predictions[mask].at(0).id;
  }
  if (tokenizer.kind() == TokenizerKind::pretrained) return tokenizer.decode(ids);
  std::vector<std::string> tokens;  // unknown ones too
  for (const std::int64_t id : ids) tokens.push_back(tokenizer.piece(id));
  return tokenizer.join(tokens);
}

}  // namespace

FilledText fill_masks(const TextModel& model, std::string_view text, const FillOptions& options) {
  check_kind("fill_masks.model", model.config.kind, ModelKind::masked);
  check_fields("fill_masks", options);
  const MaskedText masked = masked_text_of(text, model.tokenizer, options);
  Workspace memory;
  Pass pass{.memory = memory, .threads = options.threads};
  const Tensor<float> logits = model.logits(masked.batch, masked.places, pass);
  const std::vector<std::int64_t> never = no_answers(model);
  FilledText result;
  for (std::int64_t i = 0; i < logits.size(0); ++i) {
    const View<const float> row = logits.view().select(0, i);
    result.masks.push_back(predictions_of({row.data(), static_cast<std::size_t>(row.count())},
                                          options.top_k, never, model.tokenizer));
  }
  result.text = filled(masked, result.masks, model.tokenizer);
  return result;
}

}  // namespace sextant

// Holes as tokens, and the most probable tokens of each.
#include "sextant/models/fill_masks.h"

#include <algorithm>

#include "models/check_kind.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/sampling.h"

namespace sextant {
namespace {

using Guesses = std::vector<FilledText::Guess>;

// A text with holes as tokens, and where the holes are.
struct Holes {
  TokenBatch batch;
  std::vector<std::int64_t> places;
};

Holes holes_of(std::string_view text, const Tokenizer& tokenizer, const FillOptions& options) {
  Holes holes;
  std::vector<std::int64_t> tokens;
  while (true) {
    const std::size_t hole = text.find(kMask);
    const auto part = tokenizer.encode(text.substr(0, hole));
    tokens.insert(tokens.end(), part.begin(), part.end());
    if (hole == std::string_view::npos) break;
    holes.places.push_back(static_cast<std::int64_t>(tokens.size()));
    tokens.push_back(tokenizer.size());  // stands for what is hidden
    text.remove_prefix(hole + kMask.size());
  }
  if (holes.places.empty()) {
    throw Error(options.where, "must have " + std::string(kMask) + " where a token is hidden");
  }
  if (tokens.size() > options.max_tokens) {
    throw Error(options.where, "must be at most " + std::to_string(options.max_tokens) +
                                   " tokens, got " + std::to_string(tokens.size()));
  }
  holes.batch = TokenBatch::of(tokens);
  return holes;
}

// The most probable tokens of one hole, of those that stand in a text: what stands for hidden ones
// is no answer, and neither is the end.
Guesses guesses_of(std::span<const float> all, std::int64_t most, const Tokenizer& tokenizer) {
  std::vector<float> logits(all.begin(), all.begin() + tokenizer.size());
  std::vector<std::int64_t> never = unwritten_tokens();
  never.push_back(Tokenizer::eos());
  forbid(never, logits);
  Guesses guesses;
  const std::int64_t asked = std::min(most, tokenizer.size()) + std::ssize(never);
  for (const auto& [token, probability] : most_probable(logits, asked)) {
    if (std::ssize(guesses) == most || std::ranges::count(never, token) > 0) continue;
    guesses.push_back({tokenizer.piece(token), probability});
  }
  return guesses;
}

// The text with the most probable token in every hole.
std::string filled(const Holes& holes, const std::vector<Guesses>& guesses,
                   const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  std::size_t hole = 0;
  for (const std::int64_t token : holes.batch.tokens) {
    tokens.push_back(token == tokenizer.size() ? guesses[hole++][0].token : tokenizer.piece(token));
  }
  return tokenizer.join(tokens);
}

}  // namespace

FilledText fill_masks(const TextModel& model, std::string_view text, const FillOptions& options) {
  check_kind("fill_masks.model", model.config.kind, ModelKind::masked);
  check_fields("fill_masks", options);
  const Holes holes = holes_of(text, model.tokenizer, options);
  Workspace memory;
  Pass pass{.memory = memory, .threads = options.threads};
  const Tensor<float> logits = model.logits(holes.batch, holes.places, pass);
  FilledText result;
  for (std::int64_t i = 0; i < logits.size(0); ++i) {
    const View<const float> row = logits.view().select(0, i);
    result.holes.push_back(guesses_of({row.data(), static_cast<std::size_t>(row.count())},
                                      options.guesses, model.tokenizer));
  }
  result.text = filled(holes, result.holes, model.tokenizer);
  return result;
}

}  // namespace sextant

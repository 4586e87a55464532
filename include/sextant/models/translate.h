// Translates by beam search.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sextant/models/beam_search.h"
#include "sextant/models/sampling.h"
#include "sextant/models/translator.h"

namespace sextant {

// Returns <pad>, <bos> and <unk> of models trained here: no text is written with them, so
// translators do not answer with them. For a translator that begins and ends targets with other
// tokens it returns those that begin them.
std::vector<std::int64_t> unwritten_tokens(const TransformerConfig& translator = {});

struct TranslateOptions {
  BeamSearchOptions search{};  // beams = 1: greedy; a `bos` replaces all of target_start
  // The largest length of a translation: length_factor * source tokens + extra_tokens, with <eos>,
  // or the length of the table of the model's positions, if that is less.
  double length_factor = 1.5;
  std::int64_t extra_tokens = 10;
  std::int64_t batch_size =
      32;  // sources that are decoded together, >= 1; results do not depend on it
  // Tokens that are never written; a pointer may still copy them from the source, as it does with
  // <unk> (translate_lines.h). Ids outside the vocabulary have no effect. Unset: unwritten_tokens()
  // of the first model; for texts of published models padding, <unk> and ids without a token.
  std::optional<std::vector<std::int64_t>> never{};
  int threads = 0;
};

// One model, or several that translate together: a token's probability is the mean over the models.
// Borrows them.
struct TranslatorEnsemble {
  std::vector<const Translator<float>*> models;

  TranslatorEnsemble(const Translator<float>& model) : models{&model} {}
  TranslatorEnsemble(std::vector<const Translator<float>*> several) : models(std::move(several)) {}
};

// Finds the best hypotheses of each source, tokens without <bos> and <eos>. Throws Error for an
// empty source, one that is longer than the models' positions, a token outside the vocabulary,
// options out of range, no model, or models of different vocabularies or ends of targets.
std::vector<std::vector<Hypothesis>> translate(const TranslatorEnsemble& ensemble,
                                               std::span<const std::vector<std::int64_t>> sources,
                                               const TranslateOptions& options = {});

// Computes how well given translations are predicted: the loss of each token and of <eos>, given
// the source and the tokens before, by the distribution that translate() searches. targets[i]
// belongs to sources[i] and has neither <bos> nor <eos>. A single model reads all of a target in
// one pass, unless its positions depend on how much of it was read; several read token by token.
// Throws Error as translate(), for another number of targets, for targets longer than the
// positions, and if a token, <bos> or <eos> is outside the vocabulary.
LossSum translation_loss(const TranslatorEnsemble& ensemble,
                         std::span<const std::vector<std::int64_t>> sources,
                         std::span<const std::vector<std::int64_t>> targets,
                         const TranslateOptions& options = {});

}  // namespace sextant

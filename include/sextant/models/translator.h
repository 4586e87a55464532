// Implements the encoder-decoder (Vaswani et al. 2017, 1706.03762), with copying on request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sextant/layers/pointer.h"
#include "sextant/models/token_model.h"

namespace sextant {

// Packed pairs of sequences: sequence s of `source` and of `target` belong together. The decoder's
// tokens begin with config.target_start, its targets end with config.target_end.
struct PairBatch {
  std::vector<std::int64_t> source, source_segments;
  TokenBatch target;
  std::int64_t source_first_row = 0;  // as TokenBatch::first_row, for the source

  // Throws Error for tokens outside the vocabulary and sequences that do not fit together.
  void check(std::int64_t vocabulary) const;
};

// Any number of threads may use a const one, each with its own Pass.
template <class T>
struct Translator : TokenModel<T> {  // of kind translator; source and target share the embedding
  using TokenModel<T>::config;
  using TokenModel<T>::embedding;
  using TokenModel<T>::output;
  using TokenModel<T>::logits_matrix;
  PositionModule<T> encoder_positions, decoder_positions;
  TransformerStack<T> encoder, decoder;
  std::optional<Pointer<T>> pointer;

  // As for LanguageModel().
  explicit Translator(const TransformerConfig& config, std::optional<UnsetWeights> unset = {});

  // As LanguageModel::loss().
  LossSum loss(const PairBatch& batch, const TokenLossOptions& options, Translator* gradient,
               Pass& pass) const;

  // Attention weights of one pair: [layers][heads, tokens, tokens], cross: [heads, target tokens,
  // source tokens]; copied [target tokens, source tokens]: the probability that a pointer copies
  // each source token; else empty. `target` is the decoder's input. `chosen`: as for
  // LanguageModel::attention_maps(), the layers and heads of encoder and decoder; Error for rows.
  struct Maps {
    std::vector<Tensor<T>> encoder, decoder, cross;
    Tensor<T> copied;
  };
  Maps attention_maps(std::span<const std::int64_t> source, std::span<const std::int64_t> target,
                      Pass& pass, const MapSelection& chosen = {}) const;

  // As LanguageModel::hidden_states(), for encoder and decoder: [layers + 1][tokens, width].
  // `target` is the decoder's input.
  struct HiddenStates {
    std::vector<Tensor<T>> encoder, decoder;
  };
  HiddenStates hidden_states(std::span<const std::int64_t> source,
                             std::span<const std::int64_t> target, Pass& pass) const;

  // As LanguageModel::layer_logits(), for the decoder, after each token of `target`: [layers + 1]
  // [target tokens, vocabulary]. With a pointer they are logarithms of probabilities, with copying.
  std::vector<Tensor<T>> layer_logits(std::span<const std::int64_t> source,
                                      std::span<const std::int64_t> target, Pass& pass) const;

  // Returns the decoder's input for a target: config.target_start and the target. After each of
  // these it writes the next one, and config.target_end after the last.
  std::vector<std::int64_t> decoder_input(std::span<const std::int64_t> target) const;

  // As LanguageModel::replace_schemes(), for encoder and decoder; throws Error for any layers.
  void replace_schemes(const SchemeSpecs& schemes, std::span<const std::int64_t> layers = {});

  // "embedding.weight", "encoder_positions.", "decoder_positions.", "encoder.", "decoder.",
  // "output.weight", "pointer.".
  Parameters<T> parameters();
  Parameters<const T> parameters() const;
};

}  // namespace sextant

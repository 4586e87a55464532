// What all models of tokens have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sextant/layers/embedding.h"
#include "sextant/layers/first_weights.h"
#include "sextant/layers/head_transform.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/token_loss.h"
#include "sextant/models/transformer_config.h"

namespace sextant {

// Packed sequences of tokens and the target at each position.
struct TokenBatch {
  std::vector<std::int64_t> tokens;    // [tokens], all sequences one after the other
  std::vector<std::int64_t> segments;  // [sequences + 1], where they begin and end
  std::vector<std::int64_t> targets;   // [tokens]; negative: nothing
  std::int64_t first_row = 0;  // tokens of the step in earlier batches, which dropout counts too

  // One sequence without targets.
  static TokenBatch of(std::span<const std::int64_t> tokens);
  // Throws Error for tokens outside the vocabulary and segments or targets that do not fit.
  void check(std::int64_t vocabulary) const;
};

// A vector for each token on the way in, and a logit for each token on the way out.
template <class T>
struct TokenModel {
  TransformerConfig config;
  Embedding<T> embedding;  // [vocabulary, width]
  Tensor<T> output;        // [vocabulary, width], or empty where it is the embedding
  Tensor<T> output_bias;   // [vocabulary], or empty
  std::optional<HeadTransform<T>> transform;  // of hidden states before the logits

  // [vocabulary, width]. Throws Error where config says that the model has no logits.
  View<const T> logits_matrix() const;
  LogitOptions<T> logit_options() const;
  // The logits of hidden states h [rows, width] that a stack gave. Throws Error as logits_matrix().
  void make_logits(View<const T> h, View<T> logits, Pass& pass) const;

 protected:
  // Weights from config.seed, or not set where the model has UnsetWeights.
  using Unset = std::optional<UnsetWeights>;
  // The embedding. Throws Error as check_config(), and for a translator's config of another model,
  // or the other way round.
  TokenModel(const TransformerConfig& config, bool translates, Unset unset);
  void start_output(FirstWeights weights);  // what is not the embedding
  void append_output(Parameters<T>& to);    // "output.weight", "output.bias", "output.transform."
  // Of a gradient: where that of logits_matrix() goes.
  View<T> output_gradient() { return config.tied ? embedding.table().view() : output.view(); }
};

// A model of the same configuration whose parameters are all 0: what loss() adds gradients to.
template <class Model>
Model zeros_like(const Model& model) {
  return make_zeros([&](UnsetWeights unset) { return Model(model.config, unset); });
}

}  // namespace sextant

// Implements what all models of tokens share.
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
  std::vector<std::int64_t> targets;   // [tokens]; negative: no target
  std::int64_t first_row = 0;  // tokens of the step in earlier batches; dropout counts them too
  std::vector<std::int64_t> types{};  // [tokens], below config.token_types, or empty: all are 0

  // Makes one sequence without targets.
  static TokenBatch of(std::span<const std::int64_t> tokens,
                       std::span<const std::int64_t> types = {});
  // Throws Error for tokens outside the vocabulary and segments, targets or types that do not fit.
  void check(std::int64_t vocabulary, std::int64_t token_types = 1) const;
};

// Which attention maps of a sentence to compute; only their memory is taken. Empty: all.
struct MapSelection {
  std::span<const std::int64_t> layers{};         // in ascending order
  std::span<const std::int64_t> heads{}, rows{};  // in any order; rows are queries
};

// A vector for each input token, and a logit for each output token.
template <class T>
struct TokenModel {
  TransformerConfig config;
  Embedding<T> embedding;  // [vocabulary, width]
  WeightMatrix<T> output;  // [vocabulary, width], or empty if it is the embedding
  Tensor<T> output_bias;   // [vocabulary], or empty
  std::optional<HeadTransform<T>> transform;  // transform of hidden states before the logits

  // Returns [vocabulary, width]. Throws Error if the config says that the model has no logits.
  WeightView<T> logits_matrix() const;
  LogitOptions<T> logit_options() const;
  // Computes the logits of hidden states h [rows, width] from a stack. Throws Error as
  // logits_matrix().
  void make_logits(View<const T> h, View<T> logits, Pass& pass) const;

 protected:
  // Weights come from config.seed, or are not set if the model has UnsetWeights.
  using Unset = std::optional<UnsetWeights>;
  // Makes the embedding. Throws Error as check_config(), for a translator with another model's
  // config, and the other way round.
  TokenModel(const TransformerConfig& config, bool translates, Unset unset);
  void start_output(FirstWeights weights);  // makes the weights besides the embedding
  void append_output(Parameters<T>& to);    // "output.weight", "output.bias", "output.transform."
  // Returns the array for the gradient of logits_matrix(), if this is a gradient.
  View<T> output_gradient() { return config.tied ? embedding.table().view() : output.view(); }
};

// Returns a model of the same configuration with all parameters 0, to which loss() adds gradients.
template <class Model>
Model zeros_like(const Model& model) {
  return make_zeros([&](UnsetWeights unset) { return Model(model.config, unset); });
}

}  // namespace sextant

// Implements language models: a stack over token embeddings, causal or masked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sextant/layers/token_loss.h"
#include "sextant/models/token_model.h"

namespace sextant {

// Computes embeddings times sqrt(width) plus positions, dropout, the stack, logits (tied or not).
// Any number of threads may use a const one, each with its own Pass.
template <class T>
struct LanguageModel : TokenModel<T> {  // of kind causal or masked
  using TokenModel<T>::config;
  using TokenModel<T>::embedding;
  using TokenModel<T>::output;
  using TokenModel<T>::logits_matrix;
  PositionModule<T> positions;
  TransformerStack<T> stack;
  Tensor<T> type_rows;  // [config.token_types - 1, width], of the types from 1 on

  // Draws first weights from config.seed; none yet for make_zeros() and make_loaded(). Throws Error
  // as check_config().
  explicit LanguageModel(const TransformerConfig& config, std::optional<UnsetWeights> unset = {});

  // Returns the summed loss of a batch; adds the gradients of options.scale times the smoothed one
  // to `gradient` (null: none), which begins as zeros_like(the model). If pass.context_parallel
  // holds a part of each sequence, they are those of the local tokens: the sums over all processes
  // are the batch's.
  LossSum loss(const TokenBatch& batch, const TokenLossOptions& options, LanguageModel* gradient,
               Pass& pass) const;
  // Returns the log likelihood of each target, [tokens], 0 where there is none.
  Tensor<double> log_likelihoods(const TokenBatch& batch, Pass& pass) const;
  // Returns the logits at some positions of a batch (of the token there, or of the next one):
  // [places, vocabulary]. Throws Error for a place outside the batch.
  Tensor<T> logits(const TokenBatch& batch, std::span<const std::int64_t> places, Pass& pass) const;
  // Returns the prediction of each layer for the next token (a masked model: for the token there)
  // if the stack ended after it: final norm and logits of the residual stream ("logit lens",
  // nostalgebraist 2020). [layers + 1][tokens, vocabulary]: before any layer, after each; the last
  // is logits().
  std::vector<Tensor<T>> layer_logits(std::span<const std::int64_t> tokens, Pass& pass) const;
  // Returns the residual stream: the input of the first layer, after its norm if there is one, then
  // the stream after each layer; the last also after the final norm, as `hidden_states` of Hugging
  // Face's transformers. [layers + 1][tokens, width]. `types` of tokens, as in a TokenBatch.
  std::vector<Tensor<T>> hidden_states(std::span<const std::int64_t> tokens, Pass& pass,
                                       std::span<const std::int64_t> types = {}) const;
  // Returns the last of these for each token of a batch, [tokens, width].
  Tensor<T> last_hidden_states(const TokenBatch& batch, Pass& pass) const;
  // Returns attention weights of a sentence, [layers][heads, rows, tokens], all or chosen ones.
  // Throws Error for layers that are not in ascending order, and for layers, heads and rows that do
  // not exist.
  std::vector<Tensor<T>> attention_maps(std::span<const std::int64_t> tokens, Pass& pass,
                                        const MapSelection& chosen = {},
                                        std::span<const std::int64_t> types = {}) const;

  // Replaces the positions of a trained model, to see their effect; {"none"} removes them. config
  // then has the new ones. Throws an Error with model.positions for schemes that learn weights, and
  // as PositionModule. Only in `layers` unless that is empty; the others keep their positions and
  // weights. Throws Error as with_schemes().
  void replace_schemes(const SchemeSpecs& schemes, std::span<const std::int64_t> layers = {});

  // Appends "embedding.weight", "positions.", "type_rows" if there are some, "stack.", "output.".
  Parameters<T> parameters();
  Parameters<const T> parameters() const;
};

}  // namespace sextant

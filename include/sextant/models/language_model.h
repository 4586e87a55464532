// Language models: a stack over token embeddings, causal or masked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sextant/layers/token_loss.h"
#include "sextant/models/token_model.h"

namespace sextant {

// Embeddings times sqrt(width) plus positions, dropout, the stack, logits (tied or not). Any number
// of threads may use a const one, each with a Pass of its own.
template <class T>
struct LanguageModel : TokenModel<T> {  // of kind causal or masked
  using TokenModel<T>::config;
  using TokenModel<T>::embedding;
  using TokenModel<T>::output;
  using TokenModel<T>::logits_matrix;
  PositionModule<T> positions;
  TransformerStack<T> stack;

  // First weights from config.seed; none yet for make_zeros() and make_loaded(). Throws Error as
  // check_config().
  explicit LanguageModel(const TransformerConfig& config, std::optional<UnsetWeights> unset = {});

  // The summed loss of a batch; adds the gradients of options.scale times the smoothed one to
  // `gradient` (null: none), which begins as zeros_like(the model). Where pass.context_parallel
  // holds a part of each sequence, they are those of the tokens here: the sums over all processes
  // are the batch's.
  LossSum loss(const TokenBatch& batch, const TokenLossOptions& options, LanguageModel* gradient,
               Pass& pass) const;
  // The log likelihood of each target, [tokens], 0 where there is none.
  Tensor<double> log_likelihoods(const TokenBatch& batch, Pass& pass) const;
  // The logits at some positions of a batch (of the token there, or of the next one): [places,
  // vocabulary]. Throws Error for a place outside the batch.
  Tensor<T> logits(const TokenBatch& batch, std::span<const std::int64_t> places, Pass& pass) const;
  // What each layer would say of the next token (a masked model: of the token there) if the stack
  // ended after it: final norm and logits of the residual stream ("logit lens", nostalgebraist
  // 2020). [layers + 1][tokens, vocabulary]: before any layer, after each; the last is logits().
  std::vector<Tensor<T>> layer_logits(std::span<const std::int64_t> tokens, Pass& pass) const;
  // The residual stream: what the first layer reads, after its norm if there is one, then what is
  // there after each layer; the last after the final norm too, as `hidden_states` of Hugging Face's
  // transformers. [layers + 1][tokens, width].
  std::vector<Tensor<T>> hidden_states(std::span<const std::int64_t> tokens, Pass& pass) const;
  // The last of these for each token of a batch, [tokens, width].
  Tensor<T> last_hidden_states(const TokenBatch& batch, Pass& pass) const;
  // Attention weights of a sentence, [layers][heads, tokens, tokens]; of some layers alone, which
  // takes the memory of these. Throws Error unless they are in ascending order; empty: all.
  std::vector<Tensor<T>> attention_maps(std::span<const std::int64_t> tokens, Pass& pass,
                                        std::span<const std::int64_t> layers = {}) const;

  // Gives a trained model other positions than it was trained with, to see what it does with them;
  // {"none"} takes them out. config says the new ones then. Throws Error naming model.positions for
  // schemes that learn weights, and as PositionModule. In `layers` alone unless that is empty; the
  // others keep theirs, and what they learned. Throws Error as with_schemes().
  void replace_schemes(const SchemeSpecs& schemes, std::span<const std::int64_t> layers = {});

  // "embedding.weight", "positions.", "stack.", "output.".
  Parameters<T> parameters();
  Parameters<const T> parameters() const;
};

}  // namespace sextant

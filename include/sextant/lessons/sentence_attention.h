// Computes attention maps from words: seeded embeddings, any scheme by name, many heads. `sextant
// attend` and `compare` use it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/scheme_spec.h"
#include "sextant/lessons/order_difference.h"
#include "sextant/lessons/position_effect.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// A pair that the caller hides, counted from 0; -1: all queries, all keys.
struct HiddenPair {
  std::int64_t query = -1, key = -1;
};

struct SentenceAttentionOptions {
  std::int64_t width = 64;  // width of the model, a multiple of heads
  std::int64_t heads = 4;
  SchemeSpecs schemes = {};  // {"rotary"}, {"rotary", "temperature"}; empty: none
  // Weights of a single scheme; null: the initial weights of training.
  const SchemeWeights* weights = nullptr;
  bool causal = false;
  std::uint32_t seed = 7;
  std::int64_t first_position = 0;  // position of the first word of either sentence

  // Changes of the scores before the softmax, all off by default.
  Window window = {};              // keys to the left and right of a query's diagonal key
  double temperature = 1;          // divides q k^T / sqrt(head_dim); above 0
  double softcap = 0;              // as in AttentionOptions
  std::vector<double> sinks = {};  // logits: none, one for all heads, or one per head
  std::vector<HiddenPair> hidden = {};
};

struct SentenceAttention {
  std::vector<std::string> queries, keys;  // the tokens of the two axes
  Tensor<double> weights;                  // [heads, queries, keys], rows sum to one
  Tensor<double> masked_weights;           // the same, -infinity for hidden pairs
  Tensor<double> output;                   // [queries, width]
  Tensor<double> words, inputs;  // [queries, width], before and after the addition of positions
  PositionEffect positions = PositionEffect::none;
  double rounding = 0;  // bound on the rounding error of any entry of the output
};

// Computes the attention of a sentence to itself (`second` empty), or with the first sentence as
// queries and the second as keys, both counted from first_position. Causal: a word attends to the
// words at its own position and before. The model has word vectors with normal(0, 1) entries that
// depend only on the word's bytes and the seed, so the same word has the same vector in every
// sentence and at every position; then a seeded MultiHead whose q and k weights are sqrt(6) times
// those of Linear::random. This gives scores of deviation 2, so that maps are neither uniform nor
// concentrated on one word. A rotation leaves the last channel of an odd head_dim unchanged. With
// sinks rows sum to less than one; a row without a visible key is zeros. attention_steps.h has all
// intermediate results. Throws Error for an empty sentence or options that do not fit together.
SentenceAttention attend_sentences(const std::vector<std::string>& first,
                                   const std::vector<std::string>& second,
                                   const SentenceAttentionOptions& options);

// Compares the outputs of the last token of both sentences under causal attention (options.causal
// is ignored). They are the same if they differ only within the rounding bounds, since sums in
// another order differ in their last bits. Throws Error as attend_sentences(), and unless `second`
// has the words of `first`.
struct OrderVerdict : OrderDifference {
  SentenceAttention first, second;
};
OrderVerdict compare_order(const std::vector<std::string>& first,
                           const std::vector<std::string>& second,
                           const SentenceAttentionOptions& options);

// Computes attention without learned weights. Rows of x [tokens, width] are queries and keys:
// softmax(x x^T / sqrt(width)).
Tensor<double> plain_self_attention(View<const double> x);

}  // namespace sextant

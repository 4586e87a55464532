// Computes attention step by step: everything that attend_sentences() computes between words and
// output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/names.h"
#include "sextant/core/tensor.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant {

// Lists the steps in the order of the computation. Tables of the queries' words are [queries,
// width], of the keys' [keys, width]; of heads [heads, queries or keys, head_dim]; of pairs [heads,
// queries, keys]. The learned matrices are [width, width + 1], a row per output channel: a factor
// per channel of the input, then the bias.
enum class AttentionStep {
  embeddings,      // vectors of the queries' words
  positions,       // vectors that a scheme adds; zeros if it adds nothing
  inputs,          // their sum
  key_embeddings,  // the same three for the keys' words
  key_positions,
  key_inputs,
  w_q,  // the matrices; heads take the rows of w_q, w_k and w_v in turn, head_dim each
  w_k,
  w_v,
  q,          // W_q inputs, of each head
  k,          // W_k key_inputs
  v,          // W_v key_inputs
  rotated_q,  // q after the rotation; q if the scheme rotates nothing
  rotated_k,
  scores,          // <rotated_q, rotated_k> / sqrt(head_dim) / temperature, also of hidden pairs
  from_positions,  // the scheme's change of the scores, without the softcap; -infinity if the
                   // scheme or the causal mask hides a pair
  capped,          // scores with the content term, after the softcap; hidden pairs have no term
  biased,          // after biases, windows and masks; hidden pairs are -infinity
  weights,         // after the softmax; hidden pairs are 0
  mixed,           // weights times v, [heads, queries, head_dim]
  w_out,           // its columns are the channels of the heads, side by side
  output,          // W_out times the heads side by side, [queries, width]
};
std::string_view name_of(AttentionStep step) noexcept;
inline constexpr std::size_t kAttentionSteps = 22;

struct AttentionSteps {
  std::vector<std::string> queries, keys;  // the tokens
  std::vector<Tensor<double>> tables;      // one per step
  const Tensor<double>& operator[](AttentionStep step) const {
    return tables[static_cast<std::size_t>(step)];
  }
};

// Computes the steps, with the model, options, errors and bits of attend_sentences().
AttentionSteps attention_steps(const std::vector<std::string>& first,
                               const std::vector<std::string>& second,
                               const SentenceAttentionOptions& options);

// Describes a step in one sentence, for a reader.
std::string_view meaning_of(AttentionStep step) noexcept;

}  // namespace sextant

// Attention step by step: everything that attend_sentences() computes between words and output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/names.h"
#include "sextant/core/tensor.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant {

// In the order of the computation. Tables of the queries' words are [queries, width], of the keys'
// [keys, width]; of heads [heads, queries or keys, head_dim]; of pairs [heads, queries, keys]; the
// learned matrices are [width, width + 1], a row per channel that they make: a factor per channel
// of the input, then the bias.
enum class AttentionStep {
  embeddings,      // of the queries' words
  positions,       // what a scheme adds to them; zeros when it adds nothing
  inputs,          // their sum
  key_embeddings,  // the same three of the keys' words
  key_positions,
  key_inputs,
  w_q,  // the matrices; heads take the rows of w_q, w_k and w_v in turn, head_dim each
  w_k,
  w_v,
  q,          // W_q inputs, of each head
  k,          // W_k key_inputs
  v,          // W_v key_inputs
  rotated_q,  // q after the rotation; q when the scheme rotates nothing
  rotated_k,
  scores,          // <rotated_q, rotated_k> / sqrt(head_dim) / temperature, of hidden pairs too
  from_positions,  // what the scheme changes of the scores, the softcap left out; -infinity where
                   // the scheme or the causal mask hides a pair
  capped,          // scores with the content term, after the softcap; hidden pairs have no term
  biased,          // after biases, windows and masks; hidden pairs are -infinity
  weights,         // after the softmax; hidden pairs are 0
  mixed,           // weights times v, [heads, queries, head_dim]
  w_out,           // its columns are the channels of the heads, side by side
  output,          // W_out of the heads side by side, [queries, width]
};
std::string_view name_of(AttentionStep step) noexcept;
inline constexpr std::size_t kAttentionSteps = 22;

struct AttentionSteps {
  std::vector<std::string> queries, keys;  // the tokens
  std::vector<Tensor<double>> tables;      // by step
  const Tensor<double>& operator[](AttentionStep step) const {
    return tables[static_cast<std::size_t>(step)];
  }
};

// Model, options and errors as of attend_sentences(), and the same bits.
AttentionSteps attention_steps(const std::vector<std::string>& first,
                               const std::vector<std::string>& second,
                               const SentenceAttentionOptions& options);

// In one sentence, what a step is, for a reader.
std::string_view meaning_of(AttentionStep step) noexcept;

}  // namespace sextant

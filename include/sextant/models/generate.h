// Continues a text with a causal language model, as tokens or as text. generate_batch.h continues
// several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/layers/stack_decoder.h"
#include "sextant/models/language_model.h"
#include "sextant/models/sampling.h"
#include "sextant/models/text_model.h"

namespace sextant {

// How a token was chosen. It borrows its data during the call.
struct GeneratedToken {
  std::int64_t token = 0;
  std::span<const float> logits;  // [vocabulary], from the model
  // [vocabulary], the distribution that the token was drawn from.
  std::span<const double> probabilities;
  // Indices of the text: of generate_batch(), else 0.
  std::size_t prompt = 0;
  std::int64_t sample = 0;
};

struct GenerateOptions {
  std::int64_t max_tokens = 200;  // number of tokens to generate, >= 1
  SamplingOptions sampling{};
  std::uint32_t seed = 1;
  std::vector<std::int64_t> ends{};  // tokens that end the text and are not part of it
  // What happens after the last position of the model's table (learned positions): false ends the
  // text there; true continues, with every further token predicted from as many last tokens as the
  // table has positions.
  bool slide = false;
  // Tokens that are never generated; ids outside the vocabulary have no effect. For a text the
  // default is Tokenizer::unwritten().
  std::vector<std::int64_t> never{};
  // Of the KV cache, which takes 2 layers kv_heads head_dim numbers for each token.
  CacheType cache_type = CacheType::float32;
  int threads = 0;
  // Called with every choice, also that of an end; may be empty.
  std::function<void(const GeneratedToken&)> watch{};
};

// The reason why a text ended.
enum class GenerationEnd {
  tokens,     // options.max_tokens were generated
  end,        // one of options.ends was generated
  stop,       // `each` returned false
  positions,  // the table of the model's positions ended
};
std::string_view name_of(GenerationEnd end) noexcept;

struct GeneratedTokens {
  std::vector<std::int64_t> tokens;  // without the prompt
  GenerationEnd ended_by = GenerationEnd::tokens;
};

// Continues `prompt` (at least one token), with a KV cache. `each` (may be empty) is called with
// every new token; false ends the text after it. At temperature 0 the tokens are the most probable
// ones, for any seed. Sliding past the end of the positions reads a whole window for each token.
// Throws Error for options out of range, a token outside the vocabulary, a model that is not
// causal, and without `slide` for a prompt that is longer than the model's positions.
GeneratedTokens generate(const LanguageModel<float>& model, std::span<const std::int64_t> prompt,
                         const GenerateOptions& options,
                         const std::function<bool(std::int64_t)>& each = {});

// Returns the options for a text of this model: its tokenizer's ends and unwritten(), if none are
// given.
GenerateOptions for_text(const TextModel& model, GenerateOptions options);

// Returns the continuation of a prompt, without the prompt, with for_text(). `show` (may be empty)
// gets every new part as it is made. Throws Error as above, and for a prompt that is not UTF-8.
std::string generate(const TextModel& model, std::string_view prompt,
                     const GenerateOptions& options = {},
                     const std::function<void(std::string_view)>& show = {});

}  // namespace sextant

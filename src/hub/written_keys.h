// Keys of a config.json that several families have, written.
#pragma once

#include <string>
#include <string_view>

#include "core/json/json.h"
#include "sextant/models/transformer_config.h"

namespace sextant::hub {

// transformers' name of an activation or of a gate's: "gelu_new".
std::string_view name_in_hub(Activation activation);

// `architectures`: "LlamaForCausalLM", or "LlamaModel" where there are no logits.
Json class_in_hub(const TransformerConfig& config, std::string_view name);

// hidden_size, num_hidden_layers, num_attention_heads, intermediate_size and
// max_position_embeddings.
Json sizes_in_hub(const TransformerConfig& config);
// n_embd, n_layer, n_head, n_inner and n_positions, as GPT-2 has them.
Json short_sizes_in_hub(const TransformerConfig& config);

// rope_theta and rope_scaling of a rotation without scaling, or scaled as rotary_linear,
// rotary_dynamic_ntk, rotary_yarn or rotary_llama3; both keys may have another name. Versions of
// transformers before 5 do not read rope_parameters.
struct RopeKeys {
  std::string_view base = "rope_theta";
  std::string_view partial{};  // the part of a head that is rotated; empty: all of it
};
void write_rope(const TransformerConfig& config, Json& json, const RopeKeys& keys = {});
// The exponent of ALiBi's smallest slope.
double alibi_max(const TransformerConfig& config);
// sliding_window, of a causal model that has the scheme `window`.
void write_window(const TransformerConfig& config, Json& json);

}  // namespace sextant::hub

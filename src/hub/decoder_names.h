// Names the parameters of a stack in the files of families. The defaults are Llama's names, which
// most families share. An encoder and a decoder have separate names.
#pragma once

#include <string_view>

#include "hub/weight_table.h"
#include "sextant/models/transformer_config.h"

namespace sextant::hub {

// The order of rows in one map for q, k and v.
enum class Fused {
  parts,    // all of q, then k, then v
  groups,   // for each head of keys: its heads of queries, k, v
  codegen,  // four times: a quarter of q, of v, of k
};

// After the prefix; ".weight" and ".bias" follow. Empty: not there.
struct DecoderNames {
  std::string_view embedding = "embed_tokens";
  std::string_view positions{};     // a learned table
  std::int64_t first_position = 0;  // its rows before are of padding
  std::string_view embedding_norm{};
  std::string_view layers = "layers.";
  std::string_view final_norm = "norm";
  std::string_view head = "lm_head";
  // Names of a layer: maps of attention, of the feed-forward layer, norms.
  std::string_view q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj";
  std::string_view qkv{};  // one map in place of the three
  Fused fused = Fused::parts;
  std::string_view out = "self_attn.o_proj";
  std::string_view gate = "mlp.gate_proj";
  std::string_view up = "mlp.up_proj";
  std::string_view gate_up{};  // one map in place of the two
  std::string_view down = "mlp.down_proj";
  std::string_view self_norm = "input_layernorm", self_output_norm{};
  std::string_view feed_forward_norm = "post_attention_layernorm", feed_forward_output_norm{};
  // Names of a decoder's attention to an encoder's output.
  std::string_view cross_q{}, cross_k{}, cross_v{}, cross_out{}, cross_norm{};
  std::string_view q_norm = "self_attn.q_norm", k_norm = "self_attn.k_norm";
  NormParts norms = NormParts::gain;
  Stored stored = Stored::rows;
  double residual = 1;  // factor of the blocks' results
};

// All parameters of a language model that config describes.
void add_decoder(const TransformerConfig& config, const DecoderNames& names, WeightTable& table);
// Those of its layers alone.
void add_layers(const TransformerConfig& config, const DecoderNames& names, WeightTable& table);

// All parameters of a translator. Both stacks and the logits share the embedding, of which files
// may have copies under the names that `encoder` and `decoder` give it.
void add_translator(const TransformerConfig& config, const DecoderNames& encoder,
                    const DecoderNames& decoder, std::string_view embedding, WeightTable& table);

}  // namespace sextant::hub

// Holds the configuration of a transformer, stored as config.json with its weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/names.h"
#include "sextant/layers/position_module.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant {

enum class ModelKind {
  causal,      // a decoder without an encoder predicts the next token
  masked,      // an encoder predicts hidden tokens (Devlin et al. 2018, 1810.04805)
  translator,  // encoder and decoder (Vaswani et al. 2017, 1706.03762)
};
std::string_view name_of(ModelKind kind) noexcept;
std::string described(ModelKind kind);  // returns "a causal language model"

// The schemes of some layers, instead of those of the others.
struct LayerSchemes {
  std::vector<std::int64_t> layers;  // from 0 on, ascending
  SchemeSpecs schemes;               // none that adds rows to embeddings, which are for all layers
};

struct TransformerConfig {
  ModelKind kind = ModelKind::causal;
  std::int64_t vocabulary = 0;  // tokens; source and target of a translator share them
  std::int64_t width = 256;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 0;        // 0: heads
  std::int64_t head_dim = 0;        // channels of queries, keys and values; 0: width / heads
  std::int64_t layers = 6;          // layers of the decoder, or of the only stack
  std::int64_t encoder_layers = 0;  // layers of a translator's encoder; 0: layers
  std::int64_t ffn_width = 0;       // width of feed-forward layers; 0: 4 width
  Activation activation = Activation::gelu;
  NormKind norm = NormKind::layer;
  double norm_epsilon = 1e-5;
  bool pre_norm = true;
  // Norms of the result of each block before it is added: in addition to the norms before the
  // blocks, as in Gemma 2, or with pre_norm = false instead of those after the sums, as in OLMo 2.
  bool output_norm = false;
  ParallelBlocks parallel_blocks = ParallelBlocks::none;
  // A norm after the last block of each stack. `sextant train --post-norm` makes models without, as
  // in Vaswani et al. 2017; torch.nn.Transformer is a post-norm model with one.
  bool final_norm = true;
  bool first_norm = true;       // before the first attention; ModernBERT has none there
  bool embedding_norm = false;  // norm of the first layer's input, as in BERT and BLOOM
  bool bias = true;             // the linear maps have biases
  // Biases if `bias` is false: of the maps to q, k and v, as in Qwen 2, of attention's result, and
  // of feed-forward layers.
  bool qkv_bias = false, out_bias = false, ffn_bias = false;
  QkNorm qk_norm = QkNorm::none;
  double attention_scale = 0;    // scale of the scores; 0: 1 / sqrt(head_dim)
  double attention_softcap = 0;  // softcap of the scaled scores; 0: none
  double embedding_scale = 0;    // factor of the embedding; 0: sqrt(width)
  // Types of tokens, as the first and the second text of BERT; a row for each but type 0 is added
  // to the embedding. Not for a translator.
  std::int64_t token_types = 1;
  bool tied = true;    // logits are products with the embedding; false: with a separate matrix
  bool logits = true;  // false: only hidden states, as in BertModel
  // For a model without a pointer: a bias; a factor; a cap after it, 0: none; and unless it is a
  // translator, a layer before (head_transform.h), as in masked language models.
  bool logits_bias = false;
  double logits_scale = 1, logits_softcap = 0;
  bool logits_transform = false;
  bool pointer = false;              // a translator may copy (pointer.h)
  SchemeSpecs schemes = {"rotary"};  // schemes of self attention; cross attention has none
  // Schemes of a translator's decoder if they differ, as in T5, which sees no later token; empty:
  // `positions`.
  SchemeSpecs decoder_schemes{};
  std::vector<LayerSchemes> layer_schemes{};  // the layers that differ; not for a translator
  std::int64_t length = 512;                  // positions of learned tables
  // The tokens that a translator's decoder reads before a target, at least one, and writes after
  // it.
  std::vector<std::int64_t> target_start = {1};
  std::int64_t target_end = 2;
  std::uint32_t seed = 1;  // seed of the first weights

  std::int64_t attention_head_dim() const { return head_dim > 0 ? head_dim : width / heads; }
  double embedding_factor() const;  // factor of the embedding's rows
  // Return the options of the parts. Errors have transformer.ARGUMENT.
  StackOptions stack(bool encoder) const;
  PositionOptions position_options(bool decoder = false) const;
};

// Throws Error for sizes that are not positive, do not fit, or are too large to hold.
void check_config(const TransformerConfig& config);

// Throws an Error with `where` for schemes with weights: a trained model has none for positions
// other than its own.
void check_replacement(const SchemeSpecs& schemes, std::string_view where = "model.positions");
// Returns the config with these positions in all layers; windows of layers are positions too. Only
// in `layers`, numbers from 0, unless that is empty: the others keep theirs. Throws Error as
// check_replacement(), and with model.replace_in for layers that do not exist or are duplicate, for
// a translator, and if the config's or the new positions are rows that are added to embeddings,
// before all layers.
TransformerConfig with_schemes(TransformerConfig config, const SchemeSpecs& schemes,
                               std::span<const std::int64_t> layers = {});

// Write and parse JSON with all fields; files of earlier versions are read. Parsing throws an Error
// with `where` and the key for anything missing, unknown or of the wrong type.
std::string format_config(const TransformerConfig& config);
TransformerConfig parse_config(std::string_view json, std::string_view where = "config");

}  // namespace sextant

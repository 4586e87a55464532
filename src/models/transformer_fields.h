// The list of a model's configuration: its keys in config.json, its options in commands that train.
#pragma once

#include "core/options/fields.h"
#include "sextant/models/transformer_config.h"

namespace sextant {

template <>
inline constexpr auto kFields<SchemeSpec> =
    std::tuple{field(&SchemeSpec::scheme, "scheme", TextRange{"a scheme"}, "name of the scheme"),
               field(&SchemeSpec::parameters, "parameters", TextRange{"names and values"},
                     "parameters of the scheme")};

template <>
inline constexpr auto kFields<LayerSchemes> =
    std::tuple{field(&LayerSchemes::layers, "layers", ListRange{IntegerRange{0, 999}},
                     "indices of the layers, from 0"),
               field(&LayerSchemes::schemes, "schemes", TextRange{"schemes and their parameters"},
                     "schemes of these layers")
                   .renamed_from("positions")};

template <>
inline constexpr auto kMeanings<ModelKind> = meanings("the next token", "masked tokens",
                                                      "the translation of a source");

template <>
inline constexpr auto kMeanings<Activation> = meanings("max(x, 0)", "x Phi(x)",
                                                       "gelu, approximated with tanh",
                                                       "x / (1 + exp(-x))", "silu(gate) * up",
                                                       "gelu(gate) * up", "gelu_tanh(gate) * up");

template <>
inline constexpr auto kMeanings<NormKind> = meanings(
    "(x - mean) / standard deviation, with gain and bias", "x / root mean square, with gain");

template <>
inline constexpr auto kMeanings<QkNorm> = meanings("no norm",
                                                   "a norm per head, as in Qwen 3 and Gemma 3",
                                                   "one norm over all heads, as in OLMo 2");

template <>
inline constexpr auto kMeanings<ParallelBlocks> =
    meanings("attention first, the feed-forward block reads its output",
             "one norm before both, as in GPT-J", "a norm before each, as in GPT-NeoX");

template <>
inline constexpr auto kFields<TransformerConfig> = std::tuple{
    field(&TransformerConfig::kind, "kind", "prediction target"),
    field(&TransformerConfig::vocabulary, "vocabulary", IntegerRange{1, 1 << 24},
          "number of tokens"),
    field(&TransformerConfig::width, "width", IntegerRange{1, 1 << 16},
          "width of embeddings and layers"),
    field(&TransformerConfig::heads, "heads", IntegerRange{1, 1 << 16}, "attention heads")
        .with_condition("divides the width"),
    field(&TransformerConfig::kv_heads, "kv_heads", IntegerRange{0, 1 << 16},
          "heads of keys and values; 0: as many as heads")
        .with_condition("divides the heads")
        .renamed_from("heads_k"),
    field(&TransformerConfig::head_dim, "head_dim", IntegerRange{0, 1 << 16},
          "channels of queries, keys and values per head; 0: width / heads"),
    field(&TransformerConfig::layers, "layers", IntegerRange{1, 1000},
          "layers of the decoder, or of the only stack"),
    field(&TransformerConfig::encoder_layers, "encoder_layers", IntegerRange{0, 1000},
          "layers of a translator's encoder; 0: as many as layers"),
    field(&TransformerConfig::ffn_width, "ffn_width", IntegerRange{0, 1 << 20},
          "inner width of feed-forward blocks; 0: 4 * width")
        .renamed_from("hidden"),
    field(&TransformerConfig::activation, "activation", "activation of feed-forward blocks"),
    field(&TransformerConfig::norm, "norm", "type of the norms"),
    field(&TransformerConfig::norm_epsilon, "norm_epsilon", NumberRange{1e-12, 0.1},
          "added to variances and mean squares"),
    field(&TransformerConfig::pre_norm, "pre_norm",
          "norms before each block; no: after each block, without a final norm, as in Vaswani et "
          "al. 2017"),
    field(&TransformerConfig::output_norm, "output_norm",
          "a norm on each block's output before the residual sum: in addition to the norm before "
          "the block, as in Gemma 2, or instead of the norm after the sum, as in OLMo 2"),
    field(&TransformerConfig::parallel_blocks, "parallel_blocks",
          "attention and feed-forward block read the same input")
        .with_condition("needs norms before the blocks and no others"),
    field(&TransformerConfig::final_norm, "final_norm", "a norm after the last block"),
    field(&TransformerConfig::first_norm, "first_norm",
          "a norm before the first attention; no: attention reads the embedding directly, as in "
          "ModernBERT")
        .with_condition("no only with norms before the blocks"),
    field(&TransformerConfig::embedding_norm, "embedding_norm",
          "a norm on the first layer's input, as in BERT and BLOOM"),
    field(&TransformerConfig::bias, "bias", "biases of linear layers"),
    field(&TransformerConfig::qkv_bias, "qkv_bias",
          "biases of the q, k and v projections if other linear layers have none, as in Qwen 2"),
    field(&TransformerConfig::out_bias, "out_bias",
          "bias of attention's output projection if other linear layers have none"),
    field(&TransformerConfig::ffn_bias, "ffn_bias",
          "biases of feed-forward blocks if other linear layers have none, as in GPT-J"),
    field(&TransformerConfig::qk_norm, "qk_norm", "norms of q and k before the rotation"),
    field(&TransformerConfig::attention_scale, "attention_scale", NumberRange{0, 1e6},
          "factor of the scores; 0: 1 / sqrt(head_dim)"),
    field(&TransformerConfig::attention_softcap, "attention_softcap", NumberRange{0, 1e6},
          "c: scores become c tanh(score / c); 0: off"),
    field(&TransformerConfig::embedding_scale, "embedding_scale", NumberRange{0, 1e6},
          "factor of the embedding; 0: sqrt(width)"),
    field(&TransformerConfig::token_types, "token_types", IntegerRange{1, 1 << 16},
          "types of tokens, as the two texts of a pair in BERT; a row for each but type 0 is added "
          "to the embedding"),
    field(&TransformerConfig::tied, "tied",
          "compute logits with the embedding matrix; no: with a separate matrix"),
    field(&TransformerConfig::logits, "logits",
          "the model has logits; no: hidden states only, as in BertModel"),
    field(&TransformerConfig::logits_bias, "logits_bias",
          "bias of the logits, as in GPT-J and BERT"),
    field(&TransformerConfig::logits_scale, "logits_scale", NumberRange{0, 1e6, true},
          "factor of the logits"),
    field(&TransformerConfig::logits_softcap, "logits_softcap", NumberRange{0, 1e6},
          "c: logits become c tanh(logit / c), as in Gemma 2; 0: off"),
    field(&TransformerConfig::logits_transform, "logits_transform",
          "a linear layer, the activation and a norm before the logits, as in BERT"),
    field(&TransformerConfig::pointer, "pointer",
          "pointer: the translator can copy tokens of the source"),
    field(&TransformerConfig::schemes, "schemes", TextRange{"schemes and their parameters"},
          "positional schemes of self-attention")
        .renamed_from("positions"),
    field(&TransformerConfig::decoder_schemes, "decoder_schemes",
          TextRange{"schemes and their parameters"},
          "positional schemes of a translator's decoder, if different")
        .renamed_from("decoder_positions"),
    field(&TransformerConfig::layer_schemes, "layer_schemes",
          TextRange{"schemes and their parameters"}, "positional schemes of the layers that differ")
        .renamed_from("layer_positions"),
    field(&TransformerConfig::length, "length", IntegerRange{1, 1 << 24},
          "positions of learned tables"),
    field(&TransformerConfig::target_start, "target_start", ListRange{IntegerRange{0, 1 << 24}},
          "tokens that a translator's decoder reads before a target"),
    field(&TransformerConfig::target_end, "target_end", IntegerRange{0, 1 << 24},
          "the token that the decoder writes after a target"),
    field(&TransformerConfig::seed, "seed", kSeeds, "seed of the initial weights")};

}  // namespace sextant

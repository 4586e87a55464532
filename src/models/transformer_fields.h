// The list of a model's configuration: its keys in config.json, its options in commands that train.
#pragma once

#include "core/options/fields.h"
#include "sextant/models/transformer_config.h"

namespace sextant {

template <>
inline constexpr auto kFields<SchemeSpec> = std::tuple{
    field(&SchemeSpec::scheme, "scheme", TextRange{"a scheme"}, "its name"),
    field(&SchemeSpec::parameters, "parameters", TextRange{"names and values"}, "of the scheme")};

template <>
inline constexpr auto kFields<LayerSchemes> =
    std::tuple{field(&LayerSchemes::layers, "layers", ListRange{IntegerRange{0, 999}},
                     "their numbers, from 0"),
               field(&LayerSchemes::schemes, "schemes", TextRange{"schemes and their parameters"},
                     "of these layers")
                   .renamed_from("positions")};

template <>
inline constexpr auto kMeanings<ModelKind> = meanings("the next token", "hidden tokens",
                                                      "the translation of a source");

template <>
inline constexpr auto kMeanings<Activation> =
    meanings("max(x, 0)", "x Phi(x)", "gelu by its approximation with tanh", "x / (1 + exp(-x))",
             "silu(gate) times up, two inputs", "gelu(gate) times up", "gelu_tanh(gate) times up");

template <>
inline constexpr auto kMeanings<NormKind> = meanings("(x - mean) / deviation, gain and bias",
                                                     "x / root of the mean square, gain");

template <>
inline constexpr auto kMeanings<QkNorm> = meanings("none", "of each head, as in Qwen 3 and Gemma 3",
                                                   "of all heads together, as in OLMo 2");

template <>
inline constexpr auto kMeanings<ParallelBlocks> = meanings("one after the other",
                                                           "with one norm before both, as in GPT-J",
                                                           "each with a norm, as in GPT-NeoX");

template <>
inline constexpr auto kFields<TransformerConfig> = std::tuple{
    field(&TransformerConfig::kind, "kind", "what it predicts"),
    field(&TransformerConfig::vocabulary, "vocabulary", IntegerRange{1, 1 << 24}, "tokens"),
    field(&TransformerConfig::width, "width", IntegerRange{1, 1 << 16}, "of embeddings and layers"),
    field(&TransformerConfig::heads, "heads", IntegerRange{1, 1 << 16}, "of attention")
        .with_condition("divides the width"),
    field(&TransformerConfig::kv_heads, "kv_heads", IntegerRange{0, 1 << 16},
          "of keys and values; 0: the heads")
        .with_condition("divides the heads")
        .renamed_from("heads_k"),
    field(&TransformerConfig::head_dim, "head_dim", IntegerRange{0, 1 << 16},
          "of queries, keys and values; 0: the width / the heads"),
    field(&TransformerConfig::layers, "layers", IntegerRange{1, 1000},
          "of the decoder, or of the only stack"),
    field(&TransformerConfig::encoder_layers, "encoder_layers", IntegerRange{0, 1000},
          "of the encoder of a translator; 0: the layers"),
    field(&TransformerConfig::ffn_width, "ffn_width", IntegerRange{0, 1 << 20},
          "width inside feed-forward layers; 0: 4 times the width")
        .renamed_from("hidden"),
    field(&TransformerConfig::activation, "activation", "of feed-forward layers"),
    field(&TransformerConfig::norm, "norm", "of layers"),
    field(&TransformerConfig::norm_epsilon, "norm_epsilon", NumberRange{1e-12, 0.1},
          "added to variances and mean squares"),
    field(
        &TransformerConfig::pre_norm, "pre_norm",
        "norms before each block; no: after it and none after the last, as in Vaswani et al. 2017"),
    field(&TransformerConfig::output_norm, "output_norm",
          "norms of each block's output, before it is added: in addition to those before the "
          "block, as in Gemma 2, or instead of those after the sum, as in OLMo 2"),
    field(&TransformerConfig::parallel_blocks, "parallel_blocks",
          "attention and feed-forward block both read the layer's input")
        .with_condition("with norms before the blocks alone"),
    field(&TransformerConfig::final_norm, "final_norm", "a norm after the last block"),
    field(
        &TransformerConfig::first_norm, "first_norm",
        "a norm before the first attention; no: it reads the embedding as it is, as in ModernBERT")
        .with_condition("no only with norms before the blocks"),
    field(&TransformerConfig::embedding_norm, "embedding_norm",
          "a norm of the first layer's input, as in BERT and BLOOM"),
    field(&TransformerConfig::bias, "bias", "of linear maps"),
    field(&TransformerConfig::qkv_bias, "qkv_bias",
          "biases of the maps to q, k and v if other maps have none, as in Qwen 2"),
    field(&TransformerConfig::out_bias, "out_bias",
          "bias of the map after attention if other maps have none"),
    field(&TransformerConfig::ffn_bias, "ffn_bias",
          "biases of feed-forward layers if other maps have none, as in GPT-J"),
    field(&TransformerConfig::qk_norm, "qk_norm", "norms of q and k, before they are rotated"),
    field(&TransformerConfig::attention_scale, "attention_scale", NumberRange{0, 1e6},
          "factor of the scores; 0: 1 / root of head_dim"),
    field(&TransformerConfig::attention_softcap, "attention_softcap", NumberRange{0, 1e6},
          "c: scores become c tanh(score / c); 0: as they are"),
    field(&TransformerConfig::embedding_scale, "embedding_scale", NumberRange{0, 1e6},
          "factor of the embedding; 0: the root of the width"),
    field(&TransformerConfig::tied, "tied",
          "logits are products with the embedding; no: with a separate matrix"),
    field(&TransformerConfig::logits, "logits",
          "it has logits; no: hidden states alone, as BertModel has"),
    field(&TransformerConfig::logits_bias, "logits_bias", "of the logits, as in GPT-J and BERT"),
    field(&TransformerConfig::logits_scale, "logits_scale", NumberRange{0, 1e6, true},
          "factor of the logits"),
    field(&TransformerConfig::logits_softcap, "logits_softcap", NumberRange{0, 1e6},
          "c: logits become c tanh(logit / c), as in Gemma 2; 0: as they are"),
    field(&TransformerConfig::logits_transform, "logits_transform",
          "a linear map, the activation and a norm before the logits, as in BERT"),
    field(&TransformerConfig::pointer, "pointer", "a translator may copy tokens of the source"),
    field(&TransformerConfig::schemes, "schemes", TextRange{"schemes and their parameters"},
          "of self attention")
        .renamed_from("positions"),
    field(&TransformerConfig::decoder_schemes, "decoder_schemes",
          TextRange{"schemes and their parameters"},
          "of a translator's decoder where they are others")
        .renamed_from("decoder_positions"),
    field(&TransformerConfig::layer_schemes, "layer_schemes",
          TextRange{"schemes and their parameters"}, "of the layers that differ")
        .renamed_from("layer_positions"),
    field(&TransformerConfig::length, "length", IntegerRange{1, 1 << 24},
          "positions of learned tables"),
    field(&TransformerConfig::target_start, "target_start", ListRange{IntegerRange{0, 1 << 24}},
          "tokens that a translator's decoder reads before a target"),
    field(&TransformerConfig::target_end, "target_end", IntegerRange{0, 1 << 24},
          "the token that it writes after it"),
    field(&TransformerConfig::seed, "seed", kSeeds, "of the first weights")};

}  // namespace sextant

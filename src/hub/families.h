// The model types that can be read: of each, how its config.json and its tensors become ours.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hub/decoder_names.h"
#include "hub/weight_table.h"
#include "interop/config/object.h"
#include "sextant/interop/model_config.h"
#include "sextant/models/transformer_config.h"

namespace sextant::hub {

using interop::ConfigObject;

struct Family {
  std::string_view model_type;
  NameRules names;
  TransformerConfig (*config)(const ConfigObject& object, const ModelConfig& model);
  void (*weights)(const ConfigObject& object, const TransformerConfig& config, WeightTable& table);
  // Writes the keys of a config.json, as far as this model type has them. Missing ones show when
  // they are read again. Null: config.json is not written.
  Json (*write)(const TransformerConfig& config) = nullptr;
  // Sets fields that only the file determines; null: none.
  void (*settle)(const WeightTable& table, TransformerConfig& config) = nullptr;
};

extern const Family kBart, kBert, kBloom, kCamembert, kCodegen, kCohere, kCohere2, kDebertaV2,
    kDistilbert, kFalcon, kGemma, kGemma2, kGemma3, kGlm, kGlm4, kGpt2, kGptNeox, kGptj, kGranite,
    kLlama, kMarian, kMbart, kMistral, kModernbert, kMpt, kMt5, kOlmo, kOlmo2, kOlmo3, kOpt,
    kPegasus, kPhi, kPhi3, kQwen2, kQwen3, kRoberta, kSmollm3, kStablelm, kStarcoder2, kT5,
    kXlmRoberta;

std::span<const Family* const> families() noexcept;
// Throws Error for a model type that is not one of these.
const Family& find_family(const ConfigObject& object);

// Returns sizes, positions and the scale of the scores, which families share. Throws Error for
// parts that a stack does not have: sinks, chunks, a scale that differs between layers.
TransformerConfig shared_config(const ConfigObject& object, const ModelConfig& model);

// The same of an encoder and a decoder, and the tokens around targets: decoder_start_token_id,
// forced_bos_token_id and eos_token_id, `start` and `end` where they are absent. Throws Error for
// stacks that differ in more than their layers.
TransformerConfig translator_config(const ConfigObject& object, const ModelConfig& model,
                                    std::int64_t start, std::int64_t end);

// Those tokens, where the object has them: generation_config.json may have others.
void read_target_ends(const ConfigObject& object, TransformerConfig& config);

// Reads vocab_size and tie_word_embeddings; whether there are logits: a head that is not tied is
// that of a class with one.
void read_ends(const ConfigObject& object, TransformerConfig& config, std::int64_t vocabulary,
               bool tied);

// The norms of BERT and its kin, and the head of masked words where the class has it.
void read_encoder(const ConfigObject& object, TransformerConfig& config, bool has_head);

// Throws Error for weights that are quantised or lack heads.
void refuse_changes(const ConfigObject& object);
// Throws Error where the flag is set, or the key is not null.
void refuse_flag(const ConfigObject& object, std::string_view key);
void refuse_key(const ConfigObject& object, std::string_view key, const std::string& why);
// Reads the keys hidden_act and activation_function. Throws Error for others than relu, gelu, silu
// and their spellings.
Activation activation_of(const ConfigObject& object, std::string_view key,
                         std::string_view by_default);
// The same of a gate. Throws Error for relu.
Activation gate_of(const ConfigObject& object, std::string_view key, std::string_view by_default);
// Whether the first of `architectures` is a model without a head: LlamaModel, not
// LlamaForCausalLM, nor GPT2LMHeadModel.
bool is_bare(const ConfigObject& object);
// Whether the first of `architectures` is one of these.
bool is_class(const ConfigObject& object, std::initializer_list<std::string_view> names);

// The weights of a family whose names are the same whatever config.json says. It is local to each
// file: g++ 14 would merge those of families whose names are called the same.
template <const DecoderNames& names>
static void add_decoder_of(const ConfigObject&, const TransformerConfig& config,
                           WeightTable& table) {
  add_decoder(config, names, table);
}

// Names that are known and not read: rotations, which config.json gives, and masks.
inline constexpr std::string_view kRotations[] = {".rotary_emb.inv_freq"};
inline constexpr std::string_view kMasks[] = {".attn.bias",           ".attn.masked_bias",
                                              ".attention.bias",      ".attention.masked_bias",
                                              ".rotary_emb.inv_freq", ".attn.causal_mask"};
// What most decoders have.
inline constexpr NameRules kModelRules = {"model.", kRotations};
inline constexpr DecoderNames kLlamaNames{};

}  // namespace sextant::hub

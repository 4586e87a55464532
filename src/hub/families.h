// The model types that can be read: of each, how its config.json and its tensors become ours.
#pragma once

#include <span>
#include <string>
#include <string_view>

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
};

extern const Family kBert, kGpt2, kLlama, kMistral, kQwen2;

// Throws Error for a model type that is not one of these.
const Family& find_family(const ConfigObject& object);

// Sizes and positions, which families have alike. Throws Error for what a stack does not have:
// layers whose positions differ, a scale of the scores.
TransformerConfig shared_config(const ConfigObject& object, const ModelConfig& model);

// Throws Error where the flag is set.
void refuse_flag(const ConfigObject& object, std::string_view key);
// Of the keys hidden_act and activation_function. Throws Error for others than relu, gelu, silu
// and their spellings.
Activation activation_of(const ConfigObject& object, std::string_view key,
                         std::string_view by_default);
// Whether the first of `architectures` is a model without a head: LlamaModel, not
// LlamaForCausalLM, nor GPT2LMHeadModel.
bool is_bare(const ConfigObject& object);

}  // namespace sextant::hub

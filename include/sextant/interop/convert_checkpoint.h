// Converts a whole checkpoint from one rotary layout to the other. The tensors' names and the
// model's config say which rows of which tensors are rotated channels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/safetensors.h"
#include "sextant/interop/model_config.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// The contents of a module of an attention layer.
enum class RotaryModule {
  q,             // rows of all heads of queries
  k,             // rows of all heads of keys
  qkv,           // rows of q, then of k, then of v
  qkv_by_group,  // for each head of keys: its heads of q, then the key, then its v
  latent_k,      // DeepSeek: rows of a latent, then of the one rotated key
  q_norm,        // a weight per channel of a head
  k_norm,
};
using RotaryModules = std::map<std::string, RotaryModule>;  // by the end of a module's name

// Parses "q=attention.wq,k=attention.wk". Throws Error for a kind that is not one of q, k, qkv,
// qkv_by_group, q_norm, k_norm.
RotaryModules parse_module_names(std::string_view list, std::string_view where);

struct CheckpointConversion {
  RotaryLayout to = RotaryLayout::half_split;
  RotaryModules names{};  // in addition to the names of the Hugging Face hub and of Meta's files
  // The names of both arguments in errors.
  std::string checkpoint = "convert_checkpoint.checkpoint";
  std::string config = "convert_checkpoint.config";
};

struct ConvertedCheckpoint {
  std::vector<std::string> tensors;  // the permuted tensors, in their order
  std::set<std::int64_t> layers;     // the layers of these tensors
  std::set<std::int64_t> missing;    // layers that rotate and have no tensor here
  bool has_layout_tag = false;       // whether the file named its layout; otherwise it was assumed
  RotaryLayout default_layout{};     // layout of models of this type
};

// Permutes the rows of the projections of q and k, their biases and their norms' weights, per head,
// so that a program that uses the other layout computes the same scores. All other tensors are
// unchanged. The new layout is written into the metadata (rotary_layout), so that a file is not
// converted twice. Throws Error for a model without a layer that rotates, a file that already has
// the layout, an unknown name that refers to q or k, a number of rows that does not match the
// config, and no tensor to convert; the arrays may then be permuted in part.
ConvertedCheckpoint convert_checkpoint(SafetensorsFile& file, const ModelConfig& config,
                                       const CheckpointConversion& options);

}  // namespace sextant

// A whole checkpoint from one rotary layout to the other: which rows of which tensors are channels
// that rotate follows from the tensors' names and the model's config.
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

// What a module of a layer of attention holds.
enum class RotaryModule {
  q,             // rows of all heads of queries
  k,             // rows of all heads of keys
  qkv,           // rows of q, then of k, then of v
  qkv_by_group,  // for each head of keys: its heads of q, then it, then its v
  latent_k,      // DeepSeek: rows of a latent, then of the one key that is rotated
  q_norm,        // a weight per channel of a head
  k_norm,
};
using RotaryModules = std::map<std::string, RotaryModule>;  // by the end of a module's name

// "q=attention.wq,k=attention.wk". Throws Error for a kind that is not one of q, k, qkv,
// qkv_by_group, q_norm, k_norm.
RotaryModules parse_module_names(std::string_view list, std::string_view where);

struct CheckpointConversion {
  RotaryLayout to = RotaryLayout::half_split;
  RotaryModules names{};  // beside those of the Hugging Face hub and of Meta's own files
  // What errors call the two.
  std::string checkpoint = "convert_checkpoint.checkpoint";
  std::string config = "convert_checkpoint.config";
};

struct ConvertedCheckpoint {
  std::vector<std::string> tensors;  // that were permuted, in their order
  std::set<std::int64_t> layers;     // that these belong to
  std::set<std::int64_t> missing;    // layers that rotate and have no tensor here
  bool has_layout_tag = false;       // the file said its layout; else it was assumed
  RotaryLayout default_layout{};     // of models of this type
};

// Permutes the rows of the projections of q and k, their biases and their norms' weights, per head,
// so that a program that uses the other layout computes the same scores. All other tensors stay.
// The new layout is written into the metadata (rotary_layout), so that a file is not converted
// twice. Throws Error for a model without a layer that rotates, a file that has the layout already,
// a name that refers to q or k and is not known, rows that are not as many as the config says, and
// no tensor to convert; the arrays may be permuted in part then.
ConvertedCheckpoint convert_checkpoint(SafetensorsFile& file, const ModelConfig& config,
                                       const CheckpointConversion& options);

}  // namespace sextant

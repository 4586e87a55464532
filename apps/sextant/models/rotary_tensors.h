// Which rows of which tensors of a checkpoint are channels that rotate: by the tensor's name and
// the model's config.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/npy.h"
#include "sextant/interop/convert_rotary.h"
#include "sextant/interop/model_config.h"

namespace sextant::app {

// What a module of a layer of attention holds.
enum class RotaryModule {
  q,             // rows of all heads of queries
  k,             // rows of all heads of keys
  qkv,           // rows of q, then of k, then of v
  qkv_by_group,  // for each head of keys: its heads of q, then it, then its v
  latent_k,      // DeepSeek: rows of a latent, then of the one key that turns
  q_norm,        // a weight per channel of a head
  k_norm,
};

// "q=attention.wq,k=attention.wk": what the ends of names stand for, beside the usual ones. Throws
// Error for a kind that is not one of q, k, qkv, qkv_by_group, q_norm, k_norm.
std::map<std::string, RotaryModule> parse_module_names(std::string_view list,
                                                       std::string_view where);

// One tensor of a layer that rotates.
struct RotaryTensor {
  std::int64_t layer = 0;
  RotaryModule module{};
};

// What the name stands for; nothing for a tensor that has no channels of q or k, and for those of
// layers that do not rotate. Throws Error naming `where` and the tensor for a name that speaks of q
// or k and is not known.
std::optional<RotaryTensor> rotary_tensor(const std::string& name, const ModelConfig& config,
                                          const std::map<std::string, RotaryModule>& names,
                                          std::string_view where);

// Permutes its rows; throws Error unless they are as many as the config says.
void convert_tensor(const RotaryTensor& tensor, const std::string& name, Array& array,
                    const LayerPositions& layer, RotaryLayout to, std::string_view where);

// An untrusted name in an error, harmless for a terminal.
std::string quoted_name(std::string_view text);

// Whether the layer turns channels of q and k by pairs.
bool rotates(const LayerPositions& layer);

}  // namespace sextant::app

// What the tensors of a checkpoint hold, by their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/interop/convert_checkpoint.h"

namespace sextant::interop {

// One tensor of a layer that rotates.
struct RotaryTensor {
  std::int64_t layer = 0;
  RotaryModule module{};
};

// What the name stands for; nothing for a tensor that has no channels of q or k, and for those of
// layers that do not rotate. Throws Error naming `where` and the tensor for a name that refers to q
// or k and is not known.
std::optional<RotaryTensor> rotary_tensor(const std::string& name, const ModelConfig& config,
                                          const RotaryModules& names, std::string_view where);

// Whether the layer rotates channels of q and k by pairs.
bool rotates(const LayerPositions& layer);

inline constexpr std::size_t kNameBytes = 200;  // of an untrusted name in an error

}  // namespace sextant::interop

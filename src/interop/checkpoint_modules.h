// Determines the contents of a checkpoint's tensors from their names.
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

// Returns the meaning of a name; nothing for a tensor that has no channels of q or k, and for
// layers that do not rotate. Throws an Error with `where` and the tensor for an unknown name that
// refers to q or k.
std::optional<RotaryTensor> rotary_tensor(const std::string& name, const ModelConfig& config,
                                          const RotaryModules& names, std::string_view where);

// Whether the layer rotates channels of q and k by pairs.
bool rotates(const LayerPositions& layer);

inline constexpr std::size_t kNameBytes = 200;  // of an untrusted name in an error

}  // namespace sextant::interop

// Which layers of a model that rotates see a window or a chunk, and which do not rotate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interop/config/defaults.h"
#include "interop/config/object.h"
#include "interop/config/rotary_families.h"

namespace sextant::interop {

struct LayerKinds {
  std::vector<std::string> types;  // full_attention, sliding_attention or chunked_attention
  std::vector<bool> rotates;
  std::optional<std::int64_t> window, chunk;
};

LayerKinds read_layer_kinds(const ConfigObject& object, const RotaryFamily& family,
                            const DefaultPositions& defaults, std::int64_t layers);

}  // namespace sextant::interop

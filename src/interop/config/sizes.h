// Width, layers, heads and lengths of a model, as its config.json names them.
#pragma once

#include <cstdint>
#include <optional>

#include "interop/config/object.h"

namespace sextant::interop {

struct ConfigDefaults;

// The sizes that every config has, under whichever name.
struct ModelSizes {
  std::int64_t width = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::optional<std::int64_t> max_positions;
};

// `kv_heads` and `head_dim` are left to the functions below.
ModelSizes read_rotary_sizes(const ConfigObject& object, const ConfigDefaults& defaults);
ModelSizes read_unrotated_sizes(const ConfigObject& object, const ConfigDefaults& defaults);

// Channels of a head where the config does not say: width / heads.
std::int64_t divided_width(const ConfigObject& object, const ModelSizes& sizes);
// num_key_value_heads: the default where it is absent, as many as heads where it is null.
std::int64_t read_kv_heads(const ConfigObject& object, const ConfigDefaults& defaults,
                           const ModelSizes& sizes);
// Falcon has its own keys: one head for all queries by default.
std::int64_t read_falcon_kv_heads(const ConfigObject& object, const ModelSizes& sizes);

}  // namespace sextant::interop

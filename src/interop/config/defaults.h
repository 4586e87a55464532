// Lists the defaults of `transformers`' configuration classes for absent keys of a config.json.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "interop/config/sizes.h"

namespace sextant::interop {

struct DefaultPositions {
  double base = 10000;             // rope_theta
  double local_base = 0;           // that of layers with a window; 0: as the others
  double partial = 1;              // partial_rotary_factor
  std::int64_t rotary_dim = 0;     // 0: by `partial`
  std::int64_t window = 0;         // sliding_window; 0: none
  std::int64_t window_layers = 0;  // max_window_layers
  std::int64_t pattern = 0;        // every n-th layer sees everything
  std::int64_t original = 0;       // original_max_position_embeddings; 0: the class has none
  double softcap = 0;              // attn_logit_softcapping; 0: none
  std::array<std::int64_t, 3> sections = {};  // mrope_section; zeros: the model has no images
};

// The differences between classes; a default that all share is where it is read.
struct ConfigDefaults {
  std::string_view model_type;
  ModelSizes sizes;  // kv_heads 0: as many as heads; head_dim 0: width / heads
  DefaultPositions positions;
};

// Returns the defaults of a model type in models.h.
const ConfigDefaults& config_defaults(std::string_view model_type);

}  // namespace sextant::interop

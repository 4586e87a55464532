// Rotary settings of a config.json, old or new, as a scheme and its parameters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "interop/config/object.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::interop {

// The model's keys outside rope_scaling or rope_parameters.
struct RopeContext {
  std::optional<double> base;  // of the config; a value inside has to be the same
  std::string_view base_key = "rope_theta";
  double default_base = 10000;
  std::optional<double> partial;  // likewise
  double default_partial = 1;
  bool reads_partial = false;  // the model type rotates a part where the config says so
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;  // where the model says it itself; 0: by the partial factor
  RotaryLayout layout = RotaryLayout::half_split;
  bool last = false;  // the last channels are rotated, not the first
  std::optional<std::int64_t> max_positions;
  std::optional<std::int64_t> original;  // original_max_position_embeddings outside
  std::int64_t default_original = 0;     // its default if it is absent; 0: none
  // For a model with image rows and columns, if the config does not say it.
  std::optional<std::array<std::int64_t, 3>> default_sections;
  bool sections_interleaved = false;
  bool query_scale = false;  // Ministral 3: llama_4_scaling_beta next to the settings of YaRN
};

struct RopeSetting {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  double factor = 1;          // of YaRN
  double mscale_all_dim = 0;  // of YaRN, where DeepSeek's scale of scores comes from
};

// `rope` is rope_scaling, rope_parameters or one of its entries; null: plain rotary positions.
// Throws Error for a type or a key that is not known, by its name, and for values that contradict.
RopeSetting read_rope(const ConfigObject& config, const ConfigObject* rope,
                      const RopeContext& context);

}  // namespace sextant::interop

// Describes each model type: the names of sizes in its config.json, and the positions of its
// layers.
#pragma once

#include <string>
#include <vector>

#include "interop/config/object.h"
#include "interop/config/sizes.h"
#include "sextant/interop/model_config.h"

namespace sextant::interop {

// A layer of these sizes without positions.
LayerPositions bare_layer(const ModelSizes& sizes);

// Each function reads the layers of its model types into `config`, and returns whether this is one.
bool read_rotary_model(const ConfigObject& object, ModelConfig& config);
bool read_unrotated_model(const ConfigObject& object, ModelConfig& config);
// The names of those types, and of all, sorted.
std::vector<std::string> rotary_model_types();
std::vector<std::string> unrotated_model_types();
std::vector<std::string> model_types();

// The two halves of parse_model_config().
Json parse_config_json(std::string_view text, std::string_view where, std::string_view read_as);
ModelConfig read_model_config(const Json& json, std::string_view where, bool is_read_as);

}  // namespace sextant::interop

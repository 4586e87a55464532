// --config and --layer: a model's positions instead of a scheme by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "options/command_line.h"
#include "sextant/interop/model_config.h"
#include "streams/console.h"

namespace sextant::app {

// A layer, or the common values of all layers if none was requested.
struct ModelLayer : LayerPositions {
  bool masks_differ = false;  // stack, kv_heads, causal, window and chunk are not those of all
};

// --read-as, of a config.json.
CLI::Option* add_read_as(CLI::App& command, std::string& read_as);

struct ModelConfigOption {
  std::string path, read_as;
  std::optional<std::int64_t> layer;

  void add_to(CLI::App& command);
  bool is_given() const { return !path.empty(); }
  // The layer that was asked for. Throws Error when their tables differ and none was.
  ModelLayer read() const;
};

// Returns the description of a layer besides its scheme: heads, channels, mask, scale.
Json about_layer(const ModelLayer& layer);

}  // namespace sextant::app

// Reads the positions of a model from its Hugging Face config.json: the scheme and its parameters
// in each layer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/schemes/scheme.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

// The positions of one attention layer.
struct LayerPositions {
  std::string scheme = "none";                    // a name of schemes()
  std::map<std::string, std::string> parameters;  // parameters in the config; the rest are defaults
  bool decoder = true;                            // false: a layer of the encoder
  std::int64_t width = 0;                         // width of the embeddings
  std::int64_t heads = 0;                         // heads of queries
  std::int64_t kv_heads = 0;                      // heads of keys
  std::int64_t head_dim = 0;                      // channels of queries and keys
  bool causal = true;
  // How many keys before and after its own are visible to a query; -1: all.
  std::int64_t window_left = -1, window_right = -1;
  std::int64_t chunk = 0;       // keys of other chunks of this many positions are hidden; 0: none
  std::optional<double> scale;  // scale of the scores; unset: head_dim^(-1/2)
  double softcap = 0;           // > 0: scaled scores become softcap * tanh(score / softcap); 0: off
  bool sinks = false;           // each head of queries has a sink, a number among the weights
  double bias_factor = 1;       // the factor of a bias before it is added (Falcon)
  std::int64_t table_rows = 0;  // rows of a learned table, with those before its offset

  // Returns the request for the scheme: this layer's sizes and parameters, and ids of rows, which
  // must outlive the request. There is one id per row; multi-section rotations use it for all axes,
  // as for text.
  SchemeRequest request(std::span<const std::int64_t> positions) const;
  // Returns the rotation of these positions, as attention() and KvCache take it: float32, rounded
  // once. Throws Error if the scheme does not rotate, and for positions that it does not support.
  RotationTable<float> rotation(std::span<const std::int64_t> positions) const;
  friend bool operator==(const LayerPositions&, const LayerPositions&) = default;
};

struct ModelConfig {
  std::string model_type;               // "llama", or the type of the text model inside
  std::int64_t max_positions = 0;       // 0: not in the config
  std::vector<LayerPositions> layers;   // encoders first, then decoders
  bool layers_differ() const noexcept;  // whether any field above differs between layers
  // Whether the scheme's tables differ between layers; windows, chunks and kv_heads do not count.
  bool tables_differ() const noexcept;
};

// Reads a config.json, up to 16 MB, or its text. Supports old and new spellings: rope_scaling with
// type or rope_type, rope_parameters flat or per layer type, and the keys of single model types
// (docs/model-configs.md lists them). It reads a text_config inside. An absent key has the default
// of transformers 5.23 for the model type, so {"model_type": "llama"} is a whole config; null is
// not absent. Throws an Error with `where` (the path) and the key for: invalid JSON, a duplicate
// key, an unknown model type, an unknown rope type or key of rope_scaling, values that contradict
// each other or are out of range, and any key about positions that the model type does not have.
// Other keys are ignored. `read_as`: the model type whose keys and defaults are used instead of the
// file's, for unknown types with the layers of a known one; the checks are the same. Throws an
// Error with model_config.read_as for an unknown type.
ModelConfig load_model_config(const std::string& path, std::string_view read_as = {});
ModelConfig parse_model_config(std::string_view json, std::string_view where = "config",
                               std::string_view read_as = {});

// Returns one layer's positions; throws Error unless layer is in 0 .. layers - 1.
const LayerPositions& layer_positions(const ModelConfig& config, std::int64_t layer);

}  // namespace sextant

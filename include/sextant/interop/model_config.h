// The positions of a model, read from its Hugging Face config.json: the scheme and its parameters
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
  std::map<std::string, std::string> parameters;  // what the config says; the rest are defaults
  bool decoder = true;                            // false: a layer of the encoder
  std::int64_t width = 0;                         // of the embeddings
  std::int64_t heads = 0;                         // of queries
  std::int64_t kv_heads = 0;                      // of keys
  std::int64_t head_dim = 0;                      // of queries and keys
  bool causal = true;
  // How many keys before and after its own are visible to a query; -1: all.
  std::int64_t window_left = -1, window_right = -1;
  std::int64_t chunk = 0;       // keys of other chunks of so many positions are hidden; 0: none
  std::optional<double> scale;  // of the scores; unset: head_dim^(-1/2)
  double softcap = 0;           // > 0: scaled scores become softcap * tanh(score / softcap); 0: off
  bool sinks = false;           // each head of queries has a sink, a number among the weights
  double bias_factor = 1;       // what a bias is multiplied by before it is added (Falcon)
  std::int64_t table_rows = 0;  // of a learned table, those before its offset included

  // The request for the scheme: this layer's sizes and parameters, and ids of rows, which must
  // outlive the request. One id per row: multi-section rotations take it for all axes, as of text.
  SchemeRequest request(std::span<const std::int64_t> positions) const;
  // The rotation of these positions, as attention() and KvCache take it: float32, rounded once.
  // Throws Error where the scheme does not rotate, and for positions that it does not take.
  RotationTable<float> rotation(std::span<const std::int64_t> positions) const;
  friend bool operator==(const LayerPositions&, const LayerPositions&) = default;
};

struct ModelConfig {
  std::string model_type;               // "llama", or that of the text model inside
  std::int64_t max_positions = 0;       // 0: the config does not say
  std::vector<LayerPositions> layers;   // encoders first, then decoders
  bool layers_differ() const noexcept;  // in anything above
  // In the scheme's tables: windows, chunks and kv_heads may differ beside.
  bool tables_differ() const noexcept;
};

// Reads a config.json, up to 16 MB, or its text. Old and new spellings: rope_scaling with type or
// rope_type, rope_parameters flat or per layer type, and the keys of models of their own
// (docs/model-configs.md lists them with the model types). A text_config inside is what is read.
// A key that is absent takes the default that transformers 5.23 has for the model type, so that
// {"model_type": "llama"} is a whole config; null is not absent.
// Throws Error naming `where` (the path) and the key for: JSON that does not read, a key that is
// there twice, a model type that is not known, a rope type or a key of rope_scaling that is not
// known, values that contradict each other or are out of range, and any key about positions that
// the model type is not known to have. Other keys are ignored.
// `read_as`: the model type whose keys and defaults are taken in place of the file's own, for types
// that are not known and have the layers of one that is; all the above is checked the same. Throws
// Error naming model_config.read_as for a type that is not known either.
ModelConfig load_model_config(const std::string& path, std::string_view read_as = {});
ModelConfig parse_model_config(std::string_view json, std::string_view where = "config",
                               std::string_view read_as = {});

// One layer's; throws Error unless layer is in 0 .. layers - 1.
const LayerPositions& layer_positions(const ModelConfig& config, std::int64_t layer);

}  // namespace sextant

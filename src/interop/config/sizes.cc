// Reads the sizes of a model; absent ones have the default of the model type.
#include "interop/config/sizes.h"

#include <string>

#include "interop/config/defaults.h"

namespace sextant::interop {
namespace {

using Keys = std::vector<std::string_view>;

ModelSizes read_sizes(const ConfigObject& object, const ModelSizes& defaults, const Keys& width,
                      const Keys& layers, const Keys& heads, const Keys& max_positions) {
  ModelSizes sizes;
  sizes.width = object.integer_of_or(width, defaults.width);
  sizes.layers = object.integer_of_or(layers, defaults.layers);
  sizes.heads = object.integer_of_or(heads, defaults.heads);
  sizes.max_positions = defaults.max_positions
                            ? object.integer_of_or(max_positions, *defaults.max_positions)
                            : object.integer_of(max_positions);
  constexpr std::int64_t kMaxLayers = 10000;
  if (sizes.layers > kMaxLayers) object.fail("num_hidden_layers", "must be at most 10000");
  return sizes;
}

void check_kv_heads(const ConfigObject& object, const ModelSizes& sizes, std::int64_t kv_heads,
                    bool by_default) {
  if (kv_heads <= sizes.heads && sizes.heads % kv_heads == 0) return;
  object.fail("num_key_value_heads",
              "must divide the " + std::to_string(sizes.heads) + " heads of queries, got " +
                  std::to_string(kv_heads) +
                  (by_default ? ", which the model type takes where the key is absent" : ""));
}

}  // namespace

ModelSizes read_rotary_sizes(const ConfigObject& object, const ConfigDefaults& defaults) {
  return read_sizes(object, defaults.sizes, {"hidden_size", "n_embd", "n_embed"},
                    {"num_hidden_layers", "n_layer"}, {"num_attention_heads", "n_head"},
                    {"max_position_embeddings", "n_positions", "n_ctx"});
}

ModelSizes read_unrotated_sizes(const ConfigObject& object, const ConfigDefaults& defaults) {
  return read_sizes(
      object, defaults.sizes, {"hidden_size", "n_embd", "n_embed", "d_model", "dim"},
      {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"},
      {"num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"},
      {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"});
}

std::int64_t divided_width(const ConfigObject& object, const ModelSizes& sizes) {
  if (sizes.width % sizes.heads != 0) {
    object.fail("num_attention_heads", "must divide hidden_size, " + std::to_string(sizes.width) +
                                           ", got " + std::to_string(sizes.heads));
  }
  return sizes.width / sizes.heads;
}

std::int64_t read_kv_heads(const ConfigObject& object, const ConfigDefaults& defaults,
                           const ModelSizes& sizes) {
  const auto given = object.integer_of({"num_key_value_heads", "num_kv_heads"});
  const bool by_default = !given && defaults.sizes.kv_heads > 0 &&
                          object.is_absent("num_key_value_heads") &&
                          object.is_absent("num_kv_heads");
  const std::int64_t kv_heads = by_default ? defaults.sizes.kv_heads : given.value_or(sizes.heads);
  check_kv_heads(object, sizes, kv_heads, by_default);
  return kv_heads;
}

std::int64_t read_falcon_kv_heads(const ConfigObject& object, const ModelSizes& sizes) {
  const auto given = object.integer_of({"num_kv_heads", "num_key_value_heads"});
  const bool grouped = object.flag("new_decoder_architecture").value_or(false);
  // null is false here, absent is true.
  const bool one = object.flag("multi_query").value_or(object.is_absent("multi_query"));
  const std::int64_t kv_heads = grouped || !one ? given.value_or(sizes.heads) : 1;
  check_kv_heads(object, sizes, kv_heads, false);
  return kv_heads;
}

}  // namespace sextant::interop

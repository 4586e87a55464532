// Tensor by tensor: whose rows it has, and their new order.
#include "sextant/interop/convert_checkpoint.h"

#include "interop/checkpoint_modules.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/interop/convert_rotary.h"

namespace sextant {
namespace {

constexpr const char* kMark = "rotary_layout";

std::int64_t integer(const LayerPositions& layer, const char* name, std::int64_t by_default) {
  const auto found = layer.parameters.find(name);
  return found == layer.parameters.end() ? by_default : parse_int64(found->second, name);
}

RotaryRows rows_of(const LayerPositions& layer) {
  RotaryRows rows;
  rows.head_dim = layer.head_dim;
  rows.rotary_dim = integer(layer, "rotary_dim", 0);
  const auto span = layer.parameters.find("span");
  if (span != layer.parameters.end() && span->second == "last") rows.span = RotarySpan::last;
  return rows;
}

// Permutes its rows; throws Error unless they are as many as the config says.
void convert_tensor(const interop::RotaryTensor& tensor, const std::string& name, Array& array,
                    const LayerPositions& layer, RotaryLayout to, std::string_view where) {
  RotaryRows rows = rows_of(layer);
  const std::int64_t d = rows.head_dim;
  const std::int64_t group = layer.heads / layer.kv_heads;
  const Shape shape = array.shape;
  const auto permute = [&](std::int64_t begin, std::int64_t end) {
    to == RotaryLayout::half_split ? to_half_split(array, rows, begin, end)
                                   : to_interleaved(array, rows, begin, end);
  };
  const auto expect_rows = [&](std::int64_t wanted) {
    if (shape.rank() >= 1 && shape.rank() <= 2 && shape[0] == wanted) return;
    throw Error(where, "tensor " + printable_quote(name, interop::kNameBytes) + " must have " +
                           std::to_string(wanted) + " rows, as the config says, got shape " +
                           shape.to_string());
  };
  switch (tensor.module) {
    case RotaryModule::q:
      expect_rows(layer.heads * d);
      return permute(0, -1);
    case RotaryModule::k:
      expect_rows(layer.kv_heads * d);
      return permute(0, -1);
    case RotaryModule::qkv:
      expect_rows((layer.heads + 2 * layer.kv_heads) * d);
      return permute(0, (layer.heads + layer.kv_heads) * d);
    case RotaryModule::qkv_by_group:
      expect_rows((layer.heads + 2 * layer.kv_heads) * d);
      for (std::int64_t g = 0; g < layer.kv_heads; ++g) {
        const std::int64_t begin = g * (group + 2) * d;
        permute(begin, begin + (group + 1) * d);
      }
      return;
    case RotaryModule::latent_k: {
      // The last rows are one key for all heads; all of it is rotated.
      if (shape.rank() < 1 || shape[0] < rows.rotary_dim) expect_rows(rows.rotary_dim);
      rows.head_dim = rows.rotary_dim;
      return permute(shape[0] - rows.rotary_dim, -1);
    }
    case RotaryModule::q_norm:
    case RotaryModule::k_norm: {
      // [head_dim], or a separate weight for every head: [heads * head_dim], [heads, head_dim].
      const std::int64_t heads =
          tensor.module == RotaryModule::q_norm ? layer.heads : layer.kv_heads;
      const bool flat = shape.rank() == 1 && (shape[0] == d || shape[0] == heads * d);
      const bool by_head = shape.rank() == 2 && shape[0] == heads && shape[1] == d;
      if (!flat && !by_head) {
        throw Error(where, "tensor " + printable_quote(name, interop::kNameBytes) + " must be [" +
                               std::to_string(d) + "] or [" + std::to_string(heads) + ", " +
                               std::to_string(d) + "], as the config says, got shape " +
                               shape.to_string());
      }
      array.shape = Shape{shape.count()};
      permute(0, -1);
      array.shape = shape;
      return;
    }
  }
}

// Whether the file says its layout.
bool check_mark(const SafetensorsFile& file, const CheckpointConversion& options) {
  const auto mark = file.metadata.find(kMark);
  if (mark == file.metadata.end()) return false;
  if (mark->second == name_of(options.to)) {
    throw Error(options.checkpoint, "is " + mark->second +
                                        " already, as its metadata says (rotary_layout): "
                                        "converting it again would make it wrong");
  }
  if (mark->second != "half_split" && mark->second != "interleaved") {
    throw Error(options.checkpoint,
                "must have half_split or interleaved as rotary_layout in its metadata, got " +
                    printable_quote(mark->second, interop::kNameBytes));
  }
  return true;
}

}  // namespace

ConvertedCheckpoint convert_checkpoint(SafetensorsFile& file, const ModelConfig& config,
                                       const CheckpointConversion& options) {
  ConvertedCheckpoint result;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (interop::rotates(config.layers[i])) {
      result.missing.insert(static_cast<std::int64_t>(i));
    }
  }
  if (result.missing.empty()) {
    throw Error(options.config, "must be of a model that rotates, got the model type " +
                                    printable_quote(config.model_type, interop::kNameBytes) +
                                    ", in which no layer does");
  }
  result.default_layout =
      layer_positions(config, *result.missing.begin()).parameters.at("layout") ==
              name_of(RotaryLayout::half_split)
          ? RotaryLayout::half_split
          : RotaryLayout::interleaved;
  result.has_layout_tag = check_mark(file, options);
  for (auto& [name, array] : file.tensors) {
    const auto tensor = interop::rotary_tensor(name, config, options.names, options.checkpoint);
    if (!tensor) continue;
    convert_tensor(*tensor, name, array, layer_positions(config, tensor->layer), options.to,
                   options.checkpoint);
    result.tensors.push_back(name);
    result.layers.insert(tensor->layer);
    result.missing.erase(tensor->layer);
  }
  if (result.tensors.empty()) {
    throw Error(options.checkpoint,
                "must have projections of q or k of a layer that rotates, got none with a known "
                "name (give theirs with --names)");
  }
  file.metadata[kMark] = name_of(options.to);
  return result;
}

}  // namespace sextant

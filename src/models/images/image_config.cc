// Configurations of image models: checks, the stack's part, JSON.
#include <cmath>

#include "core/json/fields_json.h"
#include "models/images/image_fields.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr std::int64_t kMaxPatches = 1 << 24;

std::string sizes_text(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width);
}

}  // namespace

GridSize ImageConfig::grid_of(std::int64_t height, std::int64_t width_of_image,
                              const std::string& where) const {
  if (height < 1 || width_of_image < 1 || height % patch_height != 0 ||
      width_of_image % patch_width != 0) {
    throw Error(where, "must have a height and a width that are multiples of the patch of " +
                           sizes_text(patch_height, patch_width) + " pixels, got " +
                           sizes_text(height, width_of_image));
  }
  const GridSize grid{height / patch_height, width_of_image / patch_width};
  if (grid.rows > kMaxPatches / grid.columns) {
    throw Error(where,
                "must have at most 2^24 patches, got " + sizes_text(grid.rows, grid.columns));
  }
  return grid;
}

TransformerConfig ImageConfig::transformer() const {
  TransformerConfig stack;
  stack.kind = ModelKind::masked;
  stack.vocabulary = 1;
  stack.width = width;
  stack.heads = stack.kv_heads = heads;
  stack.head_dim = heads > 0 ? width / heads : 0;
  stack.layers = layers;
  stack.ffn_width = ffn_width;
  stack.activation = activation;
  stack.norm_epsilon = norm_epsilon;
  stack.bias = qkv_bias;
  stack.qkv_bias = qkv_bias;
  stack.out_bias = stack.ffn_bias = true;
  stack.schemes = {"none"};
  return stack;
}

void check_image_config(const ImageConfig& c) {
  check_fields("image_model", c);
  c.grid_of(c.image_height, c.image_width, "image_model.image_height");
  if (c.width % c.heads != 0) {
    throw Error("image_model.heads", "must divide width = " + std::to_string(c.width) + ", got " +
                                         std::to_string(c.heads));
  }
  if (c.patch_size() > 1 << 24) {
    throw Error("image_model.channels",
                "must be at most 2^24 numbers of a patch, got " + std::to_string(c.patch_size()));
  }
  if (c.distillation_head && (!c.distillation || c.classes == 0)) {
    throw Error("image_model.distillation_head",
                "must be false without a distillation token and classes");
  }
  if (!c.labels.empty() && std::ssize(c.labels) != c.classes) {
    throw Error("image_model.labels", "must be one per class, " + std::to_string(c.classes) +
                                          ", or none, got " + std::to_string(c.labels.size()));
  }
}

std::string format_image_config(const ImageConfig& config) {
  Json json = to_json(config);
  json["labels"] = config.labels;
  return json.dump(2) + "\n";
}

}  // namespace sextant

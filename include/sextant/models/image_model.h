// Implements vision transformers: an encoder over the patches of an image in place of words (ViT:
// Dosovitskiy et al. 2020, 2010.11929; DeiT: Touvron et al. 2020, 2012.12877).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/layers/first_weights.h"
#include "sextant/layers/linear.h"
#include "sextant/layers/transformer_stack.h"
#include "sextant/models/token_model.h"
#include "sextant/schemes/added/resize_grid.h"

namespace sextant {

struct ImageConfig {
  // Pixels of the images whose patches have a learned position, and of a patch, whose sides divide
  // those of the image.
  std::int64_t image_height = 224, image_width = 224;
  std::int64_t patch_height = 16, patch_width = 16;
  std::int64_t channels = 3;
  std::int64_t width = 768;  // width of the stack
  std::int64_t heads = 12;   // a divisor of the width
  std::int64_t layers = 12;
  std::int64_t ffn_width = 3072;  // inner width of feed-forward layers
  Activation activation = Activation::gelu;
  double norm_epsilon = 1e-12;
  bool qkv_bias = true;            // the maps to q, k and v have biases; the other maps always do
  bool distillation = false;       // DeiT: a distillation token after the class token
  std::int64_t pooler_width = 0;   // width of the pooled vector; 0: no pooler
  std::int64_t classes = 0;        // 0: no class logits
  bool distillation_head = false;  // logits: mean of those of the class and the distillation token
  std::vector<std::string> labels{};  // [classes], the classes' names, or empty
  std::uint32_t seed = 1;             // seed of the first weights

  std::int64_t prefix() const { return distillation ? 2 : 1; }  // tokens before the patches
  std::int64_t patch_size() const { return channels * patch_height * patch_width; }
  GridSize grid() const { return {image_height / patch_height, image_width / patch_width}; }
  // Returns the patches of an image of this many pixels. Throws an Error with `where` unless each
  // side is a multiple of the patch's and there are at most 2^24 patches.
  GridSize grid_of(std::int64_t height, std::int64_t width, const std::string& where) const;
  // Returns the configuration of the stack: an encoder with norms before its blocks and a final
  // norm.
  TransformerConfig transformer() const;
};

// Throws Error for sizes out of range, or that do not fit together, with image_model.ARGUMENT.
void check_image_config(const ImageConfig& config);
// Returns the configuration as JSON with the names above.
std::string format_image_config(const ImageConfig& config);

// The tokens are the class token, the distillation token if there is one, and the patches row by
// row: a linear map of the patch's pixels, channel by channel, plus a learned position. Positions
// of images of another size are resized: bicubic, as resize_grid() of the torch convention and
// interpolate_pos_encoding=True of transformers.
//
// `images` is [images, channels, height, width], normalised as the model was trained, finite; its
// sides are multiples of the patch's. Functions throw an Error with image_model.images otherwise.
// Any number of threads may use a const one, each with its own Pass.
struct ImageModel {
  ImageConfig config;
  Linear<float> patches;    // [width, patch_size]
  Tensor<float> tokens;     // [prefix, width]
  Tensor<float> positions;  // [prefix + patches of the config's image, width]
  TransformerStack<float> stack;
  std::optional<Linear<float>> pooler;               // [pooler_width, width]
  std::optional<Linear<float>> output;               // [classes, width]
  std::optional<Linear<float>> distillation_output;  // [classes, width]

  // Draws first weights from config.seed; none yet for make_filled(). Throws Error as
  // check_image_config().
  explicit ImageModel(const ImageConfig& config, std::optional<UnsetWeights> unset = {});

  // Returns the residual stream before the first layer and after each, before the final norm, as
  // `hidden_states` of transformers: [layers + 1][images, tokens, width].
  std::vector<Tensor<float>> hidden_states(View<const float> images, Pass& pass) const;
  // Returns the last of these after the final norm, [images, tokens, width].
  Tensor<float> last_hidden_states(View<const float> images, Pass& pass) const;
  // Returns a vector per image: tanh(pooler(class token)), [images, pooler_width], or without a
  // pooler the class token after the final norm, [images, width].
  Tensor<float> vectors(View<const float> images, Pass& pass) const;
  // Returns [images, classes]. Throws an Error with model.logits for a model without classes.
  Tensor<float> logits(View<const float> images, Pass& pass) const;
  // Returns attention weights of one image [channels, height, width]: [layers][heads, rows,
  // tokens], all or chosen ones. Throws Error for layers that are not in ascending order, and for
  // layers, heads and rows that do not exist.
  std::vector<Tensor<float>> attention_maps(View<const float> image, Pass& pass,
                                            const MapSelection& chosen = {}) const;

  // Returns the names of an image's tokens: "[CLS]", "[DIST]" if there is one, and "row,column" of
  // the patches, from 0.
  std::vector<std::string> token_names(GridSize grid) const;

  // "patches.", "tokens", "positions", "stack.", "pooler.", "output.", "output.distillation.".
  Parameters<float> parameters();
  Parameters<const float> parameters() const;
};

}  // namespace sextant

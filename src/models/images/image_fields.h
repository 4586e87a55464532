// The list of an image model's configuration, but for the names of its classes.
#pragma once

#include "core/options/fields.h"
#include "models/transformer_fields.h"
#include "sextant/models/image_model.h"

namespace sextant {

template <>
inline constexpr auto kFields<ImageConfig> = std::tuple{
    field(&ImageConfig::image_height, "image_height", IntegerRange{1, 1 << 16},
          "pixels of an image from top to bottom"),
    field(&ImageConfig::image_width, "image_width", IntegerRange{1, 1 << 16},
          "pixels of an image from left to right"),
    field(&ImageConfig::patch_height, "patch_height", IntegerRange{1, 1 << 12},
          "pixels of a patch from top to bottom"),
    field(&ImageConfig::patch_width, "patch_width", IntegerRange{1, 1 << 12},
          "pixels of a patch from left to right"),
    field(&ImageConfig::channels, "channels", IntegerRange{1, 1 << 12}, "numbers of a pixel"),
    field(&ImageConfig::width, "width", IntegerRange{1, 1 << 16}, "width of the layers"),
    field(&ImageConfig::heads, "heads", IntegerRange{1, 1 << 16}, "attention heads")
        .with_condition("divides the width"),
    field(&ImageConfig::layers, "layers", IntegerRange{1, 1000}, "layers of the stack"),
    field(&ImageConfig::ffn_width, "ffn_width", IntegerRange{1, 1 << 20},
          "inner width of feed-forward blocks"),
    field(&ImageConfig::activation, "activation", "activation of feed-forward blocks"),
    field(&ImageConfig::norm_epsilon, "norm_epsilon", NumberRange{1e-12, 0.1},
          "added to variances"),
    field(&ImageConfig::qkv_bias, "qkv_bias", "biases of the q, k and v projections"),
    field(&ImageConfig::distillation, "distillation", "a distillation token, as in DeiT"),
    field(&ImageConfig::pooler_width, "pooler_width", IntegerRange{0, 1 << 16},
          "width of the pooled vector; 0: no pooler"),
    field(&ImageConfig::classes, "classes", IntegerRange{0, 1 << 20},
          "classes of the logits; 0: no logits"),
    field(&ImageConfig::distillation_head, "distillation_head",
          "logits of the distillation token too; their mean counts")
        .with_condition("needs a distillation token and classes"),
    field(&ImageConfig::seed, "seed", kSeeds, "seed of the initial weights")};

}  // namespace sextant

// Describes the differences of rotary model types besides the defaults of their keys.
#pragma once

#include <string_view>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant::interop {

// Which layers see a window, when layer_types does not say.
enum class LayerWindow {
  never,
  always,
  by_pattern,
  // Only with use_sliding_window:
  when_used,           // all
  from_layer,          // the layers from max_window_layers on
  every_second_below,  // 0, 2, 4 .. below max_window_layers
  without_rotation,
};
enum class ScoreScale { by_head_dim, query_pre_attn_scalar, attention_multiplier };
// Layers without rotation.
enum class NoRotation { never, by_list, full_attention };

struct RotaryFamily {
  std::string_view name;
  RotaryLayout layout = RotaryLayout::half_split;
  LayerWindow window = LayerWindow::never;
  ScoreScale scale = ScoreScale::by_head_dim;
  NoRotation no_rotation = NoRotation::never;
  bool sections_interleaved = false;  // of image rows and columns
  bool partial = false;               // partial_rotary_factor is read
  bool softcap = false;               // attn_logit_softcapping is read
  bool sinks = false;                 // heads have a sink, which weights hold
  bool latent = false;                // DeepSeek's heads: the rotated channels come last
  bool temperature = false;           // Llama 4
  bool query_scale = false;           // Ministral 3: queries grow in layers that rotate
  bool nested_rope = false;  // rotary settings for each kind of layer, also if keys are absent

  bool is(std::string_view other) const { return name == other; }
};

// nullptr where the model type does not rotate.
const RotaryFamily* find_rotary_family(std::string_view model_type);

}  // namespace sextant::interop

// One line per model type; layouts are those of the checkpoints on the Hugging Face hub.
#include "interop/config/rotary_families.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "interop/config/models.h"

namespace sextant::interop {
namespace {

constexpr RotaryLayout kPairs = RotaryLayout::interleaved;

constexpr RotaryFamily kFamilies[] = {
    {.name = "llama"},
    {.name = "ministral3", .window = LayerWindow::always, .query_scale = true},
    {.name = "mistral", .window = LayerWindow::always},
    {.name = "mixtral", .window = LayerWindow::always},
    {.name = "qwen2", .window = LayerWindow::from_layer},
    {.name = "qwen2_moe", .window = LayerWindow::every_second_below},
    {.name = "qwen3", .window = LayerWindow::from_layer},
    {.name = "qwen3_moe", .window = LayerWindow::when_used},
    {.name = "qwen2_vl", .window = LayerWindow::from_layer},
    {.name = "qwen2_vl_text", .window = LayerWindow::from_layer},
    {.name = "qwen2_5_vl", .window = LayerWindow::from_layer},
    {.name = "qwen2_5_vl_text", .window = LayerWindow::from_layer},
    {.name = "qwen3_vl", .sections_interleaved = true},
    {.name = "qwen3_vl_text", .sections_interleaved = true},
    {.name = "qwen3_vl_moe_text", .sections_interleaved = true},
    {.name = "gemma"},
    {.name = "gemma2",
     .window = LayerWindow::by_pattern,
     .scale = ScoreScale::query_pre_attn_scalar,
     .softcap = true},
    {.name = "gemma3_text",
     .window = LayerWindow::by_pattern,
     .scale = ScoreScale::query_pre_attn_scalar,
     .softcap = true,
     .nested_rope = true},
    {.name = "phi", .partial = true},
    {.name = "phi3", .window = LayerWindow::always, .partial = true},
    {.name = "starcoder2", .window = LayerWindow::always},
    {.name = "olmo"},
    {.name = "olmo2"},
    {.name = "olmo3", .window = LayerWindow::by_pattern, .nested_rope = true},
    {.name = "granite", .scale = ScoreScale::attention_multiplier},
    {.name = "stablelm", .partial = true},
    {.name = "falcon"},
    {.name = "smollm3",
     .window = LayerWindow::without_rotation,
     .no_rotation = NoRotation::by_list},
    {.name = "gpt_oss", .window = LayerWindow::by_pattern, .sinks = true},
    {.name = "gpt_neox", .partial = true},
    {.name = "gptj", .layout = kPairs},
    {.name = "codegen", .layout = kPairs},
    {.name = "cohere", .layout = kPairs},
    {.name = "cohere2",
     .layout = kPairs,
     .window = LayerWindow::by_pattern,
     .no_rotation = NoRotation::full_attention},
    {.name = "glm", .layout = kPairs, .partial = true},
    {.name = "glm4", .layout = kPairs, .partial = true},
    {.name = "llama4_text",
     .layout = kPairs,
     .no_rotation = NoRotation::by_list,
     .temperature = true},
    {.name = "deepseek_v2", .layout = kPairs, .latent = true},
    {.name = "deepseek_v3", .layout = kPairs, .latent = true},
    {.name = "modernbert", .window = LayerWindow::by_pattern, .nested_rope = true},
};

}  // namespace

const RotaryFamily* find_rotary_family(std::string_view model_type) {
  const auto* found = std::ranges::find(kFamilies, model_type, &RotaryFamily::name);
  return found == std::end(kFamilies) ? nullptr : found;
}

std::vector<std::string> rotary_model_types() {
  std::vector<std::string> names;
  for (const RotaryFamily& family : kFamilies) names.emplace_back(family.name);
  return names;
}

}  // namespace sextant::interop

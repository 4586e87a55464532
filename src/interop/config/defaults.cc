// Has one row per model type: the defaults of its configuration class in transformers 5.23.0. The
// tests compare them with the output of those classes, tests/interop/config/class_defaults/.
#include "interop/config/defaults.h"

#include <algorithm>
#include <iterator>

#include "sextant/core/error.h"

namespace sextant::interop {
namespace {

// Width, layers, heads, heads of keys, channels of a head, positions.
constexpr ConfigDefaults kDefaults[] = {
    {"bart", {1024, 12, 16, 0, 0, 1024}},
    {"bert", {768, 12, 12, 0, 0, 512}},
    {"bloom", {64, 2, 8, 0, 0, {}}},
    {"camembert", {768, 12, 12, 0, 0, 512}},
    {"codegen", {4096, 28, 16, 0, 0, 2048}, {.rotary_dim = 64}},
    {"cohere", {8192, 40, 64, 0, 0, 8192}, {.base = 500000}},
    {"cohere2", {8192, 40, 64, 0, 0, 8192}, {.window = 4096, .pattern = 4}},
    {"deberta", {768, 12, 12, 0, 0, 512}},
    {"deberta-v2", {1536, 24, 24, 0, 0, 512}},
    {"deepseek_v2", {4096, 32, 32, 0, 0, 2048}},
    {"deepseek_v3", {7168, 61, 128, 128, 0, 4096}},
    {"distilbert", {768, 6, 12, 0, 0, 512}},
    {"falcon", {4544, 32, 71, 0, 0, 2048}},
    {"gemma", {3072, 28, 16, 16, 256, 8192}},
    {"gemma2", {2304, 26, 8, 4, 256, 8192}, {.window = 4096, .pattern = 2, .softcap = 50}},
    {"gemma3_text",
     {2304, 26, 8, 4, 256, 131072},
     {.base = 1000000, .local_base = 10000, .window = 4096, .pattern = 6}},
    {"glm", {4096, 40, 32, 2, 128, 131072}, {.partial = 0.5}},
    {"glm4", {4096, 40, 32, 2, 128, 131072}, {.partial = 0.5}},
    {"gpt2", {768, 12, 12, 0, 0, 1024}},
    {"gpt_neox", {6144, 44, 64, 0, 0, 2048}, {.partial = 0.25}},
    {"gpt_oss", {2880, 36, 64, 8, 64, 131072}, {.base = 150000, .window = 128, .pattern = 2}},
    {"gptj", {4096, 28, 16, 0, 0, 2048}, {.rotary_dim = 64}},
    {"granite", {4096, 32, 32, 0, 0, 2048}},
    {"llama", {4096, 32, 32, 0, 0, 2048}},
    {"llama4_text", {5120, 48, 40, 8, 128, 131072}, {.base = 500000}},
    {"marian", {1024, 12, 16, 0, 0, 1024}},
    {"mbart", {1024, 12, 16, 0, 0, 1024}},
    {"ministral3", {4096, 34, 32, 8, 128, 262144}},
    {"mistral", {4096, 32, 32, 8, 0, 131072}, {.window = 4096}},
    {"mixtral", {4096, 32, 32, 8, 0, 131072}, {.base = 1000000}},
    {"modernbert",
     {768, 22, 12, 0, 0, 8192},
     {.base = 160000, .local_base = 10000, .window = 128, .pattern = 3}},
    {"mpt", {2048, 24, 16, 0, 0, 2048}},
    {"mt5", {512, 8, 6, 0, 64, {}}},
    {"olmo", {4096, 32, 32, 0, 0, 2048}},
    {"olmo2", {4096, 32, 32, 0, 0, 2048}},
    {"olmo3",
     {4096, 32, 32, 0, 0, 2048},
     {.base = 500000, .local_base = 500000, .window = 4096, .pattern = 4}},
    {"opt", {768, 12, 12, 0, 0, 2048}},
    {"pegasus", {1024, 12, 16, 0, 0, 1024}},
    {"phi", {2048, 24, 32, 0, 0, 2048}, {.partial = 0.5}},
    {"phi3", {3072, 32, 32, 0, 0, 4096}, {.original = 4096}},
    {"qwen2", {4096, 32, 32, 32, 0, 32768}, {.window = 4096, .window_layers = 28}},
    {"qwen2_5_vl",
     {8192, 80, 64, 8, 0, 32768},
     {.base = 1000000, .window = 4096, .window_layers = 80, .sections = {16, 24, 24}}},
    {"qwen2_5_vl_text",
     {8192, 80, 64, 8, 0, 32768},
     {.base = 1000000, .window = 4096, .window_layers = 80, .sections = {16, 24, 24}}},
    {"qwen2_moe", {2048, 24, 16, 16, 0, 32768}, {.window = 4096, .window_layers = 28}},
    {"qwen2_vl",
     {8192, 80, 64, 8, 0, 32768},
     {.base = 1000000, .window = 4096, .window_layers = 80, .sections = {16, 24, 24}}},
    {"qwen2_vl_text",
     {8192, 80, 64, 8, 0, 32768},
     {.base = 1000000, .window = 4096, .window_layers = 80, .sections = {16, 24, 24}}},
    {"qwen3", {4096, 32, 32, 32, 128, 32768}, {.window = 4096, .window_layers = 28}},
    {"qwen3_moe", {2048, 24, 32, 4, 0, 32768}, {.window = 4096}},
    {"qwen3_vl", {4096, 32, 32, 32, 128, 128000}, {.base = 500000, .sections = {24, 20, 20}}},
    {"qwen3_vl_moe_text",
     {2048, 24, 16, 16, 0, 128000},
     {.base = 500000, .sections = {24, 20, 20}}},
    {"qwen3_vl_text", {4096, 32, 32, 32, 128, 128000}, {.base = 500000, .sections = {24, 20, 20}}},
    {"roberta", {768, 12, 12, 0, 0, 512}},
    {"smollm3", {2048, 36, 16, 4, 0, 32768}, {.base = 2000000}},
    {"stablelm", {2560, 32, 32, 32, 0, 4096}, {.partial = 0.25}},
    {"starcoder2", {3072, 30, 24, 2, 0, 4096}},
    {"t5", {512, 6, 8, 0, 64, {}}},
    {"umt5", {512, 8, 6, 0, 64, {}}},
    {"xlm-roberta", {768, 12, 12, 0, 0, 512}},
};

}  // namespace

const ConfigDefaults& config_defaults(std::string_view model_type) {
  const auto* found = std::ranges::find(kDefaults, model_type, &ConfigDefaults::model_type);
  if (found == std::end(kDefaults)) {
    throw Error("config_defaults.model_type",
                "must be one that has defaults, got " + std::string(model_type));
  }
  return *found;
}

}  // namespace sextant::interop

// Any bytes as a config.json, and as what stands inside a sound one: layers whose sizes fit, or an
// Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/interop/model_config.h"

namespace {

void check(std::string_view json) {
  try {
    const sextant::ModelConfig config = sextant::parse_model_config(json);
    if (config.layers.empty() || config.layers.size() > 20000) std::abort();
    for (const sextant::LayerPositions& layer : config.layers) {
      if (layer.head_dim < 1 || layer.heads < 1 || layer.heads % layer.kv_heads != 0) std::abort();
      sextant::find_scheme(layer.scheme);  // there is one of this name
    }
  } catch (const sextant::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  for (const char* type : {"llama", "qwen2_vl", "gemma3_text", "deepseek_v3", "mpt"}) {
    check(R"({"hidden_size":64,"d_model":64,"num_hidden_layers":6,"n_layers":6,"n_heads":4,)"
          R"("num_attention_heads":4,"max_position_embeddings":128,"model_type":")" +
          std::string(type) + "\"," + text + "}");
  }
  return 0;
}

// Other positions than a model was trained with.
#include <algorithm>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "sextant/models/transformer_config.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

void check_layers(const TransformerConfig& config, const SchemeSpecs& schemes,
                  std::span<const std::int64_t> layers) {
  constexpr std::string_view kWhere = "model.replace_in";
  if (config.kind == ModelKind::translator) {
    throw Error(kWhere, "must not be given for a translator, whose layers have the same positions");
  }
  for (const SchemeSpecs* list : {&config.schemes, &schemes}) {
    for (const SchemeSpec& each : *list) {
      if (find_scheme(each.scheme).kind != SchemeKind::added) continue;
      throw Error(kWhere, "must not be given with " + each.scheme +
                              ", whose rows are added to the embeddings, before all layers");
    }
  }
  std::vector<bool> seen(static_cast<std::size_t>(config.layers));
  for (const std::int64_t layer : layers) {
    if (layer < 0 || layer >= config.layers || seen[static_cast<std::size_t>(layer)]) {
      throw Error(kWhere, "must be layers 0 .. " + std::to_string(config.layers - 1) +
                              ", each once, got " + std::to_string(layer));
    }
    seen[static_cast<std::size_t>(layer)] = true;
  }
}

}  // namespace

void check_replacement(const SchemeSpecs& schemes, std::string_view where) {
  for (const SchemeSpec& each : schemes) {
    if (find_scheme(each.scheme).weight_sizes == nullptr) continue;
    throw Error(where,
                "must be schemes that learn nothing, as the model has no weights for others, got " +
                    printable_quote(each.scheme));
  }
}

TransformerConfig with_schemes(TransformerConfig config, const SchemeSpecs& schemes,
                               std::span<const std::int64_t> layers) {
  check_replacement(schemes);
  if (layers.empty()) {
    config.schemes = schemes;
    config.decoder_schemes.clear();
    config.layer_schemes.clear();
    return config;
  }
  check_layers(config, schemes, layers);
  for (LayerSchemes& each : config.layer_schemes) {
    std::erase_if(each.layers,
                  [&](std::int64_t layer) { return std::ranges::count(layers, layer) > 0; });
  }
  std::erase_if(config.layer_schemes, [](const LayerSchemes& each) { return each.layers.empty(); });
  config.layer_schemes.push_back({{layers.begin(), layers.end()}, schemes});
  return config;
}

}  // namespace sextant

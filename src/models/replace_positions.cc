// Other positions than a model was trained with.
#include "core/text/quoted_text.h"
#include "sextant/core/error.h"
#include "sextant/models/transformer_config.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

void check_replacement(const SchemeSpecs& schemes, std::string_view where) {
  for (const SchemeSpec& each : schemes) {
    if (find_scheme(each.scheme).weight_sizes == nullptr) continue;
    throw Error(where,
                "must be schemes that learn nothing, as the model has no weights for others, got " +
                    quoted_text(each.scheme));
  }
}

TransformerConfig with_positions(TransformerConfig config, const SchemeSpecs& schemes) {
  check_replacement(schemes);
  config.positions = schemes;
  config.decoder_positions.clear();
  config.layer_positions.clear();
  return config;
}

}  // namespace sextant

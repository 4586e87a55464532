// A model's config as a config.json of the hub: which model type has all of it.
#pragma once

#include <string>
#include <string_view>

#include "hub/families.h"

namespace sextant::hub {

// The written text, and how it is read again.
struct WrittenConfig {
  const Family* family = nullptr;
  std::string text;          // config.json
  TransformerConfig config;  // of the model that is written: it may need other weights
};

// Looks at the model types in turn, or at `model_type` alone, for one whose config.json, when it is
// read again, gives `config` or an equivalent() of it. Throws Error(where, ...) with the keys that
// the nearest of them has otherwise.
WrittenConfig write_config(const TransformerConfig& config, const std::string& model_type,
                           const std::string& where);
// The same where config.json is there already: `text`, of the file `path`.
WrittenConfig match_config(const TransformerConfig& config, const std::string& text,
                           const std::string& path, const std::string& where);

}  // namespace sextant::hub

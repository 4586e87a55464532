// Two descriptions, key by key.
#include "training/runs/same_json.h"

#include "sextant/core/error.h"

namespace sextant {

void check_same_json(const std::string& path, const std::string& purpose, const std::string& name,
                     const Json& found, const Json& wanted, const Json& defaults) {
  if (found.is_object() && wanted.is_object()) {
    const auto full = [&name](const std::string& key) {
      return name.empty() ? key : name + "." + key;
    };
    for (const auto& [key, value] : wanted.items()) {
      const Json otherwise = defaults.is_object() ? defaults.value(key, Json()) : Json();
      check_same_json(path, purpose, full(key), found.value(key, otherwise), value, otherwise);
    }
    for (const auto& [key, value] : found.items()) {
      if (!wanted.contains(key)) check_same_json(path, purpose, full(key), value, Json(), Json());
    }
  } else if (found != wanted) {
    throw Error(path, "must have the same " + name + " " + purpose + ": it is " + found.dump() +
                          ", asked for " + wanted.dump());
  }
}

}  // namespace sextant

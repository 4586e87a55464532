// Which kind of model a function takes.
#pragma once

#include <string>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/models/transformer_config.h"

namespace sextant {

// Throws Error(where, "must be causal, got masked") and so on.
inline void check_kind(std::string_view where, ModelKind kind, ModelKind wanted) {
  if (kind == wanted) return;
  throw Error(where,
              "must be " + std::string(name_of(wanted)) + ", got " + std::string(name_of(kind)));
}

}  // namespace sextant

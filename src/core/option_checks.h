// Checks of options that several schemes share.
#pragma once

#include <string>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {

// Throws Error(where, ...) for a number cast to an enum that has no such value: only the values
// that exist have names.
template <class Enum>
void check_named(std::string_view where, Enum value) {
  if (name_of(value) == "unknown") {
    throw Error(where,
                "must be one of the named values, got " + std::to_string(static_cast<int>(value)));
  }
}

inline void check_threads(std::string_view where, int threads) {
  if (threads < 0 || threads > kMostThreads) {
    throw Error(
        where, "must be 0 .. " + std::to_string(kMostThreads) + ", got " + std::to_string(threads));
  }
}

}  // namespace sextant

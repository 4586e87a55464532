// Checks of options that several schemes share.
#pragma once

#include <string>
#include <string_view>

#include "core/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {

inline void check_threads(std::string_view where, int threads) {
  if (threads < 0 || threads > kMostThreads) {
    throw Error(
        where, "must be 0 .. " + std::to_string(kMostThreads) + ", got " + std::to_string(threads));
  }
}

}  // namespace sextant

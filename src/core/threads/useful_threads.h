// How many threads a call uses.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/core/parallel.h"

namespace sextant {

// What an argument `threads` of 0 means.
inline int allowed_threads(int threads) { return threads == 0 ? default_threads() : threads; }

// The threads that a call of so many multiply-adds pays for: one, and another for each
// `thread_work` of them. Starting a thread that looks for work takes about a microsecond, one that
// sleeps ten to fifty; each path says what it does in some ten microseconds.
inline int useful_threads(int threads, double work, double thread_work) {
  return std::min(allowed_threads(threads),
                  static_cast<int>(std::min<double>(work / thread_work, kMaxThreads)) + 1);
}

}  // namespace sextant

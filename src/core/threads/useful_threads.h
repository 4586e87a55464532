// How many threads a call uses.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/core/parallel.h"

namespace sextant {

// The threads that a caller allows: 0 is default_threads().
inline int allowed_threads(int threads) { return threads == 0 ? default_threads() : threads; }

// Returns the number of threads that is worth while for a number of multiply-adds: one, and another
// for each `thread_work` of them, which a path computes in some ten microseconds. Starting a thread
// takes less than one microsecond while it spins (bench/threads), and more when it sleeps.
inline int useful_threads(int threads, double work, double thread_work) {
  return std::min(allowed_threads(threads),
                  static_cast<int>(std::min<double>(work / thread_work, kMaxThreads)) + 1);
}

}  // namespace sextant

// How both directions distribute tasks over threads.
#pragma once

#include <cstdint>

namespace sextant::attention_detail {

// Multiply-adds that justify a second thread: some ten microseconds.
inline constexpr double kThreadWork = 1 << 20;
// Threads take short tasks in chunks, but at least this many chunks each: an atomic operation on
// the shared counter waits for earlier stores.
inline constexpr std::int64_t kMinChunks = 8;

}  // namespace sextant::attention_detail

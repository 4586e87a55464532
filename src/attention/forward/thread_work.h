// What both directions go by when they share out tasks.
#pragma once

#include <cstdint>

namespace sextant::detail {

// Multiply-adds that are worth a second thread: some ten microseconds.
inline constexpr double kThreadWork = 1 << 20;
// Threads take short tasks several at once, but come back at least so often: a counter that they
// share waits for all that was stored before.
inline constexpr std::int64_t kLeastTurns = 8;

}  // namespace sextant::detail

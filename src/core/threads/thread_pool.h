// The library's threads. They are started when a call first needs them and kept for later calls.
#pragma once

#include <cstdint>

#include "sextant/core/parallel.h"

namespace sextant {

// Runs body(0) .. body(count - 1) on the calling thread and up to threads - 1 others, and returns
// when all are done. 1 < threads <= count; bodies do not throw. Any number of threads may call it
// at once: they share the pool's threads, and a call that gets none does its work alone.
//
// The call never waits for a thread that has not begun: when the caller has finished its own work,
// it takes back the rest. So if other processes use the processors, a call takes about as long as
// on one thread; it does not wait until the system runs the others. With count == threads, body(i)
// runs on the same thread in every call that gets all threads.
void run_in_pool(std::int64_t count, int threads, TaskRef body);

}  // namespace sextant

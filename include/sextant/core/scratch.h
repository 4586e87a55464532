// Releases memory that threads keep between calls.
#pragma once

#include <cstdint>

namespace sextant {

// Returns the scratch memory of all threads to the system, also of a pool, and the number of its
// bytes. Attention, its gradients and matrix products work in memory that each thread keeps for its
// next call, as much as its largest call needed (see attention_plan()). The memory of running calls
// is kept. Call it from any thread, at any time.
std::int64_t release_scratch() noexcept;

}  // namespace sextant

// Memory that threads keep between calls.
#pragma once

#include <cstdint>

namespace sextant {

// Attention, its gradients and matrix products work in memory that each thread keeps for its next
// call, as much as its largest call needed (attention_plan() says how much that is). This gives the
// memory of all threads back to the system, those of a pool included; what a running call uses is
// kept. From any thread, at any time. Returns how many bytes that were.
std::int64_t release_scratch() noexcept;

}  // namespace sextant

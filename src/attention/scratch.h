// Memory that a thread keeps from call to call, so that calls do not allocate.
#pragma once

#include <cstdint>

namespace sextant::detail {

// At least `floats` numbers of any value on a cache line, this thread's until its next call of this
// function. Throws Error when there is not enough memory.
float* thread_scratch(std::int64_t floats);

}  // namespace sextant::detail

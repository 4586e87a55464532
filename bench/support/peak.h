// The ceilings of arithmetic and of memory, measured by the same threads, on the same instruction
// set and at the same moment as what is compared with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::bench {

// Multiply-adds from register to register, enough of them in flight to fill every unit, for about a
// millisecond. Returns the floating-point operations done, two per lane.
double multiply_add(int threads);

// Reads, or multiplies by one in place, `count` floats shared out over the threads. Return the
// bytes moved: read once, or read and written.
double read_floats(const float* data, std::size_t count, int threads);
double scale_floats(float* data, std::size_t count, int threads);

// Writes ones past the caches; `out` at a multiple of 64 bytes.
void stream_floats(float* out, std::int64_t count, int threads);

// memcpy, shared out over the threads. Returns the bytes read and written.
double copy_floats(const float* from, float* to, std::size_t count, int threads);

}  // namespace sextant::bench

// .npy files of complex numbers.
#pragma once

#include <string>
#include <string_view>

namespace sextant::interop {

// Returns the same file with an axis of two after the others, real and imaginary part, if `bytes`
// are complex64 or complex128 in row-major order; else the unchanged bytes.
std::string with_real_parts(std::string_view bytes);

}  // namespace sextant::interop

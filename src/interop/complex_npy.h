// .npy files of complex numbers.
#pragma once

#include <string>
#include <string_view>

namespace sextant::interop {

// The same file with an axis of two behind the others, real and imaginary part, where `bytes` are
// complex64 or complex128 in row-major order; else the bytes as they are.
std::string with_real_parts(std::string_view bytes);

}  // namespace sextant::interop

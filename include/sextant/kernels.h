// Which instruction sets the fast paths were compiled for, and which one this machine uses.
#pragma once

#include <string>

namespace sextant {

// Best first, as Highway names them: "AVX3 AVX2 SSE4 SSSE3".
std::string compiled_targets();

// The one in use. The environment variable SEXTANT_TARGET asks for another, at most that good:
// SEXTANT_TARGET=AVX2 keeps AVX-512 off. It is read once, before the first table is made. One that
// this processor lacks gives the next lesser one that it has; this function says which.
std::string chosen_target();

// Throws Error("SEXTANT_TARGET", ...) when that variable is set to what is not among
// compiled_targets(); kernels take it for unset then.
void check_requested_target();

}  // namespace sextant

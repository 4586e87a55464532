// Which instruction sets the fast paths were compiled for, and which one this machine uses.
#pragma once

#include <string>

namespace sextant {

// Best first, as Highway names them: "AVX3 AVX2 SSE4 SSSE3".
std::string compiled_targets();

// The one in use. The environment variable SEXTANT_TARGET asks for another, at most that good:
// SEXTANT_TARGET=AVX2 keeps AVX-512 off. It is read once, before the first table is made; a name
// that is not compiled, or not available on this processor, changes as little as possible, and this
// function says what came of it.
std::string chosen_target();

}  // namespace sextant

// Says which instruction sets the fast paths were compiled for, and which one this machine uses.
#pragma once

#include <string>

namespace sextant {

// Returns the compiled sets, best first, as Highway names them: "AVX3 AVX2 SSE4 SSSE3".
std::string compiled_targets();

// Returns the set in use. The environment variable SEXTANT_TARGET sets an upper limit:
// SEXTANT_TARGET=AVX2 disables AVX-512. It is read once, before the first table is made. If the
// processor lacks the named set, the next lower one that it has is used.
std::string chosen_target();

// Throws Error("SEXTANT_TARGET", ...) if that variable is not one of compiled_targets(); kernels
// then ignore it.
void check_requested_target();

}  // namespace sextant

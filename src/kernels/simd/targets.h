// The choice of an instruction set, made once for the process.
#pragma once

#include "sextant/kernels.h"

namespace sextant::kernels {

// Honours SEXTANT_TARGET; every kernel calls it before its first dispatch. Cheap after the first
// call, from any thread.
void apply_requested_target() noexcept;

// Whether SEXTANT_TARGET allows AVX-512, for kernels that Highway does not dispatch.
bool is_avx512_allowed() noexcept;

}  // namespace sextant::kernels

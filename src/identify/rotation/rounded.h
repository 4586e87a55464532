// Caches whose positions, frequencies or angles were rounded to 16 bits before cosines were taken.
#pragma once

#include <optional>

#include "identify/rotation/rotations.h"

namespace sextant::identify {

// Makes the caches that such roundings give, of positions 0, 1, ..., and compares; scheme "unknown"
// where none is the given one. The mistake says what was rounded to which type. `fit` is that of
// `given`, as far as there is one.
Identification name_rounded_rotations(const Rotations& given, double unit_roundoff,
                                      const std::optional<RotationFit>& fit);

// Frequencies alone, [pairs] without strides and nowhere rising, as a buffer inv_freq holds them.
Identification name_frequencies(View<const double> frequencies, double unit_roundoff);

}  // namespace sextant::identify

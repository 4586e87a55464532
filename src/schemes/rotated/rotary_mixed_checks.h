// What the functions of mixed rotary positions check of their arguments.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "schemes/added/sinusoidal_positions.h"
#include "schemes/rotated/rotation.h"
#include "schemes/rotated/rotation_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/rotated/rotary_mixed.h"

namespace sextant {

template <>
inline constexpr auto kFields<RotaryMixed> = rotation_fields<RotaryMixed>();

inline Rotation checked(const RotaryMixed& options) {
  return rotation_from("rotary_mixed", options);
}

inline void check_frequencies(const Rotation& rotation, View<const double> frequencies) {
  if (frequencies.rank() != 3 || frequencies.size(1) < 1 || frequencies.size(1) > 2 ||
      frequencies.size(2) != rotation.pairs()) {
    throw Error(rotation.where("frequencies"),
                "must be [heads, 1 or 2 axes, " + std::to_string(rotation.pairs()) +
                    " pairs], got " + frequencies.shape().to_string());
  }
  for (std::int64_t h = 0; h < frequencies.size(0); ++h) {
    for (std::int64_t a = 0; a < frequencies.size(1); ++a) {
      for (std::int64_t k = 0; k < frequencies.size(2); ++k) {
        if (std::fabs(frequencies(h, a, k)) <= 0x1p64) continue;  // not so for NaN
        throw Error(rotation.where("frequencies"),
                    "must be within +-2^64, got " + shortest(frequencies(h, a, k)));
      }
    }
  }
}

inline void check_ids(const Rotation& rotation, View<const std::int64_t> ids, std::int64_t axes) {
  if (ids.rank() != 2 || ids.size(1) != axes) {
    throw Error(rotation.where("positions"), "must be [rows, " + std::to_string(axes) +
                                                 "], one id for each axis, got " +
                                                 ids.shape().to_string());
  }
  const Tensor<std::int64_t> dense = copy_of(ids);
  (void)listed_positions(std::as_const(dense).span(), rotation.where("positions"));
}

}  // namespace sextant

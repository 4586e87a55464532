// Linear position interpolation: every frequency divided by one factor.
#include "sextant/schemes/rotated/rotary_linear.h"

#include "schemes/rotated/rotary_scheme.h"

namespace sextant {

template <>
inline constexpr auto kFields<LinearScaling> =
    std::tuple{field(&LinearScaling::factor, "factor", kAboveZero,
                     "divisor of positions: new length / trained length")};

void scale(Rotation& rotation, const LinearScaling& scaling, std::int64_t) {
  check_fields(rotation.scheme, scaling);
  const WideFloat inverse = reciprocal(WideFloat(scaling.factor));
  for (WideFloat& frequency : rotation.frequencies) frequency = frequency * inverse;
  for (float& frequency : rotation.framework) frequency /= static_cast<float>(scaling.factor);
}

constinit const Scheme descriptors::kRotaryLinear = rotary_scheme<kRotaryLinear, LinearScaling>(
    LinearScaling::name, "rotary linear",
    "Rotary with positions divided by a factor, so that a longer text fits the trained range.",
    "Chen et al. 2023, 2306.15595");

}  // namespace sextant

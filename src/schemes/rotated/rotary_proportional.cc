// Implements proportional RoPE: the slow pairs are not rotated.
#include "sextant/schemes/rotated/rotary_proportional.h"

#include <cmath>

#include "schemes/rotated/rotary_scheme.h"

namespace sextant {

template <>
inline constexpr auto kFields<ProportionalScaling> = std::tuple{
    field(&ProportionalScaling::proportion, "proportion", NumberRange{0, 1},
          "fraction of the pairs that are rotated, fastest first"),
    field(&ProportionalScaling::factor, "factor", kAboveZero, "divisor of the frequencies")};

void scale(Rotation& rotation, const ProportionalScaling& scaling, std::int64_t) {
  check_fields(rotation.scheme, scaling);
  const auto rotated = static_cast<std::size_t>(
      std::floor(scaling.proportion * static_cast<double>(rotation.dim) / 2));
  const WideFloat inverse = reciprocal(WideFloat(scaling.factor));
  for (std::size_t k = 0; k < rotation.frequencies.size(); ++k) {
    rotation.frequencies[k] = k < rotated ? rotation.frequencies[k] * inverse : WideFloat();
    rotation.framework[k] =
        k < rotated ? rotation.framework[k] / static_cast<float>(scaling.factor) : 0;
  }
}

constinit const Scheme descriptors::kRotaryProportional =
    rotary_scheme<kRotaryProportional, ProportionalScaling>(
        ProportionalScaling::name, "rotary proportional",
        "Rotary whose slow pairs are not rotated and do not depend on the position.",
        "Barbero et al. 2024, 2410.06205");

}  // namespace sextant

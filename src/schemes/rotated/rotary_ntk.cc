// NTK-aware scaling: the base that slows the last pair by the factor.
#include "sextant/schemes/rotated/rotary_ntk.h"

#include "schemes/rotated/rotary_scheme.h"

namespace sextant {

template <>
inline constexpr auto kFields<NtkScaling> =
    std::tuple{field(&NtkScaling::factor, "factor", kAboveZero,
                     "divisor of the slowest pair's frequency: new length / trained length")};

void scale(Rotation& rotation, const NtkScaling& scaling, std::int64_t) {
  check_fields(rotation.scheme, scaling);
  stretch_base(rotation, WideFloat(scaling.factor));
}

double ntk_base(double base, std::int64_t rotary_dim, const NtkScaling& scaling) {
  check_range(kAboveZero, "ntk_base.base", base);
  check_fields("ntk_base", scaling);
  return stretched_base("ntk_base", base, rotary_dim, scaling.factor);
}

constinit const Scheme descriptors::kRotaryNtk = rotary_scheme<kRotaryNtk, NtkScaling>(
    NtkScaling::name, "rotary NTK",
    "Rotary with a larger base, chosen so that the slowest pair is slowed by a given factor.",
    "bloc97 2023; Peng et al. 2023, 2309.00071, section 3.1");

}  // namespace sextant

// Dynamic NTK scaling: NTK by as much as the text is longer than in training.
#include "sextant/schemes/rotated/rotary_dynamic_ntk.h"

#include <algorithm>

#include "schemes/rotated/rotary_scheme.h"

namespace sextant {
namespace {

std::int64_t effective_length(const DynamicNtkScaling& scaling, std::int64_t length) {
  return std::max(scaling.length.value_or(length), scaling.max_length);
}

}  // namespace

template <>
inline constexpr auto kFields<DynamicNtkScaling> = std::tuple{
    field(&DynamicNtkScaling::factor, "factor", kAboveZero, "growth of the base beyond max_length"),
    field(&DynamicNtkScaling::max_length, "max_length", kLengths,
          "trained length, up to which it equals rotary"),
    field(&DynamicNtkScaling::length, "length", IntegerRange{0, kLengths.max},
          "length of the text; auto: the largest position + 1")};

void scale(Rotation& rotation, const DynamicNtkScaling& scaling, std::int64_t length) {
  check_fields(rotation.scheme, scaling);
  const WideFloat factor(scaling.factor);
  const WideFloat now(static_cast<double>(effective_length(scaling, length)));
  const WideFloat ratio = now / static_cast<std::uint64_t>(scaling.max_length);
  stretch_base(rotation, factor * ratio - (factor - WideFloat(1.0)));
}

double dynamic_ntk_base(double base, std::int64_t rotary_dim, const DynamicNtkScaling& scaling,
                        std::int64_t length) {
  check_range(kAboveZero, "dynamic_ntk_base.base", base);
  check_fields("dynamic_ntk_base", scaling);
  const auto now = static_cast<double>(effective_length(scaling, length));
  return stretched_base(
      "dynamic_ntk_base", base, rotary_dim,
      scaling.factor * now / static_cast<double>(scaling.max_length) - (scaling.factor - 1));
}

std::int64_t length_class(const DynamicNtkScaling& scaling, std::int64_t length) {
  return scaling.length ? 0 : std::max(length, scaling.max_length);
}

constinit const Scheme descriptors::kRotaryDynamicNtk =
    rotary_scheme<kRotaryDynamicNtk, DynamicNtkScaling>(
        DynamicNtkScaling::name, "rotary dynamic NTK",
        "Rotary whose base grows with the length of the text beyond that of training.",
        "emozilla 2023; Peng et al. 2023, 2309.00071, section 3.3");

}  // namespace sextant

// Linear position interpolation: every frequency divided by one factor.
#include "sextant/schemes/rotated/rotary_linear.h"

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

Rotation rotation_of(const RotaryLinear& options) {
  Rotation rotation = checked_rotation("rotary_linear", options);
  check_positive(rotation, "factor", options.factor);
  set_ladder(rotation, options.base, rotation.dim);
  const WideFloat inverse = reciprocal(WideFloat(options.factor));
  for (WideFloat& frequency : rotation.frequencies) frequency = frequency * inverse;
  for (float& frequency : rotation.framework) frequency /= static_cast<float>(options.factor);
  return rotation;
}

}  // namespace

SEXTANT_ROTATION(rotary_linear, RotaryLinear, rotation_of)

RotationFrequencies rotation_frequencies(const RotaryLinear& options) {
  return frequencies_of(rotation_of(options));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"factor", "4", "> 0", "positions are divided by it: new length over trained length"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryLinear options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryLinear>(given, request);
  options.factor = given.number("factor");
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryLinear, request);
  return rotary_linear<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotaryLinear, request), request));
}

}  // namespace

constinit const Scheme kRotaryLinear = {
    .name = "rotary_linear",
    .kind = SchemeKind::rotated,
    .idea =
        "Rotary with positions divided by a factor, so that a longer text fits the trained range.",
    .paper = "Chen et al. 2023, 2306.15595",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

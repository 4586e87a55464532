// NTK-aware scaling: the base that slows the last pair by the factor.
#include "sextant/schemes/rotated/rotary_ntk.h"

#include <cmath>
#include <string>

#include "schemes/rotated/frequencies.h"
#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

Rotation checked(const RotaryNtk& options) {
  Rotation rotation = checked_rotation("rotary_ntk", options);
  check_positive(rotation, "factor", options.factor);
  check_more_than_one_pair(rotation);
  return rotation;
}

Rotation rotation_of(const RotaryNtk& options) {
  Rotation rotation = checked(options);
  set_stretched_ladder(rotation, options.base, WideFloat(options.factor));
  return rotation;
}

}  // namespace

SEXTANT_ROTATION(rotary_ntk, RotaryNtk, rotation_of)

RotationFrequencies rotation_frequencies(const RotaryNtk& options) {
  return frequencies_of(rotation_of(options));
}

double rotary_ntk_base(const RotaryNtk& options) {
  return stretched_base(checked(options), options.base, options.factor);
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"factor", "4", "> 0", "how much the slowest pair is slowed: new length over trained length"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryNtk options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryNtk>(given, request);
  options.factor = given.number("factor");
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryNtk, request);
  return rotary_ntk<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotaryNtk, request), request));
}

}  // namespace

constinit const Scheme kRotaryNtk = {
    .name = "rotary_ntk",
    .kind = SchemeKind::rotated,
    .idea =
        "Rotary with a larger base, chosen so that the slowest pair is slowed by a given factor.",
    .paper = "bloc97 2023; Peng et al. 2023, 2309.00071, section 3.1",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

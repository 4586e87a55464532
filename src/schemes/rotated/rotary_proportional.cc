// Proportional RoPE: the slow pairs stand still.
#include "sextant/schemes/rotated/rotary_proportional.h"

#include <cmath>
#include <string>

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

Rotation rotation_of(const RotaryProportional& options) {
  Rotation rotation = checked_rotation("rotary_proportional", options);
  if (!(options.proportion >= 0 && options.proportion <= 1)) {
    throw Error(rotation.where("proportion"),
                "must be 0 .. 1, got " + shortest(options.proportion));
  }
  check_positive(rotation, "factor", options.factor);
  set_ladder(rotation, options.base, rotation.dim);
  const auto turning = static_cast<std::size_t>(
      std::floor(options.proportion * static_cast<double>(rotation.dim) / 2));
  const WideFloat inverse = reciprocal(WideFloat(options.factor));
  for (std::size_t k = 0; k < rotation.frequencies.size(); ++k) {
    rotation.frequencies[k] = k < turning ? rotation.frequencies[k] * inverse : WideFloat();
    rotation.framework[k] =
        k < turning ? rotation.framework[k] / static_cast<float>(options.factor) : 0;
  }
  return rotation;
}

}  // namespace

SEXTANT_ROTATION(rotary_proportional, RotaryProportional, rotation_of)

RotationFrequencies rotation_frequencies(const RotaryProportional& options) {
  return frequencies_of(rotation_of(options));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"proportion", "0.25", "0 to 1", "fraction of the pairs that are rotated, the fastest ones"},
    {"factor", "1", "> 0", "frequencies are divided by it"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryProportional options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryProportional>(given, request);
  options.proportion = given.number("proportion");
  options.factor = given.number("factor");
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryProportional, request);
  return rotary_proportional<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotaryProportional, request), request));
}

}  // namespace

constinit const Scheme kRotaryProportional = {
    .name = "rotary_proportional",
    .kind = SchemeKind::rotated,
    .idea = "Rotary whose slow pairs are not rotated and do not depend on the position.",
    .paper = "Barbero et al. 2024, 2410.06205",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

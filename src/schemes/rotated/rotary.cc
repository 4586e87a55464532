// Rotary positions: the cosines and sines of every position and pair.
#include "sextant/schemes/rotated/rotary.h"

#include <string>

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

Rotation rotation_of(const Rotary& options) {
  Rotation rotation = checked_rotation("rotary", options);
  set_ladder(rotation, options.base, rotation.dim);
  return rotation;
}

}  // namespace

SEXTANT_ROTATION(rotary, Rotary, rotation_of)

template <Floating T>
void rotary_into(RotationTable<T>& table, const Rotary& options) {
  const Rotation rotation = rotation_of(options);
  if (table.cos.rank() != 2 || table.cos.shape() != table.sin.shape() ||
      table.cos.size(1) != rotation.pairs()) {
    throw Error("rotary_into.table", "must hold cos and sin of one shape [positions, " +
                                         std::to_string(rotation.pairs()) + "], got " +
                                         table.cos.shape().to_string() + " and " +
                                         table.sin.shape().to_string());
  }
  make_rotation_into(rotation, table);
}

template void rotary_into(RotationTable<float>&, const Rotary&);
template void rotary_into(RotationTable<double>&, const Rotary&);
template void rotary_into(RotationTable<bfloat16>&, const Rotary&);
template void rotary_into(RotationTable<float16>&, const Rotary&);

RotationFrequencies rotation_frequencies(const Rotary& options) {
  return frequencies_of(rotation_of(options));
}

namespace descriptors {
namespace {

constexpr auto kParameters = rotation_parameters();

Rotary options_of(const Parameters& given, const SchemeRequest& request) {
  return rotation_options<Rotary>(given, request);
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotary, request);
  return rotary<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotary, request), request));
}

}  // namespace

constinit const Scheme kRotary = {
    .name = "rotary",
    .kind = SchemeKind::rotated,
    .idea =
        "Turns pairs of channels of q and k by position times frequency; scores depend on "
        "distances only.",
    .paper = "Su et al. 2021, 2104.09864",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

// Rotations with evenly spaced frequencies, from 1 to 1 / base.
#include "sextant/schemes/rotated/new_scheme.h"

#include <algorithm>

#include "schemes/definition.h"
#include "schemes/rotated/rotation_generator.h"

namespace sextant {

template <>
inline constexpr auto kFields<NewScheme> = rotation_fields<NewScheme>();

namespace {

Rotation rotation_of(const NewScheme& options) {
  Rotation rotation = rotation_from("new_scheme", options);
  const WideFloat one(1.0);
  const std::int64_t last = std::max<std::int64_t>(rotation.pairs() - 1, 1);
  const WideFloat step = (one - reciprocal(WideFloat(options.base))) *
                         reciprocal(WideFloat(static_cast<double>(last)));
  const float float_step = (1 - 1 / static_cast<float>(options.base)) / static_cast<float>(last);
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    rotation.frequencies.push_back(one - WideFloat(static_cast<double>(k)) * step);
    rotation.framework.push_back(1 - static_cast<float>(k) * float_step);
  }
  check_frequencies(rotation);
  return rotation;
}

}  // namespace

template <Floating T>
RotationTable<T> new_scheme(const NewScheme& options, std::int64_t length) {
  return make_rotation<T>(rotation_of(options), length);
}
template <Floating T>
RotationTable<T> new_scheme(const NewScheme& options, std::span<const std::int64_t> positions) {
  return make_rotation<T>(rotation_of(options), positions);
}
SEXTANT_INSTANTIATE_ROTATION(new_scheme, NewScheme)

RotationFrequencies rotation_frequencies(const NewScheme& options) {
  return frequencies_of(rotation_of(options));
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, NewScheme> kDefinition = {
    .name = "new_scheme",
    .title = "title",
    .kind = SchemeKind::rotated,
    .idea = "idea",
    .paper = "paper",
    .make = [](const auto& of) -> SchemeTable { return new_scheme<double>(of, of.ids()); },
    .frequencies = [](const auto& of) { return rotation_frequencies(of); },
};

}  // namespace

constinit const Scheme kNewScheme = scheme_of<kNewScheme, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

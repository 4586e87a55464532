// Dynamic NTK scaling: NTK by as much as the text is longer than in training.
#include "sextant/schemes/rotated/rotary_dynamic_ntk.h"

#include <algorithm>
#include <string>

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

Rotation checked(const RotaryDynamicNtk& options) {
  Rotation rotation = checked_rotation("rotary_dynamic_ntk", options);
  check_positive(rotation, "factor", options.factor);
  check_at_least(rotation, "max_length", options.max_length, 1);
  if (options.length) check_at_least(rotation, "length", *options.length, 0);
  check_more_than_one_pair(rotation);
  return rotation;
}

double effective_length(const RotaryDynamicNtk& options, std::int64_t length) {
  return static_cast<double>(std::max(options.length.value_or(length), options.max_length));
}

Rotation rotation_of(const RotaryDynamicNtk& options, std::int64_t length) {
  Rotation rotation = checked(options);
  const double factor = options.factor;
  const double now = effective_length(options, length);
  const WideFloat ratio = WideFloat(now) / static_cast<std::uint64_t>(options.max_length);
  set_stretched_ladder(rotation, options.base,
                       WideFloat(factor) * ratio - (WideFloat(factor) - WideFloat(1.0)));
  return rotation;
}

}  // namespace

template <Floating T>
RotationTable<T> rotary_dynamic_ntk(const RotaryDynamicNtk& options, std::int64_t length) {
  return make_rotation<T>(rotation_of(options, length), length);
}
template <Floating T>
RotationTable<T> rotary_dynamic_ntk(const RotaryDynamicNtk& options,
                                    std::span<const std::int64_t> positions) {
  return make_rotation<T>(rotation_of(options, length_of(positions, 0)), positions);
}
SEXTANT_INSTANTIATE_ROTATION(rotary_dynamic_ntk, RotaryDynamicNtk)

RotationFrequencies rotation_frequencies(const RotaryDynamicNtk& options, std::int64_t length) {
  return frequencies_of(rotation_of(options, length));
}

double rotary_dynamic_ntk_base(const RotaryDynamicNtk& options, std::int64_t length) {
  const double now = effective_length(options, length);
  return stretched_base(
      checked(options), options.base,
      options.factor * now / static_cast<double>(options.max_length) - (options.factor - 1));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"factor", "4", "> 0", "how fast the base grows beyond max_length"},
    {"max_length", "4096", "1 .. 2^53", "up to here it is plain rotary"},
    {"length", "auto", "auto, >= 0", "of the text; auto: the largest position + 1"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryDynamicNtk options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryDynamicNtk>(given, request);
  options.factor = given.number("factor");
  options.max_length = given.integer("max_length");
  options.length = integer_or_auto(given, "length");
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryDynamicNtk, request);
  return rotary_dynamic_ntk<double>(options_of(given, request), one_id_a_row(given, request));
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const RotaryDynamicNtk options = options_of(Parameters(kRotaryDynamicNtk, request), request);
  return options.length ? 0 : std::max(length, options.max_length);
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  const Parameters given(kRotaryDynamicNtk, request);
  return rotation_frequencies(options_of(given, request),
                              length_of(one_id_a_row(given, request), 0));
}

}  // namespace

constinit const Scheme kRotaryDynamicNtk = {
    .name = "rotary_dynamic_ntk",
    .kind = SchemeKind::rotated,
    .idea = "Rotary whose base grows with the length of the text beyond that of training.",
    .paper = "emozilla 2023; Peng et al. 2023, 2309.00071, section 3.3",
    .parameters = kParameters,
    .make = make,
    .length_class = length_class,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

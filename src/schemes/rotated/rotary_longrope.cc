// LongRoPE: a divisor for every pair, by the length of the text.
#include "sextant/schemes/rotated/rotary_longrope.h"

#include <cmath>
#include <string>

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

void check_divisors(const Rotation& rotation, std::string_view name,
                    const std::vector<double>& divisors) {
  if (!divisors.empty() && divisors.size() != static_cast<std::size_t>(rotation.pairs())) {
    throw Error(rotation.where(name), "must be " + std::to_string(rotation.pairs()) +
                                          " numbers, one for each pair, got " +
                                          std::to_string(divisors.size()));
  }
  for (const double divisor : divisors) check_positive(rotation, name, divisor);
}

double amplitude_of(const RotaryLongrope& options) {
  if (options.attention_factor) return *options.attention_factor;
  const auto original = static_cast<double>(options.original_length);
  const double factor = options.factor.value_or(
      static_cast<double>(options.max_length.value_or(options.original_length)) / original);
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
}

Rotation rotation_of(const RotaryLongrope& options, std::int64_t length) {
  Rotation rotation = checked_rotation("rotary_longrope", options);
  check_divisors(rotation, "short_factor", options.short_factor);
  check_divisors(rotation, "long_factor", options.long_factor);
  check_at_least(rotation, "original_length", options.original_length, 2);
  if (options.max_length) check_at_least(rotation, "max_length", *options.max_length, 1);
  if (options.factor) check_positive(rotation, "factor", *options.factor);
  if (options.attention_factor) {
    check_positive(rotation, "attention_factor", *options.attention_factor);
  }
  if (options.length) check_at_least(rotation, "length", *options.length, 0);
  set_ladder(rotation, options.base, rotation.dim);
  const std::vector<float> powers = framework_powers(options.base, rotation.dim, rotation.pairs());
  const std::vector<double>& divisors = options.length.value_or(length) > options.original_length
                                            ? options.long_factor
                                            : options.short_factor;
  for (std::size_t k = 0; k < divisors.size(); ++k) {
    rotation.frequencies[k] = rotation.frequencies[k] * reciprocal(WideFloat(divisors[k]));
    rotation.framework[k] = 1 / (static_cast<float>(divisors[k]) * powers[k]);
  }
  rotation.amplitude = amplitude_of(options);
  return rotation;
}

}  // namespace

template <Floating T>
RotationTable<T> rotary_longrope(const RotaryLongrope& options, std::int64_t length) {
  return make_rotation<T>(rotation_of(options, length), length);
}
template <Floating T>
RotationTable<T> rotary_longrope(const RotaryLongrope& options,
                                 std::span<const std::int64_t> positions) {
  return make_rotation<T>(rotation_of(options, length_of(positions, 0)), positions);
}
SEXTANT_INSTANTIATE_ROTATION(rotary_longrope, RotaryLongrope)

RotationFrequencies rotation_frequencies(const RotaryLongrope& options, std::int64_t length) {
  return frequencies_of(rotation_of(options, length));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"short_factor", "auto", "auto, numbers > 0",
     "a divisor for each pair: 1,1.05,...; auto: all 1"},
    {"long_factor", "auto", "auto, numbers > 0", "the same for texts longer than original_length"},
    {"original_length", "4096", "2 .. 2^53", "the length of training"},
    {"max_length", "auto", "auto, >= 1", "of the stretched model; auto: by factor"},
    {"factor", "auto", "auto, > 0", "auto: max_length / original_length, else 1"},
    {"attention_factor", "auto", "auto, > 0",
     "multiplies the tables; auto: sqrt(1 + ln(factor) / ln(original_length))"},
    {"length", "auto", "auto, >= 0", "of the text; auto: the largest position + 1"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryLongrope options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryLongrope>(given, request);
  if (given.text("short_factor") != "auto") options.short_factor = given.numbers("short_factor");
  if (given.text("long_factor") != "auto") options.long_factor = given.numbers("long_factor");
  options.original_length = given.integer("original_length");
  options.max_length = integer_or_auto(given, "max_length");
  options.factor = number_or_auto(given, "factor");
  options.attention_factor = number_or_auto(given, "attention_factor");
  options.length = integer_or_auto(given, "length");
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryLongrope, request);
  return rotary_longrope<double>(options_of(given, request), one_id_a_row(given, request));
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const RotaryLongrope options = options_of(Parameters(kRotaryLongrope, request), request);
  return !options.length && length > options.original_length ? 1 : 0;
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  const Parameters given(kRotaryLongrope, request);
  return rotation_frequencies(options_of(given, request),
                              length_of(one_id_a_row(given, request), 0));
}

}  // namespace

constinit const Scheme kRotaryLongrope = {
    .name = "rotary_longrope",
    .kind = SchemeKind::rotated,
    .idea = "Rotary with a divisor for every pair, found by search; another list for long texts.",
    .paper = "Ding et al. 2024, 2402.13753",
    .parameters = kParameters,
    .make = make,
    .length_class = length_class,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

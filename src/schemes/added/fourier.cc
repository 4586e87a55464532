// Fourier features: angles in turns, kept as two doubles until the whole turns are gone.
#include "sextant/schemes/added/fourier.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/numbers/max_position.h"
#include "core/numbers/wide_float.h"
#include "core/options/fields.h"
#include "core/threads/interruption.h"
#include "kernels/sines/sine_table.h"
#include "kernels/sines/turns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

using kernels::SineAndCosine;

}  // namespace

template <>
inline constexpr auto kFields<NerfFeatures> =
    std::tuple{field(&NerfFeatures::levels, "levels", IntegerRange{1, 64},
                     "number of frequencies: 2^0 .. 2^(levels - 1)"),
               field(&NerfFeatures::pi, "pi", "sines of 2^l pi x, instead of 2^l x"),
               field(&NerfFeatures::input, "input", "place of the raw coordinates")};

template <>
inline constexpr auto kFields<BandFeatures> = std::tuple{
    field(&BandFeatures::bands, "bands", IntegerRange{1, 1 << 20}, "number of frequencies"),
    field(&BandFeatures::max_frequency, "max_frequency",
          NumberRange{-kMaxCoordinate, kMaxCoordinate},
          "the last frequency is pi * max_frequency / 2"),
    field(&BandFeatures::input, "input", "place of the raw coordinates")};

namespace {

void check_matrix(std::string_view where, View<const double> values, std::string_view shape) {
  if (values.rank() != 2 || values.size(1) < 1) {
    throw Error(where, "must be " + std::string(shape) + ", got " + values.shape().to_string());
  }
  for (std::int64_t i = 0; i < values.size(0); ++i) {
    for (std::int64_t k = 0; k < values.size(1); ++k) {
      if (std::fabs(values(i, k)) <= kMaxCoordinate) continue;
      throw Error(where, "must be finite and within +-2^53, got " + shortest(values(i, k)));
    }
  }
}

void check_size(std::int64_t rows, std::int64_t columns) {
  check_table_size("fourier.coordinates", rows, columns, "features");
}

SineAndCosine sine_and_cosine_of(double turns) noexcept {
  static const kernels::Turns one_turn = kernels::turns_of(wide_pi().times_power_of_two(1));
  return kernels::sine_and_cosine(one_turn, turns);
}

SineAndCosine of_radians(double radians) noexcept {
  static const kernels::Turns radian = kernels::turns_of(WideFloat(1.0));
  return kernels::sine_and_cosine(radian, radians);
}

// The product less its whole part, to 2^-54.
double fraction_of(double a, double b) noexcept {
  const double product = a * b;
  return (product - std::nearbyint(product)) + std::fma(a, b, -product);
}

// Fractions of turns of every row and feature, [rows, features].
Tensor<double> phases_of(View<const double> coordinates, View<const double> frequencies) {
  check_matrix("fourier.coordinates", coordinates, "[rows, axes]");
  check_matrix("fourier.frequencies", frequencies, "[axes, features]");
  if (frequencies.size(0) != coordinates.size(1)) {
    throw Error("fourier.frequencies", "must have one row for each of the " +
                                           std::to_string(coordinates.size(1)) + " axes, got " +
                                           frequencies.shape().to_string());
  }
  check_size(coordinates.size(0), 2 * frequencies.size(1));
  Tensor<double> phases = Tensor<double>::uninitialized({coordinates.size(0), frequencies.size(1)});
  for (std::int64_t row = 0; row < phases.size(0); ++row) {
    check_interruption();
    for (std::int64_t k = 0; k < phases.size(1); ++k) {
      double sum = 0;
      for (std::int64_t axis = 0; axis < coordinates.size(1); ++axis) {
        sum += fraction_of(coordinates(row, axis), frequencies(axis, k));
        sum -= std::nearbyint(sum);
      }
      phases(row, k) = sum;
    }
  }
  return phases;
}

struct ColumnPair {
  std::int64_t sine, cosine;
};

ColumnPair columns_of(SinusoidalLayout layout, std::int64_t k, std::int64_t features) {
  switch (layout) {
    case SinusoidalLayout::interleaved:
      return {2 * k, 2 * k + 1};
    case SinusoidalLayout::half_split:
      return {k, features + k};
    default:
      return {features + k, k};
  }
}

// [input | features | input] of rows whose features `fill(row, columns)` writes.
template <Floating T, class Fill>
Tensor<T> with_input(View<const double> coordinates, std::int64_t features, FourierInput input,
                     const Fill& fill) {
  const std::int64_t axes = coordinates.size(1);
  const std::int64_t width = features + (input == FourierInput::none ? 0 : axes);
  check_size(coordinates.size(0), width);
  Tensor<T> out = Tensor<T>::uninitialized({coordinates.size(0), width});
  for (std::int64_t row = 0; row < out.size(0); ++row) {
    check_interruption();
    T* to = out.data() + row * width;
    T* copied = input == FourierInput::last ? to + features : to;
    if (input == FourierInput::first) to += axes;
    fill(row, to);
    if (input == FourierInput::none) continue;
    for (std::int64_t axis = 0; axis < axes; ++axis)
      copied[axis] = static_cast<T>(coordinates(row, axis));
  }
  return out;
}

}  // namespace

Tensor<double> gaussian_frequencies(std::int64_t axes, std::int64_t features, double scale,
                                    std::uint32_t seed) {
  constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 40;
  if (axes < 1 || features < 1 || features > kMaxNumbers / axes) {
    throw Error("gaussian_frequencies.features",
                "must be 1 or more and times axes at most 2^40, got " + std::to_string(features) +
                    " for " + std::to_string(axes) + " axes");
  }
  check_range(kFinite, "gaussian_frequencies.scale", scale);
  Tensor<double> frequencies = Tensor<double>::uninitialized({axes, features});
  NumpyRandom random(seed);
  for (double& frequency : frequencies.span()) frequency = random.normal() * scale;
  return frequencies;
}

template <Floating T>
Tensor<T> fourier_features(View<const double> coordinates, View<const double> frequencies,
                           SinusoidalLayout layout) {
  check_named("fourier.layout", layout);
  const Tensor<double> phases = phases_of(coordinates, frequencies);
  const std::int64_t features = phases.size(1);
  Tensor<T> out = Tensor<T>::uninitialized({phases.size(0), 2 * features});
  for (std::int64_t row = 0; row < phases.size(0); ++row) {
    check_interruption();
    for (std::int64_t k = 0; k < features; ++k) {
      const SineAndCosine value = sine_and_cosine_of(phases(row, k));
      const ColumnPair columns = columns_of(layout, k, features);
      out(row, columns.sine) = kernels::round_to<T>(value.sin);
      out(row, columns.cosine) = kernels::round_to<T>(value.cos);
    }
  }
  return out;
}

Tensor<double> fourier_backward(View<const double> coordinates, View<const double> frequencies,
                                SinusoidalLayout layout, View<const double> gradient) {
  check_named("fourier.layout", layout);
  const Tensor<double> phases = phases_of(coordinates, frequencies);
  const std::int64_t features = phases.size(1);
  if (gradient.shape() != Shape{phases.size(0), 2 * features}) {
    throw Error("fourier.gradient", "must be " + Shape{phases.size(0), 2 * features}.to_string() +
                                        ", got " + gradient.shape().to_string());
  }
  Tensor<double> result(frequencies.shape());
  for (std::int64_t row = 0; row < phases.size(0); ++row) {
    check_interruption();
    for (std::int64_t k = 0; k < features; ++k) {
      const SineAndCosine value = sine_and_cosine_of(phases(row, k));
      const ColumnPair columns = columns_of(layout, k, features);
      const double of_angle =
          gradient(row, columns.sine) * value.cos.hi - gradient(row, columns.cosine) * value.sin.hi;
      for (std::int64_t axis = 0; axis < coordinates.size(1); ++axis) {
        result(axis, k) += 2 * std::numbers::pi * coordinates(row, axis) * of_angle;
      }
    }
  }
  return result;
}

template <Floating T>
Tensor<T> nerf_features(const NerfFeatures& options, View<const double> coordinates) {
  check_matrix("fourier.coordinates", coordinates, "[rows, axes]");
  check_fields("nerf_features", options);
  const std::int64_t axes = coordinates.size(1);
  return with_input<T>(
      coordinates, 2 * axes * options.levels, options.input, [&](std::int64_t row, T* to) {
        for (std::int64_t level = 0; level < options.levels; ++level, to += 2 * axes) {
          for (std::int64_t axis = 0; axis < axes; ++axis) {
            // Powers of two are exact; half a turn is pi.
            const double x = std::ldexp(coordinates(row, axis), static_cast<int>(level));
            const SineAndCosine value =
                options.pi ? sine_and_cosine_of(std::remainder(x / 2, 1.0)) : of_radians(x);
            to[axis] = kernels::round_to<T>(value.sin);
            to[axes + axis] = kernels::round_to<T>(value.cos);
          }
        }
      });
}

template <Floating T>
Tensor<T> band_features(const BandFeatures& options, View<const double> coordinates) {
  check_matrix("fourier.coordinates", coordinates, "[rows, axes]");
  check_fields("band_features", options);
  const std::int64_t axes = coordinates.size(1);
  const std::int64_t half = axes * options.bands;
  return with_input<T>(coordinates, 2 * half, options.input, [&](std::int64_t row, T* to) {
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      for (std::int64_t k = 0; k < options.bands; ++k) {
        const double share = options.bands == 1
                                 ? 0
                                 : static_cast<double>(k) / static_cast<double>(options.bands - 1);
        const double frequency = 1 + share * (options.max_frequency / 2 - 1);
        const SineAndCosine value =
            sine_and_cosine_of(fraction_of(coordinates(row, axis), frequency / 2));
        to[axis * options.bands + k] = kernels::round_to<T>(value.sin);
        to[half + axis * options.bands + k] = kernels::round_to<T>(value.cos);
      }
    }
  });
}

std::string_view name_of(FourierInput input) noexcept {
  return enum_name(input, {"none", "first", "last"});
}

#define SEXTANT_INSTANTIATE(T)                                                   \
  template Tensor<T> fourier_features<T>(View<const double>, View<const double>, \
                                         SinusoidalLayout);                      \
  template Tensor<T> nerf_features<T>(const NerfFeatures&, View<const double>);  \
  template Tensor<T> band_features<T>(const BandFeatures&, View<const double>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

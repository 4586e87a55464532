// Timestep embeddings: the ladder with a real shift in its denominator, and a scale of the time.
#include "sextant/schemes/added/timestep.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sine_blocks.h"
#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {

template <>
inline constexpr auto kFields<Timestep> =
    std::tuple{field(&Timestep::width, "width", IntegerRange{2, 1 << 30}, "columns").of_request(),
               field(&Timestep::flip_sin_to_cos, "flip_sin_to_cos", "cosines before sines"),
               field(&Timestep::downscale_freq_shift, "downscale_freq_shift", kFinite,
                     "the exponent is k / (width / 2 - downscale_freq_shift); 1: the last "
                     "frequency is 1 / max_period; 0: as in the paper")
                   .with_condition("below width / 2"),
               field(&Timestep::scale, "scale", kFinite, "factor of the time"),
               field(&Timestep::max_period, "max_period", kAboveZero,
                     "wavelengths run from 2 pi to about 2 pi * max_period"),
               field(&Timestep::threads, "threads", kThreads, "0: the default").of_request()};

namespace {

void check(const Timestep& options) {
  check_fields("timestep", options);
  const double half = static_cast<double>(options.width / 2);
  if (!(options.downscale_freq_shift < half)) {
    throw Error("timestep.downscale_freq_shift", "must be finite and below width / 2, got " +
                                                     shortest(options.downscale_freq_shift));
  }
  const double exponent =
      options.width < 4 ? 0 : (half - 1) / (half - options.downscale_freq_shift);
  const double fastest = std::max(0.0, -std::log2(options.max_period) * exponent);
  if (options.scale != 0 && fastest + std::log2(std::fabs(options.scale)) > 64) {
    throw Error("timestep.scale", "must keep every frequency at or below 2^64, got " +
                                      shortest(options.scale) + " with max_period " +
                                      shortest(options.max_period));
  }
}

// |scale| * max_period^(-k / (half - shift)), each relative error below 2^-280 * (k + 3).
std::vector<WideFloat> frequencies_of(const Timestep& options) {
  const std::int64_t half = options.width / 2;
  const WideFloat steps =
      WideFloat(static_cast<double>(half)) - WideFloat(options.downscale_freq_shift);
  const WideFloat ratio = exp(-(log(WideFloat(options.max_period)) * reciprocal(steps)));
  std::vector<WideFloat> ladder = {WideFloat(std::fabs(options.scale))};
  while (static_cast<std::int64_t>(ladder.size()) < half) ladder.push_back(ladder.back() * ratio);
  return ladder;
}

template <Floating T, class Time>
Tensor<T> make(const Timestep& options, std::span<const Time> times) {
  const std::int64_t half = options.width / 2;
  const auto rows = static_cast<std::int64_t>(times.size());
  check_table_size("timestep.times", rows, options.width);
  std::vector<kernels::SineColumn> columns(static_cast<std::size_t>(options.width));
  for (std::int64_t i = 0; i < 2 * half; ++i) {
    columns[static_cast<std::size_t>(i)] = {static_cast<std::int32_t>(i % half),
                                            (i < half) == options.flip_sin_to_cos};
  }
  // A negative scale reverses the angle: the time changes its sign, frequencies have none.
  std::vector<Time> negated;
  if (options.scale < 0) {
    negated.reserve(times.size());
    for (const Time time : times) negated.push_back(-time);
    times = negated;
  }
  const std::vector<kernels::Turns> turns = turns_of(frequencies_of(options));
  const kernels::SineTable table{turns, columns, 1};
  Tensor<T> out = Tensor<T>::uninitialized({rows, options.width});
  if constexpr (std::is_same_v<Time, double>) {
    kernels::fill_sines_one_by_one(table, times, rows, out.data(), options.width, options.threads);
  } else {
    kernels::fill_sines(table, kernels::Positions{0, rows, times.data()}, out.data(), options.width,
                        options.threads);
  }
  return out;
}

}  // namespace

template <Floating T>
Tensor<T> timestep(const Timestep& options, std::span<const double> times) {
  check(options);
  check_coordinates(times, "timestep.times");
  return make<T>(options, times);
}

template <Floating T>
Tensor<T> timestep(const Timestep& options, std::span<const std::int64_t> times) {
  check(options);
  listed_positions(times, "timestep.times");
  return make<T>(options, times);
}

#define SEXTANT_INSTANTIATE(T)                                              \
  template Tensor<T> timestep<T>(const Timestep&, std::span<const double>); \
  template Tensor<T> timestep<T>(const Timestep&, std::span<const std::int64_t>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Timestep> kDefinition = {
    .name = "timestep",
    .title = "timestep",
    .kind = SchemeKind::added,
    .idea = "Adds sines and cosines of a diffusion model's time, in half-split order.",
    .paper = "Ho et al. 2020, 2006.11239",
    .make = [](const auto& of) -> SchemeTable {
      const auto ids = of.ids();
      if (!of.request.times.empty()) return timestep<double>(of, of.request.times);
      return timestep<double>(of, ids);
    },
    .real_positions = true,
};

}  // namespace

constinit const Scheme kTimestep = scheme_of<kTimestep, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

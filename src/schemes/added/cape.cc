// CAPE: real positions from whole ones by seeded random numbers, and their sines and cosines.
#include "sextant/schemes/added/cape.h"

#include <cmath>

#include "core/arrays/each_dtype.h"
#include "core/numbers/max_position.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sine_blocks.h"
#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "sextant/core/random.h"

namespace sextant {

template <>
inline constexpr auto kFields<Cape> =
    std::tuple{field(&Cape::width, "width", IntegerRange{1, 1 << 30}, "columns").of_request(),
               field(&Cape::base, "base", at_least_number(1),
                     "wavelengths run from 2 pi to about 2 pi * base"),
               field(&Cape::max_global_shift, "max_global_shift", NumberRange{0, kMaxCoordinate},
                     "all positions are shifted by one number within +- it; 0: none, as in tests"),
               field(&Cape::max_local_shift, "max_local_shift", NumberRange{0, kMaxCoordinate},
                     "each position is shifted by a number within +- half of it; 0: none"),
               field(&Cape::max_global_scaling, "max_global_scaling", NumberRange{1, 1 << 20},
                     "all positions are multiplied by one number from 1 / it to it; 1: none"),
               field(&Cape::normalize, "normalize", "subtract the mean position of the text"),
               field(&Cape::length, "length", IntegerRange{1, kMaxPosition},
                     "positions of the text, for normalize; auto: the largest id + 1"),
               field(&Cape::freq_scale, "freq_scale", NumberRange{0, 1 << 30, true},
                     "factor of the frequencies"),
               field(&Cape::seed, "seed", kSeeds, "seed of the shifts and the factor"),
               field(&Cape::threads, "threads", kThreads, "0: the default").of_request()};

std::vector<double> cape_positions(const Cape& options, std::span<const std::int64_t> positions) {
  check_fields("cape", options);
  listed_positions(positions, "cape.positions");
  NumpyRandom random(options.seed);
  // In -1 .. 1.
  const auto drawn = [&] { return 2 * random.uniform() - 1; };
  double shift = options.max_global_shift * drawn();
  const double factor = std::exp(std::log(options.max_global_scaling) * drawn());
  if (options.normalize) {
    const std::int64_t length = options.length.value_or(min_side(positions, 1, 0));
    shift -= static_cast<double>(length - 1) / 2;
  }
  std::vector<double> changed;
  changed.reserve(positions.size());
  in_parts(std::ssize(positions), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const double local = options.max_local_shift / 2 * drawn();
      const auto p = static_cast<double>(positions[static_cast<std::size_t>(n)]);
      changed.push_back((p + (shift + local)) * factor);
    }
  });
  check_coordinates(changed, "cape.positions");
  return changed;
}

template <Floating T>
Tensor<T> cape(const Cape& options, std::span<const std::int64_t> positions) {
  const std::vector<double> changed = cape_positions(options, positions);
  check_table_size("cape.positions", std::ssize(changed), options.width);
  SinusoidalColumns ladder = sinusoidal_columns({.width = options.width, .base = options.base});
  const WideFloat factor(options.freq_scale);
  for (WideFloat& frequency : ladder.frequencies) frequency = frequency * factor;
  const std::vector<kernels::Turns> turns = turns_of(ladder.frequencies);
  Tensor<T> table = Tensor<T>::uninitialized({std::ssize(changed), options.width});
  kernels::fill_sines_one_by_one(kernels::SineTable{turns, ladder.columns, 1},
                                 std::span<const double>(changed), std::ssize(changed),
                                 table.data(), options.width, options.threads);
  return table;
}

#define SEXTANT_INSTANTIATE(T) \
  template Tensor<T> cape<T>(const Cape&, std::span<const std::int64_t>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Cape> kDefinition = {
    .name = "cape",
    .title = "CAPE",
    .kind = SchemeKind::added,
    .idea = "Adds sines and cosines of positions that training shifts and stretches at random.",
    .paper = "Likhomanenko et al. 2021, 2106.03143",
    .make = [](const auto& of) -> SchemeTable { return cape<double>(of, of.ids()); },
    .length_class =
        [](const auto& of, std::int64_t length) {
          return of.normalize && !of.Cape::length ? length : 0;
        },
};

}  // namespace

constinit const Scheme kCape = scheme_of<kCape, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

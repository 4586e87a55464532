// tAPE: the ladder of sinusoidal positions, stretched to the length of the series.
#include "sextant/schemes/added/tape.h"

#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/numbers/max_position.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"

namespace sextant {

template <>
inline constexpr auto kFields<Tape> = std::tuple{
    field(&Tape::width, "width", IntegerRange{1, 1 << 30}, "columns").of_request(),
    field(&Tape::length, "length", IntegerRange{1, kMaxPosition},
          "positions of the series, by which frequencies are divided; auto: the largest id + 1"),
    field(&Tape::base, "base", at_least_number(1),
          "wavelengths run from 2 pi to about 2 pi * base, times length / width"),
    field(&Tape::scale, "scale", kFinite, "factor of all values"),
    field(&Tape::threads, "threads", kThreads, "0: the default").of_request()};

template <Floating T>
Tensor<T> tape(const Tape& options, std::span<const std::int64_t> positions) {
  check_fields("tape", options);
  const kernels::Positions rows = listed_positions(positions, "tape.positions");
  check_table_size("tape.positions", rows.count, options.width);
  const std::int64_t length = options.length.value_or(min_side(positions, 1, 0));
  SinusoidalColumns ladder = sinusoidal_columns({.width = options.width, .base = options.base});
  const WideFloat width(static_cast<double>(options.width));
  for (WideFloat& frequency : ladder.frequencies) {
    frequency = frequency * width / static_cast<std::uint64_t>(length);
  }
  const std::vector<kernels::Turns> turns = turns_of(ladder.frequencies);
  Tensor<T> table = Tensor<T>::uninitialized({rows.count, options.width});
  kernels::fill_sines(kernels::SineTable{turns, ladder.columns, options.scale}, rows, table.data(),
                      options.width, options.threads);
  return table;
}

#define SEXTANT_INSTANTIATE(T) \
  template Tensor<T> tape<T>(const Tape&, std::span<const std::int64_t>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Tape> kDefinition = {
    .name = "tape",
    .title = "tAPE",
    .kind = SchemeKind::added,
    .idea = "Adds sines and cosines whose frequencies are scaled by the width over the length.",
    .paper = "Foumani et al. 2023, 2305.16642",
    .make = [](const auto& of) -> SchemeTable { return tape<double>(of, of.ids()); },
    .length_class = [](const auto& of,
                       std::int64_t length) { return of.Tape::length ? 0 : length; },
};

}  // namespace

constinit const Scheme kTape = scheme_of<kTape, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

// Rotary positions: the cosines and sines of every position and pair.
#include "sextant/schemes/rotary.h"

#include <cmath>
#include <string>
#include <vector>

#include "kernels/sine_table.h"
#include "schemes/frequencies.h"
#include "schemes/option_checks.h"
#include "schemes/sinusoidal_columns.h"
#include "schemes/sinusoidal_positions.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

// The checked number of channels that turn.
std::int64_t rotary_dim_of(const Rotary& options) {
  check_named("rotary.layout", options.layout);
  check_named("rotary.precision", options.precision);
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (options.head_dim < 2 || options.head_dim > kMost) {
    throw Error("rotary.head_dim", "must be 2 .. 2^30, got " + std::to_string(options.head_dim));
  }
  const std::int64_t dim = options.rotary_dim == 0 ? options.head_dim : options.rotary_dim;
  if (dim < 2 || dim > options.head_dim || dim % 2 != 0) {
    const std::string range = "must be even, 2 .. " + std::to_string(options.head_dim);
    if (options.rotary_dim != 0)
      throw Error("rotary.rotary_dim", range + ", got " + std::to_string(dim));
    throw Error("rotary.head_dim",
                "must be even unless rotary_dim is given, got " + std::to_string(options.head_dim));
  }
  if (!(options.base > 0) || !std::isfinite(options.base)) {
    throw Error("rotary.base", "must be a finite number above 0, got " + shortest(options.base));
  }
  check_threads("rotary.threads", options.threads);
  return dim;
}

template <Floating T>
void fill(RotationTable<T>& table, const Rotary& options, std::int64_t dim,
          const Positions& positions) {
  const std::int64_t pairs = dim / 2;
  const std::vector<WideFloat> ladder =
      geometric_ladder(options.base, 0, 2, dim, pairs, "rotary.base");
  std::vector<SineColumn> columns(static_cast<std::size_t>(pairs));
  const std::vector<Turns> turns = turns_of(ladder);
  for (const bool cosine : {false, true}) {
    for (std::int64_t k = 0; k < pairs; ++k) columns[k] = {static_cast<std::int32_t>(k), cosine};
    T* out = cosine ? table.cos.data() : table.sin.data();
    if (options.precision == Precision::exact) {
      fill_sines(SineTable{turns, columns, 1}, positions, out, pairs, options.threads);
    } else {
      std::vector<float> frequencies;
      for (const WideFloat& f : ladder)
        frequencies.push_back(round_to<float>(f.to_double_double()));
      const std::vector<std::int64_t> list = listed(positions);
      fill_sines_as_frameworks<T, std::int64_t>(frequencies, columns, 1, list, out, pairs,
                                                options.threads);
    }
  }
}

template <Floating T>
RotationTable<T> make(const Rotary& options, std::int64_t dim, const Positions& positions) {
  const std::int64_t pairs = dim / 2;
  if (positions.count > (std::int64_t{1} << 60) / pairs) {
    throw Error("rotary.length", "times pairs must be below 2^60, got " +
                                     std::to_string(positions.count) + " x " +
                                     std::to_string(pairs));
  }
  RotationTable<T> table{Tensor<T>::uninitialized({positions.count, pairs}),
                         Tensor<T>::uninitialized({positions.count, pairs}), options.layout, 0};
  fill(table, options, dim, positions);
  return table;
}

}  // namespace

template <Floating T>
RotationTable<T> rotary(const Rotary& options, std::int64_t length) {
  const std::int64_t dim = rotary_dim_of(options);
  return make<T>(options, dim, consecutive_positions(0, length, "rotary.first", "rotary.length"));
}

template <Floating T>
RotationTable<T> rotary(const Rotary& options, std::span<const std::int64_t> positions) {
  const std::int64_t dim = rotary_dim_of(options);
  return make<T>(options, dim, listed_positions(positions, "rotary.positions"));
}

template <Floating T>
void rotary_into(RotationTable<T>& table, const Rotary& options) {
  const std::int64_t dim = rotary_dim_of(options);
  if (table.cos.rank() != 2 || table.cos.shape() != table.sin.shape() ||
      table.cos.size(1) != dim / 2) {
    throw Error("rotary_into.table", "must hold cos and sin of one shape [positions, " +
                                         std::to_string(dim / 2) + "], got " +
                                         table.cos.shape().to_string() + " and " +
                                         table.sin.shape().to_string());
  }
  table.layout = options.layout;
  table.first_channel = 0;
  fill(table, options, dim,
       consecutive_positions(0, table.cos.size(0), "rotary.first", "rotary.length"));
}

#define SEXTANT_INSTANTIATE(T)                                                       \
  template RotationTable<T> rotary<T>(const Rotary&, std::int64_t);                  \
  template RotationTable<T> rotary<T>(const Rotary&, std::span<const std::int64_t>); \
  template void rotary_into(RotationTable<T>&, const Rotary&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

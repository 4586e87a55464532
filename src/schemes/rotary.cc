// Rotary positions: the cosines and sines of every position and pair, and the turning itself.
#include "sextant/schemes/rotary.h"

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "core/overlap.h"
#include "kernels/sine_table.h"
#include "schemes/frequencies.h"
#include "schemes/option_checks.h"
#include "schemes/sinusoidal_columns.h"
#include "schemes/sinusoidal_positions.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

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

template <Floating T>
void check_rotation(View<const T> x, View<T> out, const RotationTable<T>& table) {
  if (x.rank() != 4) {
    throw Error("rotate.x",
                "must be [batch, heads, length, head_dim], got " + x.shape().to_string());
  }
  if (out.shape() != x.shape()) {
    throw Error("rotate.out", "must have the shape of x, " + x.shape().to_string() + ", got " +
                                  out.shape().to_string());
  }
  check_memory("rotate.x", x);
  check_output("rotate.out", out);
  bool in_place = x.data() == out.data();
  for (int axis = 0; axis < 4; ++axis) {
    in_place = in_place && (x.size(axis) == 1 || x.stride(axis) == out.stride(axis));
  }
  if (!in_place && surely_overlap(x, out)) {
    throw Error("rotate.out", "must be x itself or not overlap it");
  }
  check_named("rotate.table.layout", table.layout);
  if (table.cos.rank() != 2 || table.cos.shape() != table.sin.shape()) {
    throw Error("rotate.table", "must hold cos and sin of one shape [position, pairs]");
  }
  if (table.cos.size(0) != x.size(2)) {
    throw Error("rotate.table", "must have one row per position of x, " +
                                    std::to_string(x.size(2)) + ", got " +
                                    std::to_string(table.cos.size(0)));
  }
  if (table.first_channel < 0 || table.first_channel > x.size(3) - 2 * table.cos.size(1)) {
    throw Error("rotate.table", "must turn channels inside head_dim " + std::to_string(x.size(3)) +
                                    ", got " + std::to_string(2 * table.cos.size(1)) +
                                    " channels from " + std::to_string(table.first_channel));
  }
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

template <Floating T>
void rotate(View<const T> x, View<T> out, const RotationTable<T>& table, int threads) {
  check_threads("rotate.threads", threads);
  check_rotation(x, out, table);
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::int64_t heads = x.size(1);
  const std::int64_t length = x.size(2);
  const std::int64_t pairs = table.cos.size(1);
  const bool interleaved = table.layout == RotaryLayout::interleaved;
  const std::int64_t step = interleaved ? 2 : 1;
  const std::int64_t partner = interleaved ? 1 : pairs;
  const std::int64_t begin = table.first_channel;
  const std::int64_t end = begin + 2 * pairs;
  parallel_for(x.size(0) * heads, threads, [&](std::int64_t index) {
    const View<const T> from = x.select(0, index / heads).select(0, index % heads);
    const View<T> to = out.select(0, index / heads).select(0, index % heads);
    for (std::int64_t n = 0; n < length; ++n) {
      for (std::int64_t c = 0; c < begin; ++c) to(n, c) = from(n, c);
      for (std::int64_t c = end; c < x.size(3); ++c) to(n, c) = from(n, c);
      for (std::int64_t k = 0; k < pairs; ++k) {
        const std::int64_t c = begin + k * step;
        const auto x1 = static_cast<Compute>(from(n, c));
        const auto x2 = static_cast<Compute>(from(n, c + partner));
        const auto cosine = static_cast<Compute>(table.cos(n, k));
        const auto sine = static_cast<Compute>(table.sin(n, k));
        to(n, c) = static_cast<T>(x1 * cosine - x2 * sine);
        to(n, c + partner) = static_cast<T>(x1 * sine + x2 * cosine);
      }
    }
  });
}

#define SEXTANT_INSTANTIATE(T)                                                       \
  template RotationTable<T> rotary<T>(const Rotary&, std::int64_t);                  \
  template RotationTable<T> rotary<T>(const Rotary&, std::span<const std::int64_t>); \
  template void rotary_into(RotationTable<T>&, const Rotary&);                       \
  template void rotate(View<const T>, View<T>, const RotationTable<T>&, int);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

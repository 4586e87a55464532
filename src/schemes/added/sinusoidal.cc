// Sinusoidal tables: options become columns, columns are filled exactly or as frameworks do.
#include "sextant/schemes/added/sinusoidal.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/arrays/overlap.h"
#include "core/numbers/max_position.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

using kernels::Positions;

std::vector<float> rounded(const std::vector<WideFloat>& frequencies) {
  std::vector<float> result;
  result.reserve(frequencies.size());
  for (const WideFloat& f : frequencies)
    result.push_back(kernels::round_to<float>(f.to_double_double()));
  return result;
}

template <Floating T>
void fill(const Sinusoidal& options, const Positions& positions, T* out, std::int64_t row_stride) {
  const SinusoidalColumns resolved = sinusoidal_columns(options);
  if (options.precision == Precision::framework) {
    const std::vector<std::int64_t> list = listed(positions);
    kernels::fill_sines_as_frameworks<T, std::int64_t>(
        rounded(resolved.frequencies), resolved.columns, static_cast<float>(options.scale), list,
        out, row_stride, options.threads);
    return;
  }
  const std::vector<kernels::Turns> turns = turns_of(resolved.frequencies);
  kernels::fill_sines(kernels::SineTable{turns, resolved.columns, options.scale}, positions, out,
                      row_stride, options.threads);
}

template <Floating T>
Tensor<T> new_table(std::int64_t rows, std::int64_t width) {
  check_table_size("sinusoidal.length", rows, width);
  return Tensor<T>::uninitialized({rows, width});
}

Positions consecutive(const Sinusoidal& options) {
  check_sinusoidal(options);
  return consecutive_positions(options.first, options.length, "sinusoidal.first",
                               "sinusoidal.length");
}

}  // namespace

template <Floating T>
Tensor<T> sinusoidal(const Sinusoidal& options) {
  const Positions positions = consecutive(options);
  Tensor<T> table = new_table<T>(options.length, options.width);
  fill(options, positions, table.data(), options.width);
  return table;
}

template <Floating T>
Tensor<T> sinusoidal(const Sinusoidal& options, std::span<const std::int64_t> positions) {
  check_sinusoidal(options);
  const Positions rows = listed_positions(positions, "sinusoidal.positions");
  Tensor<T> table = new_table<T>(rows.count, options.width);
  fill(options, rows, table.data(), options.width);
  return table;
}

template <Floating T>
Tensor<T> sinusoidal(const Sinusoidal& options, std::span<const double> positions) {
  check_sinusoidal(options);
  for (const double position : positions) {
    if (!(std::fabs(position) <= kMaxCoordinate)) {
      throw Error("sinusoidal.positions",
                  "must be finite and within +-2^53, got " + shortest(position));
    }
  }
  Tensor<T> table = new_table<T>(static_cast<std::int64_t>(positions.size()), options.width);
  const SinusoidalColumns resolved = sinusoidal_columns(options);
  if (options.precision == Precision::framework) {
    kernels::fill_sines_as_frameworks<T, double>(rounded(resolved.frequencies), resolved.columns,
                                                 static_cast<float>(options.scale), positions,
                                                 table.data(), options.width, options.threads);
  } else {
    const std::vector<kernels::Turns> turns = turns_of(resolved.frequencies);
    kernels::fill_sines_one_by_one(kernels::SineTable{turns, resolved.columns, options.scale},
                                   positions, table.size(0), table.data(), options.width,
                                   options.threads);
  }
  return table;
}

template <Floating T>
void sinusoidal_into(View<T> out, const Sinusoidal& options) {
  const Positions positions = consecutive(options);
  if (out.shape() != Shape{options.length, options.width}) {
    throw Error("sinusoidal_into.out", "must be " +
                                           Shape{options.length, options.width}.to_string() +
                                           ", got " + out.shape().to_string());
  }
  if (options.width > 1 && out.stride(1) != 1) {
    throw Error("sinusoidal_into.out", "must have adjacent columns, got a column stride of " +
                                           std::to_string(out.stride(1)));
  }
  check_output("sinusoidal_into.out", out);
  fill(options, positions, out.data(), out.stride(0));
}

Tensor<double> sinusoidal_frequencies(const Sinusoidal& options, bool cosine) {
  check_sinusoidal(options);
  const std::vector<WideFloat> ladder = sinusoidal_ladder(options, cosine);
  auto result = Tensor<double>::uninitialized({static_cast<std::int64_t>(ladder.size())});
  for (std::size_t k = 0; k < ladder.size(); ++k) result.data()[k] = ladder[k].to_double();
  return result;
}

#define SEXTANT_INSTANTIATE(T)                                                        \
  template Tensor<T> sinusoidal<T>(const Sinusoidal&);                                \
  template Tensor<T> sinusoidal<T>(const Sinusoidal&, std::span<const std::int64_t>); \
  template Tensor<T> sinusoidal<T>(const Sinusoidal&, std::span<const double>);       \
  template void sinusoidal_into(View<T>, const Sinusoidal&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

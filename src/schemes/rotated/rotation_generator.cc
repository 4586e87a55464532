// Frequencies become columns of sines, and columns become rotation tables.
#include "schemes/rotated/rotation_generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/option_checks.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/rotated/frequencies.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

using kernels::Positions;

template <Floating T>
void fill(const Rotation& rotation, const Positions& positions, RotationTable<T>& table) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(rotation.pairs()));
  std::iota(all.begin(), all.end(), 0);
  fill_rotation(rotation, all, false, positions, table.sin.data());
  fill_rotation(rotation, all, true, positions, table.cos.data());
}

Positions first_positions(const Rotation& rotation, std::int64_t length) {
  return consecutive_positions(0, length, rotation.where("first"), rotation.where("length"));
}

}  // namespace

template <Floating T>
void fill_rotation(const Rotation& rotation, std::span<const std::int32_t> which, bool cosine,
                   const Positions& positions, T* out) {
  const auto width = static_cast<std::int64_t>(which.size());
  std::vector<kernels::SineColumn> columns;
  columns.reserve(which.size());
  std::vector<kernels::Turns> turns;
  std::vector<float> frequencies;
  for (const std::int32_t pair : which) {
    columns.push_back({pair < 0 ? -1 : static_cast<std::int32_t>(frequencies.size()), cosine});
    if (pair < 0) continue;
    turns.push_back(kernels::turns_of(rotation.frequencies[pair]));
    frequencies.push_back(rotation.framework.empty() ? 0 : rotation.framework[pair]);
  }
  if (rotation.precision == Precision::exact) {
    kernels::fill_sines(kernels::SineTable{turns, columns, rotation.amplitude}, positions, out,
                        width, rotation.threads);
    return;
  }
  const std::vector<std::int64_t> list = listed(positions);
  kernels::fill_sines_as_frameworks<T, std::int64_t>(frequencies, columns,
                                                     static_cast<float>(rotation.amplitude), list,
                                                     out, width, rotation.threads);
}

// What exactness needs of the frequencies, and no NaN of a float32 one.
void check_frequencies(const Rotation& rotation) {
  for (const WideFloat& frequency : rotation.frequencies) {
    if (frequency.is_negative() || frequency.exponent() > kernels::Turns::kMaxExponent) {
      throw Error(rotation.scheme,
                  "must keep every frequency at or below 2^64 radians per position, got " +
                      shortest(frequency.to_double()));
    }
  }
  if (rotation.precision == Precision::exact) return;
  for (const float frequency : rotation.framework) {
    if (std::isfinite(frequency)) continue;
    throw Error(rotation.where("precision"),
                "must be exact for frequencies beyond float32, got framework");
  }
}

template <Floating T>
RotationTable<T> new_rotation_table(const Rotation& rotation, std::int64_t rows) {
  const std::int64_t pairs = rotation.pairs();
  if (rows > (std::int64_t{1} << 60) / pairs) {
    throw Error(rotation.where("length"), "times pairs must be below 2^60, got " +
                                              std::to_string(rows) + " x " + std::to_string(pairs));
  }
  return {Tensor<T>::uninitialized({rows, pairs}), Tensor<T>::uninitialized({rows, pairs}),
          rotation.layout, rotation.first_channel};
}

Rotation checked_rotation(std::string_view scheme, const Rotary& common) {
  Rotation rotation;
  rotation.scheme = scheme;
  check_named(rotation.where("layout"), common.layout);
  check_named(rotation.where("span"), common.span);
  check_named(rotation.where("precision"), common.precision);
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (common.head_dim < 2 || common.head_dim > kMost) {
    throw Error(rotation.where("head_dim"),
                "must be 2 .. 2^30, got " + std::to_string(common.head_dim));
  }
  const std::int64_t dim = common.rotary_dim == 0 ? common.head_dim : common.rotary_dim;
  if (dim < 2 || dim > common.head_dim || dim % 2 != 0) {
    if (common.rotary_dim != 0) {
      throw Error(
          rotation.where("rotary_dim"),
          "must be even, 2 .. " + std::to_string(common.head_dim) + ", got " + std::to_string(dim));
    }
    throw Error(rotation.where("head_dim"),
                "must be even unless rotary_dim is given, got " + std::to_string(common.head_dim));
  }
  check_positive(rotation, "base", common.base);
  check_threads(rotation.where("threads"), common.threads);
  rotation.dim = dim;
  rotation.first_channel = common.span == RotarySpan::last ? common.head_dim - dim : 0;
  rotation.layout = common.layout;
  rotation.precision = common.precision;
  rotation.threads = common.threads;
  return rotation;
}

void check_positive(const Rotation& rotation, std::string_view option, double value) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(rotation.where(option), "must be a finite number above 0, got " + shortest(value));
}

void check_at_least(const Rotation& rotation, std::string_view option, std::int64_t value,
                    std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (value >= least && value <= kMost) return;
  throw Error(rotation.where(option),
              "must be " + std::to_string(least) + " .. 2^53, got " + std::to_string(value));
}

void set_ladder(Rotation& rotation, double base, std::int64_t denominator) {
  rotation.frequencies =
      geometric_ladder(base, 0, 2, denominator, rotation.pairs(), rotation.where("base"));
  rotation.framework = framework_powers(base, denominator, rotation.pairs());
  for (float& frequency : rotation.framework) frequency = 1 / frequency;
}

void set_stretched_ladder(Rotation& rotation, double base, const WideFloat& stretch) {
  const auto dim = static_cast<std::uint64_t>(rotation.dim);
  const WideFloat log_base =
      log(WideFloat(base)) + log(stretch) * WideFloat(static_cast<double>(dim)) / (dim - 2);
  rotation.frequencies = geometric_ladder(log_base, 0, 2, rotation.dim, rotation.pairs());
  rotation.framework = framework_powers(stretched_base(rotation, base, stretch.to_double()),
                                        rotation.dim, rotation.pairs());
  for (float& frequency : rotation.framework) frequency = 1 / frequency;
}

double stretched_base(const Rotation& rotation, double base, double stretch) noexcept {
  const auto dim = static_cast<double>(rotation.dim);
  return base * std::pow(stretch, dim / (dim - 2));
}

void check_more_than_one_pair(const Rotation& rotation) {
  if (rotation.dim > 2) return;
  throw Error(rotation.where("rotary_dim"), "must be above 2, got " + std::to_string(rotation.dim));
}

float framework_power(double base, std::int64_t numerator, std::int64_t denominator) noexcept {
  const float exponent = static_cast<float>(numerator) / static_cast<float>(denominator);
  const auto float_base = static_cast<double>(static_cast<float>(base));
  return static_cast<float>(std::pow(float_base, static_cast<double>(exponent)));
}

std::vector<float> framework_powers(double base, std::int64_t denominator, std::int64_t count) {
  std::vector<float> powers;
  for (std::int64_t k = 0; k < count; ++k) {
    powers.push_back(framework_power(base, 2 * k, denominator));
  }
  return powers;
}

template <Floating T>
RotationTable<T> make_rotation(const Rotation& rotation, std::int64_t length) {
  check_frequencies(rotation);
  const Positions positions = first_positions(rotation, length);
  RotationTable<T> table = new_rotation_table<T>(rotation, length);
  fill(rotation, positions, table);
  return table;
}

template <Floating T>
RotationTable<T> make_rotation(const Rotation& rotation, std::span<const std::int64_t> ids) {
  check_frequencies(rotation);
  const Positions positions = listed_positions(ids, rotation.where("positions"));
  RotationTable<T> table = new_rotation_table<T>(rotation, positions.count);
  fill(rotation, positions, table);
  return table;
}

template <Floating T>
void make_rotation_into(const Rotation& rotation, RotationTable<T>& table) {
  check_frequencies(rotation);
  table.layout = rotation.layout;
  table.first_channel = rotation.first_channel;
  fill(rotation, first_positions(rotation, table.cos.size(0)), table);
}

RotationFrequencies frequencies_of(const Rotation& rotation) {
  check_frequencies(rotation);
  RotationFrequencies result;
  result.attention_factor = rotation.amplitude;
  if (rotation.precision == Precision::framework) {
    result.inv_freq.assign(rotation.framework.begin(), rotation.framework.end());
  } else {
    for (const WideFloat& f : rotation.frequencies) result.inv_freq.push_back(f.to_double());
  }
  return result;
}

std::int64_t length_of(std::span<const std::int64_t> positions, std::int64_t least) noexcept {
  std::int64_t length = least;
  for (const std::int64_t position : positions) {
    if (position >= length) length = position + 1;
  }
  return length;
}

#define SEXTANT_INSTANTIATE(T)                                                             \
  template RotationTable<T> make_rotation(const Rotation&, std::int64_t);                  \
  template RotationTable<T> make_rotation(const Rotation&, std::span<const std::int64_t>); \
  template void make_rotation_into(const Rotation&, RotationTable<T>&);                    \
  template RotationTable<T> new_rotation_table(const Rotation&, std::int64_t);             \
  template void fill_rotation(const Rotation&, std::span<const std::int32_t>, bool,        \
                              const Positions&, T*);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

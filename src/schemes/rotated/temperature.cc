// Temperature by position: cosines that are no cosines.
#include "sextant/schemes/rotated/temperature.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

Rotation checked(const Temperature& options) {
  Rotary common;
  common.head_dim = options.head_dim;
  common.precision = options.precision;
  Rotation rotation = checked_rotation("temperature", common);
  // Results of 16 bits stay finite at 2^53.
  if (!(options.attn_scale >= 0 && options.attn_scale <= 1000)) {
    throw Error(rotation.where("attn_scale"),
                "must be 0 to 1000, got " + shortest(options.attn_scale));
  }
  if (!(options.floor_scale >= 1) || !std::isfinite(options.floor_scale)) {
    throw Error(rotation.where("floor_scale"),
                "must be a finite number from 1 on, got " + shortest(options.floor_scale));
  }
  rotation.frequencies.assign(static_cast<std::size_t>(rotation.pairs()), WideFloat());
  rotation.framework.assign(static_cast<std::size_t>(rotation.pairs()), 0);
  return rotation;
}

double tau(const Temperature& options, std::int64_t position) {
  const auto p = static_cast<double>(position);
  if (options.precision == Precision::exact) {
    return 1 + options.attn_scale * std::log1p(std::floor((p + 1) / options.floor_scale));
  }
  // As Llama 4's code in float32: every step rounded.
  const float step =
      std::floor((static_cast<float>(p) + 1) / static_cast<float>(options.floor_scale));
  const auto logarithm = static_cast<float>(std::log1p(static_cast<double>(step)));
  return static_cast<double>(logarithm * static_cast<float>(options.attn_scale) + 1);
}

template <Floating T, class PositionAt>
RotationTable<T> make(const Temperature& options, std::int64_t rows,
                      const PositionAt& position_at) {
  const Rotation rotation = checked(options);
  RotationTable<T> table = new_rotation_table<T>(rotation, rows);
  auto keys = std::make_shared<RotationTable<T>>(new_rotation_table<T>(rotation, rows));
  const std::int64_t pairs = rotation.pairs();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t position = position_at(row);
    if (position < 0 || position > std::int64_t{1} << 53) {
      throw Error(rotation.where("positions"),
                  "must be 0 .. 2^53, got " + std::to_string(position));
    }
    std::fill_n(table.cos.data() + row * pairs, pairs, static_cast<T>(tau(options, position)));
  }
  std::fill_n(table.sin.data(), table.sin.count(), T());
  std::fill_n(keys->cos.data(), keys->cos.count(), static_cast<T>(1.0));
  std::fill_n(keys->sin.data(), keys->sin.count(), T());
  table.keys = std::move(keys);
  return table;
}

}  // namespace

template <Floating T>
RotationTable<T> temperature(const Temperature& options, std::int64_t length) {
  if (length < 0) {
    throw Error("temperature.length", "must be 0 or more, got " + std::to_string(length));
  }
  return make<T>(options, length, [](std::int64_t row) { return row; });
}
template <Floating T>
RotationTable<T> temperature(const Temperature& options, std::span<const std::int64_t> positions) {
  return make<T>(options, static_cast<std::int64_t>(positions.size()),
                 [&](std::int64_t row) { return positions[row]; });
}
SEXTANT_INSTANTIATE_ROTATION(temperature, Temperature)

RotationFrequencies rotation_frequencies(const Temperature& options) {
  return frequencies_of(checked(options));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"attn_scale", "0.1", "0 to 1000", "how fast queries grow with the logarithm of the position"},
    {"floor_scale", "8192", ">= 1", "positions that share one step"},
    kRotationPrecision,
};

Temperature options_of(const Parameters& given, const SchemeRequest& request) {
  Temperature options;
  options.head_dim = request.head_dim;
  options.attn_scale = given.number("attn_scale");
  options.floor_scale = given.number("floor_scale");
  options.precision = parse_name<Precision>(given.text("precision"), given.where("precision"));
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kTemperature, request);
  return temperature<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kTemperature, request), request));
}

}  // namespace

constinit const Scheme kTemperature = {
    .name = "temperature",
    .kind = SchemeKind::rotated,
    .idea = "Multiplies queries by a number that grows with their position; there is no rotation.",
    .paper = "Llama 4, Meta 2025; Nakanishi 2025, 2501.19399",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant

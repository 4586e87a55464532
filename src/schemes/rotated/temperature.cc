// Temperature by position: cosines that are no cosines.
#include "sextant/schemes/rotated/temperature.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/options/enum_names.h"
#include "schemes/choices.h"
#include "schemes/definition.h"
#include "schemes/rotated/rotation.h"
#include "schemes/rotated/rotation_generator.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// The members of its QueryScale are separate fields.
template <>
inline constexpr auto kFields<Temperature> = std::tuple{
    field(&Temperature::head_dim, "head_dim", IntegerRange{2, 1 << 30, 2}, "channels of a head")
        .of_request(),
    field(&Temperature::precision, "precision", "arithmetic of the factors")};

namespace {

struct TemperatureScale : QueryScale {  // with other defaults
  TemperatureScale() : QueryScale(Temperature{}.scale) {}
};

}  // namespace

template <>
inline constexpr auto kFields<TemperatureScale> = kFields<QueryScale>;

namespace {

Rotation checked(const Temperature& options) {
  check_fields("temperature", options);
  check_fields("temperature", options.scale);
  Rotation rotation = rotation_of_channels(
      "temperature", {.head_dim = options.head_dim, .precision = options.precision});
  rotation.frequencies.assign(static_cast<std::size_t>(rotation.pairs()), WideFloat());
  rotation.framework.assign(static_cast<std::size_t>(rotation.pairs()), 0);
  return rotation;
}

template <Floating T, class PositionAt>
RotationTable<T> make(const Temperature& options, std::int64_t rows, const PositionAt& position_at,
                      std::span<const std::int64_t> listed = {}) {
  const Rotation rotation = checked(options);
  RotationTable<T> table = new_rotation_table<T>(rotation, rows);
  auto keys = std::make_shared<RotationTable<T>>(new_rotation_table<T>(rotation, rows));
  for (RotationTable<T>* of : {&table, keys.get()}) of->set_positions(listed);
  const std::int64_t pairs = rotation.pairs();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t position = position_at(row);
    check_range(IntegerRange{0, kLengths.max}, "temperature.positions", position);
    std::fill_n(table.cos.data() + row * pairs, pairs,
                static_cast<T>(query_scale_at(options.scale, position, options.precision)));
  }
  std::fill_n(table.sin.data(), table.sin.count(), T());
  std::fill_n(keys->cos.data(), keys->cos.count(), static_cast<T>(1.0));
  std::fill_n(keys->sin.data(), keys->sin.count(), T());
  table.keys = std::move(keys);
  return table;
}

}  // namespace

std::string_view name_of(QueryGrowth growth) noexcept {
  return enum_name(growth, {"steps", "log_n"});
}

double query_scale_at(const QueryScale& scale, std::int64_t position, Precision precision) {
  const auto p = static_cast<double>(position);
  if (scale.growth == QueryGrowth::log_n) {
    if (position < scale.train_length) return 1;
    const double tau = std::log(p + 1) / std::log(static_cast<double>(scale.train_length));
    // Qwen 1 makes its list of factors in float64 and stores it in float32.
    return precision == Precision::exact ? tau : static_cast<double>(static_cast<float>(tau));
  }
  const auto offset = static_cast<double>(scale.floor_offset);
  if (precision == Precision::exact) {
    return 1 + scale.attn_scale * std::log1p(std::floor((p + offset) / scale.floor_scale));
  }
  // As Llama 4's code in float32: every step rounded.
  const float step = std::floor((static_cast<float>(p) + static_cast<float>(offset)) /
                                static_cast<float>(scale.floor_scale));
  const auto logarithm = static_cast<float>(std::log1p(static_cast<double>(step)));
  return static_cast<double>(logarithm * static_cast<float>(scale.attn_scale) + 1);
}

template <Floating T>
RotationTable<T> temperature(const Temperature& options, std::int64_t length) {
  check_range(at_least(0), "temperature.length", length);
  return make<T>(options, length, [](std::int64_t row) { return row; });
}
template <Floating T>
RotationTable<T> temperature(const Temperature& options, std::span<const std::int64_t> positions) {
  return make<T>(
      options, static_cast<std::int64_t>(positions.size()),
      [&](std::int64_t row) { return positions[row]; }, positions);
}
SEXTANT_INSTANTIATE_ROTATION(temperature, Temperature)

RotationFrequencies rotation_frequencies(const Temperature& options) {
  return frequencies_of(checked(options));
}

namespace descriptors {
namespace {

using Of = Given<TemperatureScale, Temperature>;

Temperature options_of(const Of& of) {
  Temperature options = of;
  options.scale = of;
  return options;
}

constexpr Definition<NoWeights, TemperatureScale, Temperature> kDefinition = {
    .name = "temperature",
    .title = "temperature",
    .kind = SchemeKind::rotated,
    .idea = "Multiplies queries by a number that grows with their position; there is no rotation.",
    .paper =
        "Llama 4, Meta 2025; Nakanishi 2025, 2501.19399; log_n: Su 2021; Chiang and Cholak "
        "2022, 2202.12172",
    .make = [](const Of& of) -> SchemeTable {
      return temperature<double>(options_of(of), of.ids());
    },
    .frequencies = [](const Of& of) { return rotation_frequencies(options_of(of)); },
};

}  // namespace

constinit const Scheme kTemperature = scheme_of<kTemperature, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

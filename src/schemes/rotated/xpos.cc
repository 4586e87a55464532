// xPos: rotary times powers of zeta, which are products of two small tables of powers.
#include "sextant/schemes/rotated/xpos.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "schemes/rotated/rotation_fields.h"
#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/scaled_rows.h"
#include "schemes/rotated/xpos_powers.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {

template <>
inline constexpr auto kFields<Xpos> = std::tuple_cat(
    rotation_fields<Xpos>(),
    std::tuple{field(&Xpos::scale_base, "scale_base", kAboveZero,
                     "positions over which pair k decays by the factor zeta_k"),
               field(&Xpos::gamma, "gamma", kAboveZero,
                     "similarity of the pairs' decay; larger: more similar"),
               field(&Xpos::center, "center", IntegerRange{-kLengths.max, kLengths.max},
                     "position with scale 1; must be the same for all keys")});

namespace {

using kernels::Positions;

Rotation rotation_of(const Xpos& options) {
  Rotation rotation = rotation_from("xpos", options);
  set_frequencies(rotation);
  return rotation;
}

std::vector<WideFloat> zeta_of(const Rotation& rotation, const Xpos& options) {
  const WideFloat n(static_cast<double>(rotation.dim));
  const WideFloat gamma(options.gamma);
  const WideFloat inverse = reciprocal((gamma + WideFloat(1.0)) * n);
  std::vector<WideFloat> zeta;
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    zeta.push_back((WideFloat(static_cast<double>(2 * k)) + gamma * n) * inverse);
  }
  return zeta;
}

// Powers of two that leave room for the cosines.
template <Floating T>
constexpr double kMaxExponent = std::is_same_v<T, double>    ? 1020
                                : std::is_same_v<T, float16> ? 14
                                                             : 125;

template <Floating T>
void check_reach(const Rotation& rotation, const Xpos& options, const WideFloat& zeta,
                 const Positions& positions) {
  const double limit =
      std::floor(kMaxExponent<T> * options.scale_base / std::fabs(std::log2(zeta.to_double())));
  for (std::int64_t row = 0; row < positions.count; ++row) {
    const auto offset = static_cast<double>(positions[row] - options.center);
    if (std::fabs(offset) <= limit) continue;
    throw Error(rotation.where("positions"), "must be within " + shortest(limit) +
                                                 " of the center for this type, got " +
                                                 std::to_string(positions[row]));
  }
}

// As torchscale computes it in float32.
template <Floating T>
void scale_as_frameworks(const Rotation& rotation, const Xpos& options, const Positions& positions,
                         RotationTable<T>& queries, RotationTable<T>& keys) {
  const auto n = static_cast<float>(rotation.dim);
  const auto gamma = static_cast<float>(options.gamma);
  const RotationTable<float> plain = [&] {
    const std::vector<std::int64_t> list = listed(positions);
    return make_rotation<float>(rotation, list);
  }();
  for (std::int64_t row = 0; row < positions.count; ++row) {
    const float power = static_cast<float>(positions[row] - options.center) /
                        static_cast<float>(options.scale_base);
    for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
      const float zeta = (static_cast<float>(2 * k) + gamma * n) / ((1 + gamma) * n);
      const auto rho =
          static_cast<float>(std::pow(static_cast<double>(zeta), static_cast<double>(power)));
      queries.cos(row, k) = static_cast<T>(plain.cos(row, k) * rho);
      queries.sin(row, k) = static_cast<T>(plain.sin(row, k) * rho);
      keys.cos(row, k) = static_cast<T>(plain.cos(row, k) * (1 / rho));
      keys.sin(row, k) = static_cast<T>(plain.sin(row, k) * (1 / rho));
    }
  }
}

template <Floating T>
void scale_exactly(const Rotation& rotation, const XposPowers& powers, const Positions& positions,
                   RotationTable<T>& queries, RotationTable<T>& keys) {
  const std::int64_t pairs = rotation.pairs();
  for_each_wide_row<T>(
      rotation, positions,
      [&](std::int64_t row, const double* sin, const double* cos, double* factors) {
        for (const bool reverse : {false, true}) {
          RotationTable<T>& table = reverse ? keys : queries;
          const auto [start, step] = powers.factors(positions[row], reverse);
          for (std::int64_t k = 0; k < pairs; ++k) factors[k] = start[k] * step[k];
          scale_row(sin, factors, pairs, table.sin.data() + row * pairs);
          scale_row(cos, factors, pairs, table.cos.data() + row * pairs);
        }
      });
}

template <Floating T>
RotationTable<T> make(const Xpos& options, const Rotation& rotation, const Positions& positions) {
  check_frequencies(rotation);
  const std::vector<WideFloat> zeta = zeta_of(rotation, options);
  check_reach<T>(rotation, options, zeta.front(), positions);
  RotationTable<T> table = new_rotation_table<T>(rotation, positions.count);
  auto keys = std::make_shared<RotationTable<T>>(new_rotation_table<T>(rotation, positions.count));
  const auto count = static_cast<std::size_t>(positions.count);
  for (RotationTable<T>* of : {&table, keys.get()}) {
    if (positions.listed != nullptr) of->set_positions(std::span(positions.listed, count));
  }
  if (rotation.precision == Precision::framework) {
    scale_as_frameworks(rotation, options, positions, table, *keys);
  } else {
    const XposPowers powers(zeta, options.scale_base, positions, options.center);
    scale_exactly(rotation, powers, positions, table, *keys);
  }
  table.keys = std::move(keys);
  return table;
}

}  // namespace

template <Floating T>
RotationTable<T> xpos(const Xpos& options, std::int64_t length) {
  const Rotation rotation = rotation_of(options);
  return make<T>(options, rotation, consecutive_positions(0, length, "xpos.first", "xpos.length"));
}
template <Floating T>
RotationTable<T> xpos(const Xpos& options, std::span<const std::int64_t> positions) {
  const Rotation rotation = rotation_of(options);
  return make<T>(options, rotation, listed_positions(positions, "xpos.positions"));
}
SEXTANT_INSTANTIATE_ROTATION(xpos, Xpos)

RotationFrequencies rotation_frequencies(const Xpos& options) {
  return frequencies_of(rotation_of(options));
}

std::vector<double> xpos_zeta(const Xpos& options) {
  std::vector<double> result;
  for (const WideFloat& zeta : zeta_of(rotation_of(options), options)) {
    result.push_back(zeta.to_double());
  }
  return result;
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Xpos> kDefinition = {
    .name = "xpos",
    .title = "xPos",
    .kind = SchemeKind::rotated,
    .idea = "Rotary whose scores shrink with the distance, those of fast pairs most; causal only.",
    .paper = "Sun et al. 2022, 2212.10554",
    .make = [](const auto& of) -> SchemeTable { return xpos<double>(of, of.ids()); },
    .frequencies = [](const auto& of) { return rotation_frequencies(of); },
};

}  // namespace

constinit const Scheme kXpos = scheme_of<kXpos, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

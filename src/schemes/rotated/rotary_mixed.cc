// Mixed rotary positions: learned frequencies of every head, axis and pair.
#include "sextant/schemes/rotated/rotary_mixed.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/numbers/wide_float.h"
#include "kernels/sines/sine_table.h"
#include "kernels/sines/turns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "schemes/rotated/plane_rotation.h"
#include "schemes/rotated/rotary_mixed_checks.h"
#include "schemes/rotated/rotation_generator.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"
#include "sextant/core/random.h"

namespace sextant {

namespace {

struct RotaryMixedWeights {
  Tensor<double> frequencies{};
};

}  // namespace

template <>
inline constexpr auto kWeights<RotaryMixedWeights> =
    std::tuple{weight(&RotaryMixedWeights::frequencies, "frequencies", "[heads, axes, pairs]",
                      "radians per unit of each id")};

namespace {

template <Floating T>
void fill_as_frameworks(std::span<const double> x, std::span<const double> y,
                        View<const std::int64_t> ids, T* cos, T* sin) {
  static const kernels::Turns radian = kernels::turns_of(WideFloat(1.0));
  for (std::int64_t row = 0; row < ids.size(0); ++row) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      float angle = static_cast<float>(ids(row, 0)) * static_cast<float>(x[k]);
      if (!y.empty()) angle += static_cast<float>(ids(row, 1)) * static_cast<float>(y[k]);
      const kernels::SineAndCosine value =
          kernels::sine_and_cosine(radian, static_cast<double>(angle));
      *cos++ = static_cast<T>(kernels::round_to<float>(value.cos));
      *sin++ = static_cast<T>(kernels::round_to<float>(value.sin));
    }
  }
}

// One axis: the ladders of a head, which may be negative.
template <Floating T>
void fill_line(Rotation rotation, std::span<const double> x, View<const std::int64_t> ids, T* cos,
               T* sin) {
  rotation.frequencies.clear();
  std::vector<std::int32_t> all;
  for (const double frequency : x) {
    all.push_back(static_cast<std::int32_t>(all.size()));
    rotation.frequencies.emplace_back(std::fabs(frequency));
  }
  const Tensor<std::int64_t> list = copy_of(ids);
  const kernels::Positions positions{0, ids.size(0), std::as_const(list).data()};
  fill_rotation(rotation, all, true, positions, cos);
  fill_rotation(rotation, all, false, positions, sin);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] >= 0) continue;
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      T& value = sin[row * rotation.pairs() + static_cast<std::int64_t>(k)];
      value = static_cast<T>(-static_cast<double>(value));
    }
  }
}

// Converts the gradient of a table into that of its angles, [heads, rows, pairs].
Tensor<double> of_angles(const RotationTable<double>& table, View<const double> gradient) {
  check_rotation_gradient("rotary_mixed", gradient, table.cos.shape());
  const std::int64_t rows = table.cos.size(1), pairs = table.cos.size(2);
  Tensor<double> angles(table.cos.shape());
  for (std::int64_t i = 0; i < angles.count(); ++i) {
    const std::int64_t h = i / pairs / rows, row = i / pairs % rows, k = i % pairs;
    angles.data()[i] =
        table.cos.data()[i] * gradient(1, h, row, k) - table.sin.data()[i] * gradient(0, h, row, k);
  }
  return angles;
}

}  // namespace

template <Floating T>
RotationTable<T> rotary_mixed(const RotaryMixed& options, View<const double> frequencies,
                              View<const std::int64_t> ids) {
  const Rotation rotation = checked(options);
  check_frequencies(rotation, frequencies);
  check_ids(rotation, ids, frequencies.size(1));
  const std::int64_t heads = frequencies.size(0);
  const std::int64_t rows = ids.size(0);
  const std::int64_t pairs = rotation.pairs();
  if (heads > kHeads.max || (heads > 0 && rows > (std::int64_t{1} << 59) / pairs / heads)) {
    throw Error(rotation.where("positions"), "times heads and pairs must be below 2^59");
  }
  RotationTable<T> table{Tensor<T>::uninitialized({heads, rows, pairs}),
                         Tensor<T>::uninitialized({heads, rows, pairs}), rotation.layout,
                         rotation.first_channel};
  const Tensor<double> dense = copy_of(frequencies);
  const bool plane = frequencies.size(1) == 2;
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto count = static_cast<std::size_t>(pairs);
    const double* of_head = dense.data() + h * frequencies.size(1) * pairs;
    const std::span<const double> x(of_head, count);
    const std::span<const double> y =
        plane ? std::span(of_head + pairs, count) : std::span<const double>();
    T* cos = table.cos.data() + h * rows * pairs;
    T* sin = table.sin.data() + h * rows * pairs;
    if (options.precision == Precision::framework) {
      fill_as_frameworks(x, y, ids, cos, sin);
    } else if (plane) {
      fill_plane(x, y, ids, cos, sin, options.threads);
    } else {
      fill_line(rotation, x, ids, cos, sin);
    }
  }
  return table;
}

Tensor<double> rotary_mixed_frequencies(const RotaryMixed& options, std::int64_t heads,
                                        std::int64_t axes, std::uint32_t seed) {
  const Rotation rotation = checked(options);
  check_range(kHeads, rotation.where("heads"), heads);
  if (axes != 1 && axes != 2) {
    throw Error(rotation.where("positions"),
                "must have one or two ids a row, got " + std::to_string(axes));
  }
  const std::int64_t pairs = rotation.pairs();
  const std::int64_t half = (pairs + 1) / 2;
  Tensor<double> frequencies({heads, axes, pairs});
  NumpyRandom random(seed);
  for (std::int64_t h = 0; h < heads; ++h) {
    const double angle = axes == 2 ? 2 * std::numbers::pi * random.uniform() : 0;
    for (std::int64_t k = 0; k < pairs; ++k) {
      const std::int64_t numerator = axes == 2 ? 4 * (k % half) : 2 * k;
      const double magnitude = std::pow(
          options.base, -static_cast<double>(numerator) / static_cast<double>(rotation.dim));
      const double direction = k < half ? angle : angle + std::numbers::pi / 2;
      frequencies(h, 0, k) = axes == 2 ? magnitude * std::cos(direction) : magnitude;
      if (axes == 2) frequencies(h, 1, k) = magnitude * std::sin(direction);
    }
  }
  return frequencies;
}

template <Floating T>
Tensor<double> rotary_mixed_angle_gradient(const RotaryMixed& options, View<const T> x,
                                           View<const T> dx) {
  const Rotation rotation = checked(options);
  if (x.rank() != 4 || x.size(3) != options.head_dim) {
    throw Error(rotation.where("x"), "must be [batch, heads, rows, " +
                                         std::to_string(options.head_dim) + "], got " +
                                         x.shape().to_string());
  }
  if (!(dx.shape() == x.shape())) {
    throw Error(rotation.where("dx"),
                "must be " + x.shape().to_string() + " as x, got " + dx.shape().to_string());
  }
  const std::int64_t pairs = rotation.pairs();
  const bool adjacent = rotation.layout == RotaryLayout::interleaved;
  Tensor<double> gradient({x.size(1), x.size(2), pairs});
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    for (std::int64_t h = 0; h < x.size(1); ++h) {
      for (std::int64_t row = 0; row < x.size(2); ++row) {
        for (std::int64_t k = 0; k < pairs; ++k) {
          const std::int64_t c1 = rotation.first_channel + (adjacent ? 2 * k : k);
          const std::int64_t c2 = c1 + (adjacent ? 1 : pairs);
          gradient(h, row, k) +=
              static_cast<double>(x(b, h, row, c1)) * static_cast<double>(dx(b, h, row, c2)) -
              static_cast<double>(x(b, h, row, c2)) * static_cast<double>(dx(b, h, row, c1));
        }
      }
    }
  }
  return gradient;
}

Tensor<double> rotary_mixed_backward(const RotaryMixed& options, View<const double> angle_gradient,
                                     View<const std::int64_t> ids) {
  const Rotation rotation = checked(options);
  if (ids.rank() != 2) {
    throw Error(rotation.where("positions"),
                "must be [rows, axes], got " + ids.shape().to_string());
  }
  check_ids(rotation, ids, std::clamp<std::int64_t>(ids.size(1), 1, 2));
  if (angle_gradient.rank() != 3 || angle_gradient.size(1) != ids.size(0) ||
      angle_gradient.size(2) != rotation.pairs()) {
    throw Error(rotation.where("angle_gradient"), "must be [heads, " + std::to_string(ids.size(0)) +
                                                      ", " + std::to_string(rotation.pairs()) +
                                                      "], got " +
                                                      angle_gradient.shape().to_string());
  }
  Tensor<double> gradient({angle_gradient.size(0), ids.size(1), rotation.pairs()});
  for (std::int64_t h = 0; h < gradient.size(0); ++h) {
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      for (std::int64_t a = 0; a < ids.size(1); ++a) {
        const auto id = static_cast<double>(ids(row, a));
        for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
          gradient(h, a, k) += id * angle_gradient(h, row, k);
        }
      }
    }
  }
  return gradient;
}

RotationFrequencies rotation_frequencies(const RotaryMixed& options,
                                         View<const double> frequencies) {
  check_frequencies(checked(options), frequencies);
  const Tensor<double> dense = copy_of(frequencies);
  RotationFrequencies result;
  result.inv_freq.assign(dense.data(), dense.data() + dense.count());
  return result;
}

#define SEXTANT_INSTANTIATE(T)                                                           \
  template RotationTable<T> rotary_mixed(const RotaryMixed&, View<const double>,         \
                                         View<const std::int64_t>);                      \
  template Tensor<double> rotary_mixed_angle_gradient(const RotaryMixed&, View<const T>, \
                                                      View<const T>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<RotaryMixedWeights, RotaryMixed> kDefinition = {
    .name = "rotary_mixed",
    .title = "rotary mixed",
    .kind = SchemeKind::rotated,
    .idea = "Rotary by a learned mixture of row and column for every pair of every head.",
    .paper = "rope-vit, Heo et al. 2024, 2403.13298",
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"frequencies", {of.request.heads, of.request.axes, checked(of).pairs()}}};
    },
    .initial =
        [](const auto& of, InitialWeights& to) {
          to.at("frequencies") =
              rotary_mixed_frequencies(of, of.request.heads, of.request.axes, to.seed());
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return rotary_mixed<double>(of, weights.frequencies, ids_of(of.request));
    },
    .backward = [](const auto& of, const auto& weights, auto gradient) -> RotaryMixedWeights {
      const auto ids = ids_of(of.request);
      const auto table = rotary_mixed<double>(of, weights.frequencies, ids);
      return {rotary_mixed_backward(of, of_angles(table, gradient), ids)};
    },
    .frequencies =
        [](const auto& of, const auto& weights) {
          return rotation_frequencies(of, weights.frequencies);
        },
};

}  // namespace

constinit const Scheme kRotaryMixed = scheme_of<kRotaryMixed, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

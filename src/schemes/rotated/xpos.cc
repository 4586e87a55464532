// xPos: rotary times powers of zeta, which are products of two small tables of powers.
#include "sextant/schemes/rotated/xpos.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "schemes/rotated/rotation_fields.h"
#include "schemes/rotated/rotation_generator.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

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

constexpr std::int64_t kBlock = 64;

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

// rho and 1 / rho of the positions of one block, as factors: of the block's first position, and of
// the 64 steps within a block. Each is off by half a unit in the last place.
class Powers {
 public:
  Powers(const std::vector<WideFloat>& zeta, double scale_base, std::vector<std::int64_t> blocks)
      : pairs_(zeta.size()) {
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (std::size_t i = 0; i < blocks.size(); ++i) index_.emplace(blocks[i], i);
    steps_.resize(2 * kBlock * pairs_);
    starts_.resize(2 * blocks.size() * pairs_);
    const WideFloat inverse = reciprocal(WideFloat(scale_base));
    for (std::size_t k = 0; k < pairs_; ++k) {
      const WideFloat rate = log(zeta[k]) * inverse;
      for (const bool reverse : {false, true}) {
        const WideFloat signed_rate = reverse ? -rate : rate;
        const WideFloat ratio = exp(signed_rate);
        WideFloat power(1.0);
        double* step = steps_.data() + (reverse ? kBlock * pairs_ : 0) + k;
        for (std::int64_t b = 0; b < kBlock; ++b, step += pairs_) {
          *step = power.to_double();
          power = power * ratio;
        }
        const WideFloat block_ratio = power;  // ratio^64
        double* start = starts_.data() + (reverse ? blocks.size() * pairs_ : 0) + k;
        for (std::size_t i = 0; i < blocks.size(); ++i, start += pairs_) {
          const bool follows = i > 0 && blocks[i] == blocks[i - 1] + 1;
          power = follows ? power * block_ratio
                          : exp(signed_rate * WideFloat(static_cast<double>(kBlock * blocks[i])));
          *start = power.to_double();
        }
      }
    }
  }

  // The two factors of rho, or of 1 / rho, of all pairs.
  std::pair<const double*, const double*> factors(std::int64_t offset, bool reverse) const {
    const std::size_t block = index_.at(offset >> 6) + (reverse ? index_.size() : 0);
    const std::size_t step = static_cast<std::size_t>(offset & 63) + (reverse ? kBlock : 0);
    return {starts_.data() + block * pairs_, steps_.data() + step * pairs_};
  }

 private:
  std::size_t pairs_;
  std::map<std::int64_t, std::size_t> index_;
  std::vector<double> steps_;   // [2, 64, pairs]
  std::vector<double> starts_;  // [2, blocks, pairs]
};

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
void scale_exactly(const Rotation& rotation, const Powers& powers, std::int64_t center,
                   const Positions& positions, RotationTable<T>& queries, RotationTable<T>& keys) {
  // Some rows at a time: their cosines in float64 stay in the cache.
  constexpr std::int64_t kRows = 1024;
  const std::int64_t pairs = rotation.pairs();
  std::vector<std::int32_t> all(static_cast<std::size_t>(pairs));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::int32_t>(k);
  Tensor<double> plain = Tensor<double>::uninitialized({std::min(kRows, positions.count), pairs});
  for (const bool cosine : {false, true}) {
    for (std::int64_t first = 0; first < positions.count; first += kRows) {
      Positions block = positions;
      block.count = std::min(kRows, positions.count - first);
      if (block.listed != nullptr) {
        block.listed += first;
      } else {
        block.first += first;
      }
      fill_rotation(rotation, all, cosine, block, plain.data());
      parallel_for((block.count + kBlock - 1) / kBlock, rotation.threads, [&](std::int64_t task) {
        const std::int64_t end = std::min(block.count, (task + 1) * kBlock);
        for (std::int64_t row = task * kBlock; row < end; ++row) {
          const double* from = plain.data() + row * pairs;
          for (const bool reverse : {false, true}) {
            RotationTable<T>& table = reverse ? keys : queries;
            T* to = (cosine ? table.cos : table.sin).data() + (first + row) * pairs;
            const auto [start, step] = powers.factors(block[row] - center, reverse);
            for (std::int64_t k = 0; k < pairs; ++k) {
              to[k] = static_cast<T>(from[k] * (start[k] * step[k]));
            }
          }
        }
      });
    }
  }
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
    std::vector<std::int64_t> blocks;
    for (std::int64_t row = 0; row < positions.count; ++row) {
      const std::int64_t block = (positions[row] - options.center) >> 6;
      if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
    }
    const Powers powers(zeta, options.scale_base, std::move(blocks));
    scale_exactly(rotation, powers, options.center, positions, table, *keys);
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

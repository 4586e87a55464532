// Sandwich: a sum of cosines of the distance, with a weight per head.
#include "sextant/schemes/distance/sandwich.h"

#include <cmath>
#include <vector>

#include "schemes/definition.h"

namespace sextant {

template <>
inline constexpr auto kFields<Sandwich> = std::tuple{
    field(&Sandwich::heads, "heads", kHeads, "query heads").of_request(),
    field(&Sandwich::dim, "dim", IntegerRange{2, 1 << 16, 2},
          "width of the sinusoids, independent of head_dim"),
    field(&Sandwich::base, "base", kAboveZero, "wavelengths run from 2 pi to about 2 pi * base")};

DistanceBias sandwich(const Sandwich& options, std::int64_t length) {
  check_fields("sandwich", options);
  schemes_detail::check_distances("sandwich", options.heads, length);
  std::vector<double> frequencies;
  for (std::int64_t k = 0; k < options.dim / 2; ++k) {
    frequencies.push_back(
        std::pow(options.base, -2 * static_cast<double>(k) / static_cast<double>(options.dim)));
  }
  // The same for all heads, computed once: the heads' factors are a multiple of it.
  std::vector<double> sums;
  sums.reserve(static_cast<std::size_t>(length));
  for (std::int64_t distance = 0; distance < length; ++distance) {
    check_interruption();
    double sum = 0;
    for (const double frequency : frequencies) {
      sum += std::cos(static_cast<double>(distance) * frequency);
    }
    sums.push_back(sum);
  }
  return schemes_detail::symmetric_bias(
      "sandwich", options.heads, length, [&](std::int64_t head, std::int64_t distance) {
        return static_cast<double>(options.heads) / static_cast<double>(8 * (head + 1)) *
               sums[static_cast<std::size_t>(distance)];
      });
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Sandwich> kDefinition = {
    .name = "sandwich",
    .title = "Sandwich",
    .kind = SchemeKind::distance_bias,
    .idea =
        "Adds the inner product of two sinusoidal positions, with a different weight in each head.",
    .paper = "Chi et al. 2022, 2212.10356",
    .make = [](const auto& of) -> SchemeTable { return sandwich(of, of.length()); },
};

}  // namespace

constinit const Scheme kSandwich = scheme_of<kSandwich, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

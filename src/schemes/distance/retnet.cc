// RetNet's decay: the logarithm of each head's factor, times the distance.
#include "sextant/schemes/distance/retnet.h"

#include <cmath>

#include "schemes/definition.h"

namespace sextant {

template <>
inline constexpr auto kFields<Retnet> = std::tuple{
    field(&Retnet::heads, "heads", kHeads, "query heads").of_request(),
    field(&Retnet::exponent, "exponent", NumberRange{1, 1000},
          "the first head multiplies by 1 - 2^-exponent per position"),
    field(
        &Retnet::heads_range, "heads_range", NumberRange{0, 1000},
        "head h has the exponent exponent + heads_range * h / heads; auto: heads, 1 more per head"),
    field(&Retnet::causal, "causal", "hide keys after the query; no: they decay as earlier ones")};

namespace {

// 1 - gamma of a head.
double loss_of_head(const Retnet& options, std::int64_t head) {
  const auto heads = static_cast<double>(options.heads);
  const double range = options.heads_range.value_or(heads);
  return std::exp2(-(options.exponent + range * static_cast<double>(head) / heads));
}

}  // namespace

std::vector<double> retnet_decays(const Retnet& options) {
  check_fields("retnet", options);
  std::vector<double> decays;
  for (std::int64_t head = 0; head < options.heads; ++head) {
    decays.push_back(1 - loss_of_head(options, head));
  }
  return decays;
}

DistanceBias retnet(const Retnet& options, std::int64_t length) {
  check_fields("retnet", options);
  schemes_detail::check_distances("retnet", options.heads, length);
  std::vector<double> slopes;  // log1p: the logarithm of 1 - 2^-60 is not 0
  for (std::int64_t head = 0; head < options.heads; ++head) {
    slopes.push_back(std::log1p(-loss_of_head(options, head)));
  }
  return schemes_detail::bias_by_distance(
      "retnet", options.heads, length, [&](std::int64_t head, std::int64_t distance) {
        if (options.causal && distance > 0) return schemes_detail::kHiddenPair;
        return slopes[static_cast<std::size_t>(head)] * std::abs(static_cast<double>(distance));
      });
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Retnet> kDefinition = {
    .name = "retnet",
    .title = "RetNet",
    .kind = SchemeKind::distance_bias,
    .idea = "Multiplies weights by a factor below 1 for each position of distance, one per head.",
    .paper = "Sun et al. 2023, 2307.08621",
    .make = [](const auto& of) -> SchemeTable { return retnet(of, of.length()); },
};

}  // namespace

constinit const Scheme kRetnet = scheme_of<kRetnet, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

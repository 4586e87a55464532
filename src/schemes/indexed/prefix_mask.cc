// The mask of prefix language models.
#include "sextant/schemes/indexed/prefix_mask.h"

#include <algorithm>

#include "schemes/definition.h"
#include "schemes/indexed/mask_term.h"

namespace sextant {

template <>
inline constexpr auto kFields<PrefixMask> =
    std::tuple{field(&PrefixMask::prefix, "prefix", at_least(0),
                     "keys with ids below it are visible to every query; 0: causal mask only")};

std::shared_ptr<const ScoreTerm> prefix_mask(const PrefixMask& options,
                                             std::span<const std::int64_t> positions) {
  check_fields("prefix_mask", options);
  constexpr std::int64_t kBeyondAllIds = std::int64_t{1} << 54;
  const auto visible = [prefix = std::min(options.prefix, kBeyondAllIds)](std::int64_t query) {
    return schemes_detail::IdRange{-kBeyondAllIds, std::max(prefix - 1, query)};
  };
  return schemes_detail::id_mask(schemes_detail::PositionRuns("prefix_mask", positions), visible);
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, PrefixMask> kDefinition = {
    .name = "prefix_mask",
    .title = "prefix mask",
    .kind = SchemeKind::indexed_bias,
    .idea = "Hides the future except the first tokens, which are visible to all.",
    .paper = "Raffel et al. 2019, 1910.10683",
    .make = [](const auto& of) -> SchemeTable { return prefix_mask(of, of.ids()); },
};

}  // namespace

constinit const Scheme kPrefixMask = scheme_of<kPrefixMask, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

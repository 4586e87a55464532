// The mask of prefix language models.
#include "sextant/schemes/indexed/prefix_mask.h"

#include <algorithm>
#include <utility>

#include "schemes/definition.h"
#include "schemes/indexed/position_runs.h"

namespace sextant {

template <>
inline constexpr auto kFields<PrefixMask> =
    std::tuple{field(&PrefixMask::prefix, "prefix", at_least(0),
                     "keys with ids below it are visible to every query; 0: causal mask only")};

namespace {

constexpr std::int64_t kMaxPrefix = std::int64_t{1} << 54;  // beyond all ids

class PrefixMaskBias final : public ScoreTerm {
 public:
  PrefixMaskBias(std::int64_t prefix, schemes_detail::PositionRuns ids)
      : prefix_(prefix), ids_(std::move(ids)) {}

  void check(const CallExtents& call) const override { ids_.check(call); }
  void add(const ScoreTile<float>& tile) const noexcept override {
    schemes_detail::add_mask(ids_, tile, [&](std::int64_t query) {
      return schemes_detail::IdRange{-kMaxPrefix, std::max(prefix_ - 1, query)};
    });
  }

 private:
  std::int64_t prefix_;
  schemes_detail::PositionRuns ids_;
};

}  // namespace

std::shared_ptr<const ScoreTerm> prefix_mask(const PrefixMask& options,
                                             std::span<const std::int64_t> positions) {
  check_fields("prefix_mask", options);
  return std::make_shared<PrefixMaskBias>(std::min(options.prefix, kMaxPrefix),
                                          schemes_detail::PositionRuns("prefix_mask", positions));
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

// The mask of prefix language models.
#include "sextant/schemes/indexed/prefix_mask.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "schemes/descriptors.h"
#include "schemes/indexed/position_runs.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr std::int64_t kMostPrefix = std::int64_t{1} << 54;  // beyond all ids

class PrefixMask final : public IndexedBias {
 public:
  PrefixMask(std::int64_t prefix, detail::PositionRuns ids)
      : prefix_(prefix), ids_(std::move(ids)) {}

  void fill(const Tile& tile, float* values, std::int64_t row_stride) const noexcept override {
    detail::fill_mask(ids_, tile, values, row_stride, [&](std::int64_t query) {
      return detail::IdRange{-kMostPrefix, std::max(prefix_ - 1, query)};
    });
  }

 private:
  std::int64_t prefix_;
  detail::PositionRuns ids_;
};

}  // namespace

std::shared_ptr<const IndexedBias> prefix_mask(std::int64_t prefix,
                                               std::span<const std::int64_t> positions) {
  if (prefix < 0) {
    throw Error("prefix_mask.prefix", "must be >= 0, got " + std::to_string(prefix));
  }
  return std::make_shared<PrefixMask>(std::min(prefix, kMostPrefix),
                                      detail::PositionRuns("prefix_mask", positions));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"prefix", "0", ">= 0", "ids below it are visible to every token; 0: causal only"},
};

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kPrefixMask, request);
  detail::runs_of("prefix_mask", request);  // refuses several axes
  return prefix_mask(given.integer("prefix"), request.positions);
}

}  // namespace

constinit const Scheme kPrefixMask = {
    .name = "prefix_mask",
    .kind = SchemeKind::indexed_bias,
    .idea = "Hides the future except the first tokens, which are visible to all.",
    .paper = "Raffel et al. 2019, 1910.10683",
    .parameters = kParameters,
    .make = make,
};

}  // namespace descriptors
}  // namespace sextant

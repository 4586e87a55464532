// The mask of chunked attention.
#include "sextant/schemes/indexed/chunk_mask.h"

#include <algorithm>

#include "schemes/definition.h"
#include "schemes/indexed/mask_term.h"

namespace sextant {

template <>
inline constexpr auto kFields<ChunkMask> =
    std::tuple{field(&ChunkMask::chunk, "chunk", at_least(1), "position ids per chunk"),
               field(&ChunkMask::causal, "causal", "causal mask within each chunk")};

std::shared_ptr<const ScoreTerm> chunk_mask(const ChunkMask& options,
                                            std::span<const std::int64_t> positions) {
  check_fields("chunk_mask", options);
  // Chunks beyond 2^54 hold all ids of one sign.
  const std::int64_t chunk = std::min(options.chunk, std::int64_t{1} << 54);
  const auto visible = [chunk, causal = options.causal](std::int64_t query) {
    const std::int64_t in_chunk = ((query % chunk) + chunk) % chunk;  // of negative ids, too
    const std::int64_t first = query - in_chunk;
    return schemes_detail::IdRange{first, causal ? query : first + chunk - 1};
  };
  return schemes_detail::id_mask(schemes_detail::PositionRuns("chunk_mask", positions), visible);
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, ChunkMask> kDefinition = {
    .name = "chunk_mask",
    .title = "chunk mask",
    .kind = SchemeKind::indexed_bias,
    .idea = "Cuts the sequence into chunks of fixed length that do not attend to one another.",
    .paper = "Llama 4 (Meta 2025); Child et al. 2019, 1904.10509",
    .make = [](const auto& of) -> SchemeTable { return chunk_mask(of, of.ids()); },
};

}  // namespace

constinit const Scheme kChunkMask = scheme_of<kChunkMask, kDefinition>();

}  // namespace descriptors
}  // namespace sextant

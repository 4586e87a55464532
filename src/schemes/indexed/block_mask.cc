// The mask of block-sparse attention.
#include "sextant/schemes/indexed/block_mask.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schemes/indexed/position_runs.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

[[noreturn]] void refuse(std::string_view argument, const std::string& what) {
  throw Error("block_mask." + std::string(argument), what);
}

constexpr std::int64_t kMaxBlockSize = std::int64_t{1} << 20;
constexpr std::int64_t kMaxIndex = std::int64_t{1} << 31;

std::int64_t blocks_of(std::int64_t tokens, std::int64_t block) {
  return (tokens + block - 1) / block;
}

void check_size(std::string_view name, std::int64_t size, std::int64_t max) {
  if (size >= 1 && size <= max) return;
  refuse(name, "must be in 1 .. " + std::to_string(max) + ", got " + std::to_string(size));
}

class BlockMaskTerm final : public ScoreTerm {
 public:
  BlockMaskTerm(const BlockMask& sizes, View<const std::int64_t> indices)
      : sizes_(sizes),
        batch_(indices.size(0)),
        heads_(indices.size(1)),
        query_blocks_(indices.size(2)) {
    ends_.reserve(static_cast<std::size_t>(batch_ * heads_ * query_blocks_) + 1);
    ends_.push_back(0);
    for (std::int64_t b = 0; b < batch_; ++b) {
      for (std::int64_t h = 0; h < heads_; ++h) {
        for (std::int64_t block = 0; block < query_blocks_; ++block) {
          add_list(indices.size(3), [&](std::int64_t n) { return indices(b, h, block, n); });
        }
      }
    }
  }

  void check(const CallExtents& call) const override {
    if (call.packed) refuse("block_indices", "must not be used in a call with segments");
    if (batch_ != 1 && batch_ != call.batch) {
      refuse("block_indices", "must have a batch of 1 or " + std::to_string(call.batch) +
                                  ", as the call, got " + std::to_string(batch_));
    }
    if (heads_ != 1 && heads_ * sizes_.group != call.heads) {
      refuse("block_indices", "must have 1 head, or " + std::to_string(call.heads) + " / group " +
                                  std::to_string(sizes_.group) + ", got " + std::to_string(heads_));
    }
    std::int64_t key_blocks = 0;
    for (const SequenceExtents& sequence : call.sequences) {
      key_blocks = std::max(key_blocks, blocks_of(sequence.k_len, sizes_.key_block));
      const std::int64_t needed = blocks_of(sequence.q_len, sizes_.query_block);
      if (needed == query_blocks_) continue;
      refuse("block_indices", "must have " + std::to_string(needed) + " query blocks of " +
                                  std::to_string(sizes_.query_block) + " for q_len " +
                                  std::to_string(sequence.q_len) + ", got " +
                                  std::to_string(query_blocks_));
    }
    if (call.sequences.empty() || largest_ < key_blocks) return;
    refuse("block_indices", "must be -1 or a key block of the call, 0 .. " +
                                std::to_string(key_blocks - 1) + ", got " +
                                std::to_string(largest_));
  }

  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t row = 0; row < tile.queries; ++row) {
      hide_in_row(tile, tile.first_query + row, tile.scores + row * tile.stride);
    }
  }

 private:
  // Keeps the blocks of one list in order, without -1.
  template <class Index>
  void add_list(std::int64_t count, const Index& index) {
    const auto begin = static_cast<std::ptrdiff_t>(blocks_.size());
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t block = index(n);
      if (block < -1 || block > kMaxIndex) {
        refuse("block_indices", "must be in -1 .. 2^31, got " + std::to_string(block));
      }
      if (block >= 0) blocks_.push_back(block);
      largest_ = std::max(largest_, block);
    }
    std::sort(blocks_.begin() + begin, blocks_.end());
    ends_.push_back(blocks_.size());
  }

  void hide_in_row(const ScoreRect& tile, std::int64_t query, float* scores) const noexcept {
    const std::int64_t batch = batch_ == 1 ? 0 : tile.batch;
    const std::int64_t head = heads_ == 1 ? 0 : tile.head / sizes_.group;
    const std::int64_t block = query / sizes_.query_block;
    const auto list = static_cast<std::size_t>((batch * heads_ + head) * query_blocks_ + block);
    const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(ends_[list]);
    const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(ends_[list + 1]);
    const std::int64_t tile_end = tile.first_key + tile.keys;
    std::int64_t key = tile.first_key;
    for (auto at = std::lower_bound(begin, end, key / sizes_.key_block); at != end; ++at) {
      const std::int64_t first = std::clamp(*at * sizes_.key_block, key, tile_end);
      std::fill(scores + (key - tile.first_key), scores + (first - tile.first_key),
                schemes_detail::kHiddenScore);
      if (first == tile_end) return;
      key = std::min((*at + 1) * sizes_.key_block, tile_end);
    }
    std::fill(scores + (key - tile.first_key), scores + tile.keys, schemes_detail::kHiddenScore);
  }

  BlockMask sizes_;
  std::int64_t batch_, heads_, query_blocks_;
  std::int64_t largest_ = -1;
  std::vector<std::int64_t> blocks_;  // of all lists
  std::vector<std::size_t> ends_;     // where each list ends, after a 0
};

}  // namespace

std::shared_ptr<const ScoreTerm> block_mask(const BlockMask& sizes,
                                            View<const std::int64_t> block_indices) {
  check_size("query_block", sizes.query_block, kMaxBlockSize);
  check_size("key_block", sizes.key_block, kMaxBlockSize);
  check_size("group", sizes.group, kMaxBlockSize);
  if (block_indices.rank() != 4 || block_indices.size(0) == 0 || block_indices.size(1) == 0) {
    refuse("block_indices", "must be [batch or 1, heads / group or 1, query_blocks, n], got " +
                                block_indices.shape().to_string());
  }
  return std::make_shared<BlockMaskTerm>(sizes, block_indices);
}

}  // namespace sextant

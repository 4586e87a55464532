// The mask of block-sparse attention.
#include "sextant/schemes/indexed/block_mask.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "schemes/indexed/mask_term.h"
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

class KeyBlocks {
 public:
  KeyBlocks(const BlockMask& sizes, View<const std::int64_t> indices)
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

  void check(const CallExtents& call) const {
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

  template <class Hide>
  void each_hidden(const ScoreRect& rect, std::int64_t row_stride,
                   const Hide& hide) const noexcept {
    const std::int64_t rect_end = rect.first_key + rect.keys;
    for (std::int64_t row = 0; row < rect.queries; ++row) {
      const std::int64_t at = row * row_stride - rect.first_key;
      std::int64_t key = rect.first_key;
      for (const std::int64_t block : list_of(rect, rect.first_query + row)) {
        if ((block + 1) * sizes_.key_block <= key) continue;
        const std::int64_t first = std::clamp(block * sizes_.key_block, key, rect_end);
        hide(at + key, first - key);
        key = std::min((block + 1) * sizes_.key_block, rect_end);
        if (first == rect_end || key == rect_end) break;
      }
      hide(at + key, rect_end - key);
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

  // The blocks of a query from that of the rectangle's first key on.
  std::span<const std::int64_t> list_of(const ScoreRect& rect, std::int64_t query) const noexcept {
    const std::int64_t batch = batch_ == 1 ? 0 : rect.batch;
    const std::int64_t head = heads_ == 1 ? 0 : rect.head / sizes_.group;
    const std::int64_t block = query / sizes_.query_block;
    const auto list = static_cast<std::size_t>((batch * heads_ + head) * query_blocks_ + block);
    const std::span<const std::int64_t> all(blocks_.data() + ends_[list],
                                            blocks_.data() + ends_[list + 1]);
    const auto from = std::lower_bound(all.begin(), all.end(), rect.first_key / sizes_.key_block);
    return {from, all.end()};
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
  return schemes_detail::mask_term(KeyBlocks(sizes, block_indices));
}

}  // namespace sextant

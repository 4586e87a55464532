// The term of the logits where a tile of scores is not enough: a term of whole rows, or any that is
// added before the softcap. Its numbers are computed for all keys of a block of queries before a
// kernel asks for them: the kernel adds them to the scores like a bias.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention/call/biases.h"
#include "core/threads/scratch_divider.h"
#include "kernels/attention/geometry.h"
#include "kernels/matmul/matmul.h"

namespace sextant::attention_detail {

class TermRows {
 public:
  // Scratch of a block. The forward passes need `numbers` afterwards, gradients need all of it.
  struct Arrays {
    float *scores, *numbers;  // [queries, stride()]
    float* capped;            // likewise; null: no softcap
    float* q;                 // [queries, head_dim]
    float* tile;              // of biases; null: there are none
  };
  static Arrays divide(ScratchDivider<float>& arrays, const AttentionCall& call,
                       std::int64_t queries, std::int64_t keys);

  // The keys of a head from `first` on in float32, rotated.
  struct Keys {
    kernels::StoredMatrix rows;
    std::int64_t first;
  };
  // Floats of memory for a number of keys.
  static std::int64_t key_floats(const AttentionCall& call, std::int64_t keys) noexcept;
  static Keys load_keys(const HeadBiases& biases, KeyRange keys, float* memory) noexcept;

  static constexpr std::int64_t stride_of(std::int64_t keys) noexcept {
    return (keys + 15) / 16 * 16 + 16;  // rows of 2^n numbers would share the sets of a cache
  }

  // Computes the numbers of queries from `first_query` on with the keys that any of them sees.
  // `distances`, from `first_distance` on, and `memory` are as in HeadBiases::fill_rows().
  void compute(const HeadBiases& biases, std::int64_t first_query, std::int64_t queries,
               const float* distances, std::int64_t first_distance, const Keys& keys,
               const Arrays& arrays, float* memory);

  // Adds the numbers to those of a tile, to[i * to_row + j]; hidden pairs stay hidden.
  void add_to(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
              std::int64_t keys, float* to, std::int64_t to_row) const noexcept;

  // Calls use(inputs, i, j) for tiles that the term supports, with visible pairs, which begin at
  // query i and key j of the block. Their keys lie in one block of keys, so in one page of a cache.
  template <class Use>
  void for_each_tile(const HeadBiases& biases, float* memory, const Use& use) const;

  std::int64_t first_query() const noexcept { return first_query_; }
  std::int64_t queries() const noexcept { return queries_; }
  std::int64_t first_key() const noexcept { return keys_.begin; }
  std::int64_t keys() const noexcept { return keys_.end - keys_.begin; }
  std::int64_t stride() const noexcept { return stride_; }
  const Arrays& arrays() const noexcept { return arrays_; }
  // The keys, rotated.
  const kernels::StoredMatrix& k() const noexcept { return k_; }

 private:
  KeyRange visible_keys(const HeadBiases& biases, std::int64_t query,
                        std::int64_t queries) const noexcept;
  // Calls use(first key, keys) for the blocks of keys in a range.
  template <class Use>
  static void for_each_block(KeyRange keys, const Use& use) {
    for (std::int64_t key = keys.begin, next = 0; key < keys.end; key = next) {
      next = std::min<std::int64_t>(keys.end, (key / kernels::kKeyBlock + 1) * kernels::kKeyBlock);
      use(key, next - key);
    }
  }
  void load_queries(const HeadBiases& biases) noexcept;
  void hide(const HeadBiases& biases, const float* distances, std::int64_t first_distance,
            float* memory) noexcept;
  void subtract_scores(float softcap) noexcept;

  std::int64_t first_query_ = 0, queries_ = 0;
  KeyRange keys_{0, 0};
  std::int64_t stride_ = 0;
  Arrays arrays_{};
  kernels::StoredMatrix k_{static_cast<const float*>(nullptr), 0, 0};
};

template <class Use>
void TermRows::for_each_tile(const HeadBiases& biases, float* memory, const Use& use) const {
  const TermUse& term = biases.call.logit_term;
  for (std::int64_t i = 0; i < queries_; i += kernels::kQueryBlock) {
    const std::int64_t queries = std::min<std::int64_t>(kernels::kQueryBlock, queries_ - i);
    const auto use_keys = [&](std::int64_t first, std::int64_t keys) {
      const ScoreRect rect =
          biases.call.rect(biases.sequence, biases.head, first_query_ + i, queries, first, keys);
      use(biases.inputs(term, rect, memory), i, first - keys_.begin);
    };
    const KeyRange seen = visible_keys(biases, first_query_ + i, queries);
    if (term.needs.tiles != TermTiles::rows) {
      for_each_block(seen, use_keys);
    } else if (seen.begin < seen.end) {
      use_keys(seen.begin, seen.end - seen.begin);
    }
  }
}

}  // namespace sextant::attention_detail

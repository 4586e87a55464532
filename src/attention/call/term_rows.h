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
  // [queries, stride()] and others, in floats.
  struct Arrays {
    float *scores, *numbers;
    float* capped;  // null: no softcap
    float* q;       // [queries, head_dim]
    float* k;       // [keys, head_dim]
    float* tile;    // of biases; null: there are none
  };
  static Arrays divide(ScratchDivider<float>& arrays, const AttentionCall& call,
                       std::int64_t queries, std::int64_t keys);
  static constexpr std::int64_t stride_of(std::int64_t keys) noexcept {
    return (keys + 15) / 16 * 16 + 16;  // rows of 2^n numbers would share the sets of a cache
  }

  // Computes the numbers of queries from `first_query` on with the keys that any of them sees.
  // `distances`, from `first_distance` on, and `memory` are as in HeadBiases::fill_rows().
  void compute(const HeadBiases& biases, std::int64_t first_query, std::int64_t queries,
               const float* distances, std::int64_t first_distance, const Arrays& arrays,
               float* memory);

  // Adds the numbers to those of a tile, to[i * to_row + j]; hidden pairs stay hidden.
  void add_to(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
              std::int64_t keys, float* to, std::int64_t to_row) const noexcept;

  // Calls use(inputs, i, j) for tiles that the term supports, which begin at query i and key j of
  // the block.
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
  void load_rows(const HeadBiases& biases);
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
  const bool whole = term.needs.tiles == TermTiles::rows;
  const std::int64_t tile_keys = whole ? keys() : kernels::kKeyBlock;
  for (std::int64_t i = 0; i < queries_; i += kernels::kQueryBlock) {
    const std::int64_t count = std::min<std::int64_t>(kernels::kQueryBlock, queries_ - i);
    for (std::int64_t j = 0; j < keys(); j += tile_keys) {
      const ScoreRect rect = biases.call.rect(biases.sequence, biases.head, first_query_ + i, count,
                                              keys_.begin + j, std::min(tile_keys, keys() - j));
      use(biases.inputs(term, rect, memory), i, j);
    }
  }
}

}  // namespace sextant::attention_detail

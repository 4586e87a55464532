// One call of the operator on a block of a divided call: queries [a, b) with keys [c, d) of one
// segment, told by offsets and position ids where in the sequence they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ranks/attention/call.h"
#include "ranks/attention/shifted_content.h"

namespace sextant::ranks {

// A generator of biases that is asked about other queries, keys and heads than those of the call.
class ShiftedBias final : public IndexedBias {
 public:
  const IndexedBias* inner = nullptr;  // null: zeros
  std::int64_t segment = 0, segments = 1;
  std::int64_t query_shift = 0, key_shift = 0, head_shift = 0;
  bool gives_ids = true;  // false: the call's ids are ours, and `inner` must not see them
  // Added to each score of a row, [batch, heads, queries]; empty: none.
  View<const float> of_rows{};

  // The bias has been asked about the whole call; what it says of a part does not count.
  void check(const CallExtents&) const override {}
  void fill(const Tile& tile, float* values, std::int64_t row_stride) const noexcept override;
  std::int64_t gradient_size() const noexcept override {
    return inner == nullptr ? 0 : inner->gradient_size();
  }
  void accumulate(const Tile& tile, const float* dscores, std::int64_t row_stride,
                  double* gradient) const noexcept override;

 private:
  Tile shifted(const Tile& tile) const noexcept;
};

// The options of a block; borrows from the call and from itself, so it stays where it was made.
// T: the type of the call; U: that of the block's arrays, float where T has 16 bits and the block
// is one of several that are merged.
template <class T, class U>
struct BlockOptions {
  // `whole_rows`: the keys are all that the queries see, so sinks and content terms belong here.
  BlockOptions(const Call<T>& call, const Piece& queries, const Piece& keys, bool whole_rows);
  BlockOptions(const BlockOptions&) = delete;
  BlockOptions& operator=(const BlockOptions&) = delete;

  // Has every score of a row get `shift` [batch, heads, queries] besides.
  void shift_rows(View<const float> shift);

  AttentionOptions<U> options;

 private:
  std::vector<std::int64_t> offsets_, lengths_;
  Tensor<std::int64_t> query_ids_, key_ids_;
  ShiftedBias indexed_;
  std::optional<ShiftedContent> content_;
};

// The part of a mask for these queries (rows of their rank) and keys; axes of size 1 stay.
template <class M>
View<M> part_of_mask(View<M> mask, const Piece& queries, const Piece& keys);

}  // namespace sextant::ranks

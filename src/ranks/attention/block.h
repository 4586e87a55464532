// Calls the operator on one block of a divided call: queries [a, b) with keys [c, d) of one
// segment, placed in the sequence by offsets and position ids.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "ranks/attention/call.h"
#include "ranks/attention/shifted_term.h"

namespace sextant::ranks {

// The options of a block; borrows from the call and from itself, so it stays where it was made.
// T: the type of the call; U: that of the block's arrays, float where T has 16 bits and the block
// is one of several that are merged.
template <class T, class U>
struct BlockOptions {
  // `whole_rows`: the keys are all that the queries see, so sinks and the term before the softcap
  // belong here.
  BlockOptions(const Call<T>& call, const Piece& queries, const Piece& keys, bool whole_rows);
  BlockOptions(const BlockOptions&) = delete;
  BlockOptions& operator=(const BlockOptions&) = delete;

  // Has every score of a row get `shift` [batch, heads, queries] besides.
  void shift_rows(View<const float> shift);

  AttentionOptions<U> options;

 private:
  std::vector<std::int64_t> offsets_, lengths_;
  Tensor<std::int64_t> query_ids_, key_ids_;
  std::deque<ShiftedTerm> terms_;
  std::optional<RowShift> row_shift_;
};

// The part of a mask for these queries (rows of their rank) and keys; axes of size 1 stay.
template <class M>
View<M> part_of_mask(View<M> mask, const Piece& queries, const Piece& keys);

}  // namespace sextant::ranks

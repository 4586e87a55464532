// Describes a call on ranks without its arrays: shapes, options and the positions of each rank.
// This is enough to compute the cost of an algorithm, also for ranks that do not exist.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/call/arguments.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {

using attention_detail::AttentionCall;
using attention_detail::Sequence;

// Positions [begin, end) of a batch row, all in one of its segments.
struct Piece {
  std::int64_t segment = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t row = 0;  // place of `begin` in the part of its rank
  std::int64_t size() const noexcept { return end - begin; }
};

// `all` has views of the whole arrays' shapes that must not be read.
template <class T>
struct CallShape {
  Options ranks;
  AttentionCall all;
  std::int64_t v_dim = 0;
  ShardLayout q_layout, k_layout;
  bool mask_by_row = false;  // the mask has a row for each query

  int size() const noexcept { return q_layout.ranks(); }
  std::int64_t group() const noexcept { return all.heads_q / all.kv_heads; }
  // Sequence of a batch row and segment.
  Sequence sequence(std::int64_t batch, std::int64_t segment) const noexcept {
    return all.sequence(batch * all.segment_count() + segment);
  }

  // Returns the pieces of a rank, cut at the borders of segments, in the order of its rows. Not for
  // striped shardings.
  std::vector<Piece> query_pieces(int rank) const;
  std::vector<Piece> key_pieces(int rank) const;
  // The keys that any of these queries sees in any batch row; empty: none.
  Piece seen(const Piece& queries) const;
  // How many pairs of these queries and keys are visible, in one head of all batch rows.
  double pairs(const Piece& queries, const Piece& keys) const;
};

// Throws Error for an algorithm, sharding or wire type that is no named value, and slices below 0.
void check_options(const char* function, const Options& ranks);

// A whole array's shape over one element, for checks that read no element.
template <class T>
View<const T> shape_only(const Shape& shape);

}  // namespace sextant::ranks

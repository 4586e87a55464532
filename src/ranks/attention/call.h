// A call on ranks after checking: the operator's arguments for the whole sequences, which no rank
// holds, and the parts that this rank has.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/call/arguments.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {

using attention_detail::Arguments;
using attention_detail::Sequence;

// Positions [begin, end) of a batch row, all in one of its segments.
struct Piece {
  std::int64_t segment = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t row = 0;  // where `begin` lies in the part of its rank
  std::int64_t size() const noexcept { return end - begin; }
};

// `all` has views of the whole arrays' shapes that must not be read.
template <class T>
struct Call {
  const Communicator& comm;
  Options ranks;
  AttentionOptions<T> options;  // with position ids of the whole sequences
  Arguments<T> all;
  View<const T> q, k, v;  // own parts
  std::int64_t v_dim = 0;
  Layout q_layout, k_layout;
  Tensor<std::int64_t> query_ids, key_ids;  // gathered

  int rank() const noexcept { return comm.rank(); }
  int size() const noexcept { return comm.size(); }
  std::int64_t group() const noexcept { return all.heads_q / all.kv_heads; }
  // Sequence of a batch row and segment.
  Sequence sequence(std::int64_t batch, std::int64_t segment) const noexcept {
    return all.sequence(batch * all.segment_count() + segment);
  }

  // What a rank holds, cut at the borders of segments, in the order of its rows. Not for striped
  // divisions.
  std::vector<Piece> query_pieces(int rank) const;
  std::vector<Piece> key_pieces(int rank) const;
  // The keys that any of these queries sees in any batch row; empty: none.
  Piece seen(const Piece& queries) const;
  // How many pairs of these queries and keys are visible, in one head of all batch rows.
  double pairs(const Piece& queries, const Piece& keys) const;
};

// Checks that all ranks make the same call and that attention() would take it. Throws the same
// Error on every rank.
template <class T>
Call<T> check_call(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
                   View<const T> v, const AttentionOptions<T>& options, const Options& ranks);

// A rank's own result of the wanted shape, on all ranks alike.
template <class T, class U>
void check_result(const char* function, const char* argument, const Call<T>& call, View<U> view,
                  std::int64_t heads, std::int64_t rows, std::int64_t channels);

}  // namespace sextant::ranks

// Biases by the positions of query and key, added to the logits and generated on demand: offsets on
// a grid, chunks and documents, any function of both positions.
#pragma once

#include <cstdint>

#include "sextant/tables/call_extents.h"

namespace sextant {

// A generator of biases. The operator calls it tile by tile, from several threads at once, and
// never for an N x N array as a whole.
class IndexedBias {
 public:
  // A rectangle of scores: queries [first_query, first_query + queries) and keys likewise, counted
  // in their sequence (with segments: in the segment).
  struct Tile {
    std::int64_t sequence, head;  // batch row (with segments: the segment's number), query head
    std::int64_t first_query, queries;
    std::int64_t first_key, keys;
    std::int64_t offset = 0;  // query i has position i + offset among the keys
    // The position ids of the tile's queries and keys, where the caller gave any; else null.
    const std::int64_t* query_positions = nullptr;
    const std::int64_t* key_positions = nullptr;

    // Positions of the tile's i-th query and j-th key, whether there are ids or not.
    std::int64_t query_position(std::int64_t i) const noexcept {
      return query_positions != nullptr ? query_positions[i] : first_query + i + offset;
    }
    std::int64_t key_position(std::int64_t j) const noexcept {
      return key_positions != nullptr ? key_positions[j] : first_key + j;
    }
  };

  virtual ~IndexedBias() = default;

  // Throws Error for a call that has heads, queries or keys for which there is no bias. Called
  // before anything is computed. What fill() writes for pairs that nobody sees is ignored.
  virtual void check(const CallExtents& call) const = 0;

  // Writes what is added to each score into values[query * row_stride + key]; -infinity hides. Must
  // give the same number for a pair in every tile. Called with tiles that hold at least one visible
  // pair; it must not throw. It may call this library, the operator included. It must not wait for
  // a pool of threads that runs the operator's bodies (see Executor). Denormal numbers may count as
  // 0 while it runs.
  virtual void fill(const Tile& tile, float* values, std::int64_t row_stride) const noexcept = 0;

  // The number of learned parameters. 0: none.
  virtual std::int64_t gradient_size() const noexcept { return 0; }
  // The gradients of the parameters from those of a tile's scores: adds to gradient[0 ..
  // gradient_size()) the sum over the tile of dscores[query * row_stride + key] times the
  // derivatives of the pair's bias. Linear in dscores, which are 0 where a pair is hidden, and not
  // read outside the tile. Called for tiles of any size, from several threads at once with a
  // `gradient` each; it may not throw.
  virtual void accumulate(const Tile& /*tile*/, const float* /*dscores*/,
                          std::int64_t /*row_stride*/, double* /*gradient*/) const noexcept {}

 protected:
  IndexedBias() = default;
  IndexedBias(const IndexedBias&) = default;
  IndexedBias& operator=(const IndexedBias&) = default;
};

}  // namespace sextant

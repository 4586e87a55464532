// ALiBi on images: a score falls with the distance of two patches on the grid (Fuller et al. 2023,
// CROMA, 2311.00566, section 3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/tables/indexed_bias.h"

namespace sextant {

struct Alibi2d {
  std::int64_t heads = 1;              // 1 .. 2^20
  std::int64_t rows = 0, columns = 0;  // of the grid, 0 .. 2^28; 0: as many as the ids need
  double max_bias = 8;                 // 0 .. 1000, as in alibi_slopes()
};

// -slope * sqrt((r - r')^2 + (c - c')^2) for patches (r, c) and (r', c'), in float64, rounded once.
// Patch id is row id / columns, column id % columns; with rows and columns 0 the grid is the least
// square that holds all ids. Token n of the sequence has the id positions[n]: key n, and query n -
// offset; tokens beyond the list are hidden and attend to nothing, and so do heads beyond `heads`.
// Position ids of the call of attention() replace the list. Throws Error when ids lie outside the
// grid, and for options out of their ranges.
std::shared_ptr<const IndexedBias> alibi_2d(const Alibi2d& options,
                                            std::span<const std::int64_t> positions);

}  // namespace sextant

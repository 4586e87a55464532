// Makes ALiBi for images: a score falls with the distance of two patches on the grid (Fuller et al.
// 2023, CROMA, 2311.00566, section 3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sextant/tables/score_term.h"

namespace sextant {

struct Alibi2d {
  std::int64_t heads = 1;  // 1 .. 2^20
  // The grid, 1 .. 2^28; unset: the smallest that holds all ids, the smallest square if both are
  // unset.
  std::optional<std::int64_t> rows{}, columns{};
  double max_bias = 8;  // 0 .. 1000, as in alibi_slopes()
};

// Returns -slope * sqrt((r - r')^2 + (c - c')^2) for patches (r, c) and (r', c'), in float64,
// rounded once. Patch id is row id / columns, column id % columns. Token n of the sequence has the
// id positions[n]: key n, and query n - offset; position ids of the call of attention() replace the
// list. Calls with more tokens or other heads are refused. Throws Error for ids outside the grid,
// and for options out of their ranges.
std::shared_ptr<const ScoreTerm> alibi_2d(const Alibi2d& options,
                                          std::span<const std::int64_t> positions);

}  // namespace sextant

// Which positions of which sequence the rows of a batch are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sextant/layers/pass.h"

namespace sextant::layers {

// Rows [row, row + count): the positions from `position` on in a sequence of `length` tokens.
struct SequencePiece {
  std::int64_t length, position, row, count;
};

// Returns the pieces of a packed batch, or of its local rows (empty: all). segments [sequences +
// 1], from 0 on.
inline std::vector<SequencePiece> sequence_pieces(std::span<const std::int64_t> segments,
                                                  std::span<const RowRange> rows) {
  const RowRange all{0, segments.back()};
  if (rows.empty()) rows = std::span(&all, 1);
  std::vector<SequencePiece> pieces;
  std::int64_t row = 0;
  for (const RowRange& range : rows) {
    const std::int64_t end = range.first + range.count;
    for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
      const std::int64_t from = std::max(range.first, segments[s]),
                         to = std::min(end, segments[s + 1]);
      if (from >= to) continue;
      pieces.push_back({segments[s + 1] - segments[s], from - segments[s], row, to - from});
      row += to - from;
    }
  }
  return pieces;
}

}  // namespace sextant::layers

// Indices of a part become those of the whole.
#include "ranks/attention/shifted_term.h"

namespace sextant::ranks {

void TermPlace::move(ScoreRect& rect) const noexcept {
  rect.sequence = rect.sequence * segments + segment;
  rect.key_begin += key_begin;
  rect.head += head;
  rect.first_query += query;
  rect.first_key += key;
  rect.offset += key - query;
  if (!gives_ids) rect.query_positions = rect.key_positions = nullptr;
}

void RowShift::add(const ScoreTile<float>& tile) const noexcept {
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const float shift = of_rows_(tile.batch, tile.head, tile.first_query + i);
    for (std::int64_t j = 0; j < tile.keys; ++j) tile.add(i, j, shift);
  }
}

}  // namespace sextant::ranks

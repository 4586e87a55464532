// Indices of a part become those of the whole.
#include "ranks/attention/shifted_content.h"

namespace sextant::ranks {

ContentTerm::Row ShiftedContent::moved(Row row) const noexcept {
  row.head += place_.head;
  row.query += place_.query;
  row.begin += place_.begin;
  return row;
}

ContentTerm::Tile ShiftedContent::moved(Tile tile) const noexcept {
  tile.head += place_.head;
  tile.first_query += place_.query;
  tile.begin += place_.begin;
  return tile;
}

}  // namespace sextant::ranks

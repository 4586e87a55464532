// The tokens of a call with decomposed relative positions: where queries and keys are in the image,
// and the walk over a tile of their pairs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schemes/content/decomposed_axis.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

class DecomposedTokens {
 public:
  // ids: of the queries; a patch is at row id / columns.queries(), or -1 is outside the image. Keys
  // are the same tokens, or, where one side is pooled, as many tokens outside as the ids begin
  // with, then all patches of the keys' grid.
  DecomposedTokens(const DecomposedAxis& rows, const DecomposedAxis& columns,
                   std::span<const std::int64_t> ids);

  // Whether queries and keys are different tokens.
  bool are_pooled() const noexcept { return is_pooled_; }
  // Throws Error for a call with queries or keys beyond the tokens.
  void check(const CallExtents& call) const;

  // piece(i, j, keys, row, column): query i and keys j, j + 1, ... of one row of the image have
  // offsets row, and column, column + 1, ...; pairs with a token outside the image are left out.
  template <class Piece>
  void for_each_piece(const ScoreRect& tile, const Piece& piece) const noexcept {
    const auto queries = static_cast<std::int64_t>(queries_.size());
    const auto tokens = static_cast<std::int64_t>(keys_.size());
    const std::int64_t width = key_columns_, end = std::min(tile.keys, tokens - tile.first_key);
    const std::int64_t* ids = keys_.data() + tile.first_key;
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      // Queries that are other tokens than the keys have no diagonal key.
      const std::int64_t token = is_pooled_ ? tile.first_query + i : tile.diagonal_key(i);
      if (token < 0 || token >= queries) continue;  // no visible keys
      const Origin query = queries_[static_cast<std::size_t>(token)];
      if (query.row < 0) continue;
      for (std::int64_t j = 0, next = 0; j < end; j = next) {
        const std::int64_t key = ids[j], row_end = (key / width + 1) * width;
        next = j + 1;
        if (key < 0) continue;
        while (next < end && ids[next] == ids[next - 1] + 1 && ids[next] < row_end) ++next;
        piece(i, j, next - j, query.row + key / width, query.column + key % width);
      }
    }
  }

 private:
  // The offsets of the key in the first row and column; row -1: the query is outside the image.
  struct Origin {
    std::int64_t row, column;
  };

  std::vector<Origin> queries_;
  std::vector<std::int64_t> keys_;  // ids
  std::int64_t key_rows_, key_columns_;
  bool is_pooled_;
};

}  // namespace sextant::schemes_detail

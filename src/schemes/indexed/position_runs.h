// The ids of a sequence's tokens as runs of consecutive ones, and the walk over a tile of pairs
// that terms by position share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/schemes/scheme.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

inline constexpr float kHiddenScore = -std::numeric_limits<float>::infinity();

class PositionRuns {
 public:
  // Throws Error("scheme.positions") unless all are within +-2^53.
  PositionRuns(std::string_view scheme, std::span<const std::int64_t> ids);

  std::string_view scheme() const noexcept { return scheme_; }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(ids_.size()); }
  // Return the id of a token 0 .. size() - 1, and the first token after it whose id is not the next
  // one.
  std::int64_t id(std::int64_t token) const noexcept {
    return ids_[static_cast<std::size_t>(token)];
  }
  std::int64_t run_end(std::int64_t token) const noexcept {
    return run_ends_[static_cast<std::size_t>(token)];
  }
  std::int64_t min() const noexcept { return min_; }  // 0 without tokens
  std::int64_t max() const noexcept { return max_; }

  // Throws Error("scheme.positions") if a call without its own ids has a query that sees keys, or a
  // visible key, beyond the list.
  void check(const CallExtents& call) const;
  // Throws Error("scheme") unless a call has the heads that a bias was made for.
  void check_heads(const CallExtents& call, std::int64_t heads) const;

 private:
  std::string scheme_;
  std::vector<std::int64_t> ids_, run_ends_;
  std::int64_t min_ = 0, max_ = 0;
};

// Throws Error("scheme.list") unless a list with this number of tokens has one for every query that
// sees keys, and every visible key.
void check_tokens(std::string_view scheme, std::string_view list, std::int64_t tokens,
                  const CallExtents& call);

// Cuts a tile into runs of keys with consecutive ids: run(query_id, key_id, at, keys) for the pairs
// of a query of that id with keys of ids key_id, key_id + 1, ..., which are elements at .. at +
// keys - 1 of an array with this row stride; hide(at, keys) for pairs without ids, beyond the list,
// which nobody sees in a call that passed check().
// The ids of the tile, if any, replace the list.
template <class Run, class Hide>
void for_each_run(const PositionRuns& ids, const ScoreRect& tile, std::int64_t row_stride, Run run,
                  Hide hide) noexcept {
  if (tile.key_positions != nullptr && tile.query_positions != nullptr) {
    const std::int64_t* key_ids = tile.key_positions;
    for (std::int64_t row = 0; row < tile.queries; ++row) {
      for (std::int64_t key = 0, end = 0; key < tile.keys; key = end) {
        for (end = key + 1; end < tile.keys && key_ids[end] == key_ids[end - 1] + 1;) ++end;
        run(tile.query_positions[row], key_ids[key], row * row_stride + key, end - key);
      }
    }
    return;
  }
  const std::int64_t end = tile.first_key + tile.keys;
  const std::int64_t inside = std::clamp(ids.size(), tile.first_key, end);
  for (std::int64_t row = 0; row < tile.queries; ++row) {
    const std::int64_t query = tile.first_query + row + tile.offset;
    const std::int64_t row_at = row * row_stride - tile.first_key;
    std::int64_t key = tile.first_key;
    if (query >= 0 && query < ids.size()) {
      while (key < inside) {
        const std::int64_t run_end = std::min(ids.run_end(key), inside);
        run(ids.id(query), ids.id(key), row_at + key, run_end - key);
        key = run_end;
      }
    }
    if (key < end) hide(row_at + key, end - key);
  }
}

}  // namespace sextant::schemes_detail

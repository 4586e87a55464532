// Where queries and keys are in the image.
#include "schemes/content/decomposed_tokens.h"

#include <string>

#include "schemes/indexed/position_runs.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {

DecomposedTokens::DecomposedTokens(const DecomposedAxis& rows, const DecomposedAxis& columns,
                                   std::span<const std::int64_t> ids)
    : keys_(ids.begin(), ids.end()),
      key_rows_(rows.keys()),
      key_columns_(columns.keys()),
      is_pooled_(rows.queries() != rows.keys()) {
  const std::int64_t width = columns.queries();
  for (const std::int64_t id : ids) {
    const bool inside = id >= 0;
    queries_.push_back(inside ? Origin{rows.origin(id / width), columns.origin(id % width)}
                              : Origin{-1, -1});
  }
  if (!is_pooled_) return;
  keys_.erase(std::ranges::find_if(keys_, [](std::int64_t id) { return id >= 0; }), keys_.end());
  for (std::int64_t id = 0; id < key_rows_ * key_columns_; ++id) keys_.push_back(id);
}

void DecomposedTokens::check(const CallExtents& call) const {
  const auto queries = static_cast<std::int64_t>(queries_.size());
  const auto keys = static_cast<std::int64_t>(keys_.size());
  if (!is_pooled_) return check_tokens(kDecomposed, "positions", queries, call);
  const std::int64_t patches = key_rows_ * key_columns_;
  for (const SequenceExtents& at : call.sequences) {
    if (at.seeing_queries.is_empty()) continue;
    if (at.q_len > queries) {
      throw Error(std::string(kDecomposed) + ".positions",
                  "must have one for each of the " + std::to_string(at.q_len) +
                      " queries of the call, got " + std::to_string(queries));
    }
    if (at.k_len > keys) {
      throw Error(kDecomposed, "must have a token for each of the " + std::to_string(at.k_len) +
                                   " keys of the call, got " + std::to_string(key_rows_) + " x " +
                                   std::to_string(key_columns_) + " patches and " +
                                   std::to_string(keys - patches) + " outside the image");
    }
  }
}

}  // namespace sextant::schemes_detail

// The ids of a sequence's tokens as runs of consecutive ones.
#include "schemes/indexed/position_runs.h"

#include <string>

#include "core/numbers/max_position.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {

PositionRuns::PositionRuns(std::string_view scheme, std::span<const std::int64_t> ids)
    : scheme_(scheme), ids_(ids.begin(), ids.end()), run_ends_(ids.size()) {
  if (ids_.empty()) return;
  const auto [min, max] = std::minmax_element(ids_.begin(), ids_.end());
  min_ = *min;
  max_ = *max;
  if (min_ < -kMaxPosition || max_ > kMaxPosition) {
    throw Error(
        std::string(scheme) + ".positions",
        "must be within -2^53 .. 2^53, got " + std::to_string(min_ < -kMaxPosition ? min_ : max_));
  }
  std::int64_t end = size();
  for (std::int64_t token = size() - 1; token >= 0; --token) {
    if (token + 1 < size() && id(token + 1) != id(token) + 1) end = token + 1;
    run_ends_[static_cast<std::size_t>(token)] = end;
  }
}

void check_tokens(std::string_view scheme, std::string_view list, std::int64_t tokens,
                  const CallExtents& call) {
  for (const SequenceExtents& at : call.sequences) {
    if (at.seeing_queries.is_empty()) continue;
    const std::int64_t first = std::min<std::int64_t>(at.seeing_queries.first, 0);
    const std::int64_t last = std::max(at.seeing_queries.last, at.visible_keys.last);
    if (first == 0 && last < tokens) continue;
    throw Error(std::string(scheme) + "." + std::string(list),
                "must have one for each of the tokens " + std::to_string(first) + " .. " +
                    std::to_string(last) + " of the call, got " + std::to_string(tokens));
  }
}

void PositionRuns::check(const CallExtents& call) const {
  if (!call.by_ids) check_tokens(scheme_, "positions", size(), call);
}

void PositionRuns::check_heads(const CallExtents& call, std::int64_t heads) const {
  if (call.heads == heads) return;
  throw Error(scheme_, "must be made for the call's heads, " + std::to_string(call.heads) +
                           ", got " + std::to_string(heads));
}

}  // namespace sextant::schemes_detail

// The ids of a sequence's tokens as runs of consecutive ones.
#include "schemes/indexed/position_runs.h"

#include <string>

#include "core/max_position.h"
#include "schemes/ids/grid.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {

PositionRuns::PositionRuns(std::string_view scheme, std::span<const std::int64_t> ids)
    : ids_(ids.begin(), ids.end()), run_ends_(ids.size()) {
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

PositionRuns runs_of(std::string_view scheme, const SchemeRequest& request) {
  check_one_id(request, scheme);
  return PositionRuns(scheme, request.positions);
}

}  // namespace sextant::schemes_detail

// The ids of one axis that occur: grids repeat them, so work is done once for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/sines/sine_table.h"

namespace sextant {

struct DistinctIds {
  std::vector<std::int64_t> list;  // sorted; empty if all from `first` on are included
  std::int64_t first = 0;
  std::int64_t count = 0;

  // Ids within +-2^53, in any order.
  explicit DistinctIds(std::vector<std::int64_t> ids) {
    if (ids.empty()) return;
    const auto [min, max] = std::minmax_element(ids.begin(), ids.end());
    first = *min;
    count = *max - *min + 1;
    // A few more than there are rows cost less than looking each one up.
    if (count <= static_cast<std::int64_t>(ids.size()) + 64) return;
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    list = std::move(ids);
    count = static_cast<std::int64_t>(list.size());
  }
  DistinctIds() = default;

  std::int64_t operator[](std::int64_t index) const {
    return list.empty() ? first + index : list[static_cast<std::size_t>(index)];
  }
  std::int64_t index_of(std::int64_t id) const {
    if (list.empty()) return id - first;
    return std::lower_bound(list.begin(), list.end(), id) - list.begin();
  }
  kernels::Positions positions() const {
    return list.empty() ? kernels::Positions{first, count, nullptr}
                        : kernels::Positions{0, count, list.data()};
  }
};

}  // namespace sextant

// Which parts of a block of scores are visible: rectangles of keys and groups of queries, so that
// hidden parts cost nothing and hiding is done only along edges.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention/geometry.h"

namespace sextant::kernels {

inline constexpr std::int64_t kGroups = kQueryBlock / kQueryGroup;  // of a block of lanes

// A rectangle of a block of scores: keys [first_key, end_key) of some groups of lanes, at least
// partly visible.
struct VisibleRect {
  std::int64_t first_key, end_key;
  std::int64_t first_group, groups;
  bool needs_mask;  // some pairs in it are hidden
};

// At most: every group's first and last key cuts, and the keys that all see.
struct VisibleRects {
  VisibleRect at[2 * kGroups + 3];
  int count = 0;
  const VisibleRect* begin() const { return at; }
  const VisibleRect* end() const { return at + count; }
};

// The keys that any query of each group of lanes sees, and those that all of them see.
struct GroupRanges {
  std::int64_t count;
  std::int64_t begin[kGroups], end[kGroups], begin_of_all[kGroups], end_of_all[kGroups];
};

inline GroupRanges group_ranges(const std::int32_t* key_begin, const std::int32_t* key_end,
                                std::int64_t queries) {
  GroupRanges r{};
  r.count = (queries + kQueryGroup - 1) / kQueryGroup;
  for (std::int64_t g = 0; g < r.count; ++g) {
    const std::int64_t begin = g * kQueryGroup;
    const std::int64_t end = std::min(begin + kQueryGroup, queries);
    r.begin[g] = key_begin[begin];
    r.begin_of_all[g] = key_begin[end - 1];
    r.end_of_all[g] = key_end[begin];
    r.end[g] = key_end[end - 1];
  }
  return r;
}

// Cuts the visible part of keys [begin, end) into rectangles, keys ascending.
inline VisibleRects split_visible(const GroupRanges& r, std::int64_t begin, std::int64_t end) {
  std::int64_t cuts[2 * kGroups + 4];
  int count = 0;
  const auto add = [&](std::int64_t key) { cuts[count++] = std::clamp(key, begin, end); };
  add(begin);
  add(end);
  for (std::int64_t g = 0; g < r.count; ++g) {
    add(r.begin[g]);
    add(r.end[g]);
  }
  // The keys that every query sees, without incomplete groups: the part without edges.
  const std::int64_t inner_first =
      (r.begin_of_all[r.count - 1] + kQueryGroup - 1) / kQueryGroup * kQueryGroup;
  const std::int64_t inner_last = r.end_of_all[0] / kQueryGroup * kQueryGroup;
  if (inner_first < inner_last) {
    add(inner_first);
    add(inner_last);
  }
  std::sort(cuts, cuts + count);

  VisibleRects rects;
  for (int i = 0; i + 1 < count; ++i) {
    const std::int64_t from = cuts[i], to = cuts[i + 1];
    if (from == to) continue;
    // First and last keys ascend with the groups, so those that see some key here are neighbours.
    std::int64_t group = 0, end_group = r.count;
    while (group < end_group && r.end[group] <= from) ++group;
    while (group < end_group && r.begin[end_group - 1] >= to) --end_group;
    if (group == end_group) continue;
    const bool needs_mask = from < r.begin_of_all[end_group - 1] || to > r.end_of_all[group];
    rects.at[rects.count++] = {from, to, group, end_group - group, needs_mask};
  }
  return rects;
}

// The same with one rectangle in place of neighbours that have the same lanes.
inline VisibleRects joined(const VisibleRects& rects) {
  VisibleRects all;
  for (const VisibleRect& rect : rects) {
    VisibleRect* before = all.count == 0 ? nullptr : &all.at[all.count - 1];
    if (before != nullptr && before->end_key == rect.first_key &&
        before->first_group == rect.first_group && before->groups == rect.groups) {
      before->end_key = rect.end_key;
      before->needs_mask |= rect.needs_mask;
    } else {
      all.at[all.count++] = rect;
    }
  }
  return all;
}

// The limits of 64 lanes: those of `queries` numbers; lanes without a query have that of the last
// one.
inline void fill_lanes(const std::int32_t* numbers, std::int64_t queries, std::int32_t* lanes) {
  std::copy_n(numbers, queries, lanes);
  std::fill_n(lanes + queries, kQueryBlock - queries, numbers[queries - 1]);
}

}  // namespace sextant::kernels

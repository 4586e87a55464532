// Which parts of a block of scores are visible: rectangles of keys and groups of queries, so that
// hidden parts cost nothing and hiding is done only along edges.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention/geometry.h"

namespace sextant::kernels {

inline constexpr std::int64_t kGroups = kQueryBlock / kQueryGroup;  // of a block of lanes

// A rectangle of a block of scores: keys [first_key, last_key) of some groups of lanes, at least
// partly visible.
struct Piece {
  std::int64_t first_key, last_key;
  std::int64_t first_group, groups;
  bool edge;  // some pairs in it are hidden
};

// At most: every group's first and last key cuts, and the keys that all see.
struct Pieces {
  Piece at[2 * kGroups + 3];
  int count = 0;
  const Piece* begin() const { return at; }
  const Piece* end() const { return at + count; }
};

// The keys that any query of each group of lanes sees, and those that all of them see.
struct GroupRanges {
  std::int64_t count;
  std::int64_t first[kGroups], last[kGroups], first_of_all[kGroups], last_of_all[kGroups];
};

inline GroupRanges group_ranges(const std::int32_t* first, const std::int32_t* last,
                                std::int64_t queries) {
  GroupRanges r{};
  r.count = (queries + kQueryGroup - 1) / kQueryGroup;
  for (std::int64_t g = 0; g < r.count; ++g) {
    const std::int64_t begin = g * kQueryGroup;
    const std::int64_t end = std::min(begin + kQueryGroup, queries);
    r.first[g] = first[begin];
    r.first_of_all[g] = first[end - 1];
    r.last_of_all[g] = last[begin];
    r.last[g] = last[end - 1];
  }
  return r;
}

// Cuts the visible part of keys [begin, end) into pieces, keys ascending.
inline Pieces cut(const GroupRanges& r, std::int64_t begin, std::int64_t end) {
  std::int64_t cuts[2 * kGroups + 4];
  int count = 0;
  const auto add = [&](std::int64_t key) { cuts[count++] = std::clamp(key, begin, end); };
  add(begin);
  add(end);
  for (std::int64_t g = 0; g < r.count; ++g) {
    add(r.first[g]);
    add(r.last[g]);
  }
  // The keys that every query sees, less what does not fill a group: the part without edges.
  const std::int64_t inner_first =
      (r.first_of_all[r.count - 1] + kQueryGroup - 1) / kQueryGroup * kQueryGroup;
  const std::int64_t inner_last = r.last_of_all[0] / kQueryGroup * kQueryGroup;
  if (inner_first < inner_last) {
    add(inner_first);
    add(inner_last);
  }
  std::sort(cuts, cuts + count);

  Pieces pieces;
  for (int i = 0; i + 1 < count; ++i) {
    const std::int64_t from = cuts[i], to = cuts[i + 1];
    if (from == to) continue;
    // First and last keys ascend with the groups, so those that see some key here are neighbours.
    std::int64_t first = 0, last = r.count;
    while (first < last && r.last[first] <= from) ++first;
    while (first < last && r.first[last - 1] >= to) --last;
    if (first == last) continue;
    const bool edge = from < r.first_of_all[last - 1] || to > r.last_of_all[first];
    pieces.at[pieces.count++] = {from, to, first, last - first, edge};
  }
  return pieces;
}

// The same with one piece in place of neighbours that have the same lanes.
inline Pieces joined(const Pieces& pieces) {
  Pieces all;
  for (const Piece& piece : pieces) {
    Piece* before = all.count == 0 ? nullptr : &all.at[all.count - 1];
    if (before != nullptr && before->last_key == piece.first_key &&
        before->first_group == piece.first_group && before->groups == piece.groups) {
      before->last_key = piece.last_key;
      before->edge |= piece.edge;
    } else {
      all.at[all.count++] = piece;
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

#include "attention/call/position_ranges.h"

#include <algorithm>

namespace sextant::attention_detail {
namespace {

// Adds the ranges of a sequence with position ids.
void add_ranges_by_ids(const AttentionCall& a, const Sequence& at, PositionRanges& ranges) {
  const std::int64_t* queries = a.query_ids.at(at.batch, at.q_begin);
  const std::int64_t* keys = a.key_ids.at(at.batch, at.k_begin);
  const PositionRange of_queries = range_of(queries, at.q_len);
  ranges.queries.add(of_queries.min, of_queries.max);
  if (at.k_len == 0) return;
  const PositionRange of_keys = range_of(keys, at.k_len);
  ranges.keys.add(of_keys.min, of_keys.max);
  if (!a.has_bias_table()) return;
  SlidingRange window(keys, at.k_len);
  for (std::int64_t i = 0; i < at.q_len; ++i) {
    const KeyRange range = a.visible(at, i);
    if (range.begin == range.end) continue;
    const PositionRange span = window.of(range.begin, range.end);
    ranges.distances.add(span.min - queries[i], span.max - queries[i]);
  }
}

}  // namespace

PositionRanges position_ranges(const AttentionCall& a) {
  PositionRanges ranges;
  const std::int64_t sequences = a.distinct_sequences();
  for (std::int64_t n = 0; n < sequences; ++n) {
    const Sequence at = a.sequence(n);
    if (at.q_len == 0) continue;
    if (a.by_ids) {
      add_ranges_by_ids(a, at, ranges);
      continue;
    }
    // Queries are rotated also where they have no keys.
    ranges.queries.add(a.diagonal_key(at, 0), a.diagonal_key(at, at.q_len - 1));
    if (at.k_len == 0) continue;
    ranges.keys.add(0, at.k_len - 1);
    // Each row sees an interval of distances, one further left than the row before it, so that the
    // union is an interval too.
    const std::int64_t first = std::max(-a.diagonal_key(at, at.q_len - 1), -a.left);
    const std::int64_t last = std::min(at.k_len - 1 - a.diagonal_key(at, 0), a.right_limit());
    if (first <= last) ranges.distances.add(first, last);
  }
  return ranges;
}

}  // namespace sextant::attention_detail

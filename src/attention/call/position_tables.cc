#include "attention/call/position_tables.h"

#include <algorithm>
#include <string>

#include "attention/call/refuse.h"

namespace sextant::attention_detail {
namespace {

// Adds the ranges of a sequence with position ids.
void add_ranges_by_ids(const AttentionCall& a, const Sequence& at, PositionRanges& ranges) {
  const std::int64_t* queries = a.query_ids.at(at.batch, at.q_begin);
  const std::int64_t* keys = a.key_ids.at(at.k_batch, at.k_begin);
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

// One of a rotation's tables against the heads and positions that it is for.
void check_table(std::string_view function, std::string_view argument,
                 const RotationTable<float>& table, std::int64_t heads, std::int64_t head_dim,
                 const PositionRange& positions, bool by_ids) {
  const Shape& shape = table.cos.shape();
  const int rank = shape.rank();
  if ((rank != 2 && rank != 3) || !(shape == table.sin.shape())) {
    refuse(function, argument,
           "must have cos and sin of one shape [positions, pairs] or [heads, positions, pairs], "
           "got " +
               shape.to_string() + " and " + table.sin.shape().to_string());
  }
  if (rank == 3 && shape[0] != heads) {
    refuse(function, argument,
           "must be for " + std::to_string(heads) + " heads, got " + shape.to_string());
  }
  const std::int64_t span = 2 * shape[rank - 1];
  if (table.first_channel < 0 || table.first_channel > head_dim - span) {
    refuse(function, argument,
           "must rotate channels of the " + std::to_string(head_dim) + " a head has, got " +
               std::to_string(span) + " from channel " + std::to_string(table.first_channel));
  }
  const std::int64_t rows = shape[rank - 2];
  if (!table.positions.empty() && std::ssize(table.positions) != rows) {
    refuse(function, argument,
           "must have one position for each of its " + std::to_string(rows) + " rows, got " +
               std::to_string(table.positions.size()));
  }
  if (positions.is_empty() || (by_ids && !table.positions.empty())) return;
  const std::int64_t first = by_ids ? table.first_position : 0;
  if (positions.min < first || positions.max - first >= rows) {
    refuse(function, argument,
           "must have a row for each of the positions " +
               std::to_string(std::min(positions.min, first)) + " .. " +
               std::to_string(positions.max) + ", got " + std::to_string(rows) +
               " rows from position " + std::to_string(first));
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

void check_bias(std::string_view function, const AttentionCall& a, const PositionRange& distances) {
  const Tensor<float>& values = a.bias->values;
  if (values.rank() != 2 || (values.size(0) != 1 && values.size(0) != a.heads_q)) {
    refuse(function, "bias",
           "must be [1 or " + std::to_string(a.heads_q) + ", distances], got " +
               values.shape().to_string());
  }
  if (distances.is_empty()) return;
  const std::int64_t origin = a.bias->origin;
  if (origin < -PositionRange::kUnlimited || origin > PositionRange::kUnlimited ||
      distances.min + origin < 0 || distances.max + origin >= values.size(1)) {
    refuse(function, "bias",
           "must hold the distances " + std::to_string(distances.min) + " .. " +
               std::to_string(distances.max) + ", got " + values.shape().to_string() +
               " with origin " + std::to_string(origin));
  }
}

void check_rotation(std::string_view function, const AttentionCall& a,
                    const PositionRanges& ranges) {
  const RotationTable<float>& table = *a.rotation;
  if (table.keys) {
    check_table(function, "rotation", table, a.heads_q, a.head_dim, ranges.queries, a.by_ids);
    check_table(function, "rotation.keys", *table.keys, a.kv_heads, a.head_dim, ranges.keys,
                a.by_ids);
    return;
  }
  if (table.cos.rank() == 3 && a.heads_q != a.kv_heads) {
    refuse(
        function, "rotation",
        "must have a table of keys where it is by head and k has fewer heads than q, got heads " +
            std::to_string(a.kv_heads) + " and " + std::to_string(a.heads_q));
  }
  PositionRange both = ranges.queries;
  if (!ranges.keys.is_empty()) both.add(ranges.keys.min, ranges.keys.max);
  check_table(function, "rotation", table, a.heads_q, a.head_dim, both, a.by_ids);
}

}  // namespace sextant::attention_detail

#include "attention/call/extents.h"

#include <algorithm>

namespace sextant::attention_detail {
namespace {

IndexRange extremes(const std::int64_t* ids, std::int64_t count) {
  const PositionRange range = range_of(ids, count);
  return {range.min, range.max};
}

SequenceExtents extents_of(const AttentionCall& a, const Sequence& at) {
  SequenceExtents extents{
      .batch = at.k_batch,
      .first_key = at.k_begin,
      .q_len = at.q_len,
      .k_len = at.k_len,
      .diagonal_keys = {a.diagonal_key(at, 0), a.diagonal_key(at, at.q_len - 1)}};
  // A query at d sees keys d - left .. d + right: each query's keys begin and end one later than
  // those of the query before, so the visible keys have no gaps.
  const IndexRange seeing{std::max(extents.diagonal_keys.first, -a.right_limit()),
                          std::min(extents.diagonal_keys.last, at.k_len - 1 + a.left)};
  if (at.k_len == 0 || seeing.is_empty()) return extents;
  extents.seeing_queries = seeing;
  extents.visible_keys = {std::max<std::int64_t>(seeing.first - a.left, 0),
                          std::min(at.k_len - 1, seeing.last + a.right_limit())};
  if (!a.by_ids) return extents;
  const std::int64_t first_query = seeing.first - at.offset, first_key = extents.visible_keys.first;
  extents.query_ids =
      extremes(a.query_ids.at(at.batch, at.q_begin + first_query), seeing.last - seeing.first + 1);
  extents.key_ids = extremes(a.key_ids.at(at.k_batch, at.k_begin + first_key),
                             extents.visible_keys.last - first_key + 1);
  return extents;
}

}  // namespace

Extents::Extents(const AttentionCall& a, std::int64_t v_dim) {
  call_ = {.batch = a.key_batch(),
           .heads = a.heads_q,
           .head_dim = a.head_dim,
           .v_dim = v_dim,
           .by_ids = a.by_ids,
           .packed = a.packs_keys()};
  const std::int64_t count = a.distinct_sequences();
  for (std::int64_t n = 0; n < count; ++n) {
    const Sequence at = a.sequence(n);
    if (at.q_len == 0) continue;
    const SequenceExtents& one = sequences_.emplace_back(extents_of(a, at));
    const bool ahead = !one.seeing_queries.is_empty() && a.right_limit() > 0 &&
                       one.seeing_queries.first < at.k_len - 1;
    call_.sees_future_keys = call_.sees_future_keys || ahead;
  }
  call_.sequences = sequences_;
}

}  // namespace sextant::attention_detail

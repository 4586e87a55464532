// Holds the sizes and positions of one call of the operator, which a term of the scores checks
// before anything is computed.
#pragma once

#include <cstdint>
#include <span>

namespace sextant {

// Whole numbers first .. last, both included; none if last < first.
struct IndexRange {
  std::int64_t first = 0, last = -1;

  bool is_empty() const noexcept { return last < first; }
};

// One sequence: a batch row, or one of the segments packed into it. Queries and keys count from its
// start; a query has the position of its diagonal key.
struct SequenceExtents {
  std::int64_t batch = 0;             // the batch row
  std::int64_t first_key = 0;         // the first key of the sequence in the batch row
  std::int64_t q_len = 0, k_len = 0;  // without padding
  IndexRange diagonal_keys{};         // positions of all queries; may lie outside the keys
  // The pairs that causal, window and lengths leave: the positions of the queries that see a key,
  // and the keys that some query sees. Both are empty if nothing is visible.
  IndexRange seeing_queries{}, visible_keys{};
  // The smallest and largest position id of those queries and of those keys, in calls with ids.
  IndexRange query_ids{}, key_ids{};
};

struct CallExtents {
  std::int64_t batch = 0, heads = 0, head_dim = 0;
  std::int64_t v_dim = -1;        // -1: the call has no values
  bool by_ids = false;            // queries and keys have position ids
  bool packed = false;            // the batch rows are cut into segments
  bool sees_future_keys = false;  // some query sees a key after its diagonal key
  // All sequences with queries; only those of the first batch row if all rows are like it.
  std::span<const SequenceExtents> sequences{};
};

}  // namespace sextant

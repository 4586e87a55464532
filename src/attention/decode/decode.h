// The fast path for few queries: each key and value is read once for all query heads of its group.
#pragma once

#include <atomic>
#include <cstdint>

#include "attention/call/arguments.h"
#include "attention/forward/fused.h"

namespace sextant::attention_detail {

// Whether a sequence of a call is for this path: by its shape, both give the same bits; without
// dropout, which is for training, and without vectors that are added to values.
inline bool is_decode(const AttentionCall& call, const Sequence& at) {
  // Measured (Zen 5): with 1024 keys 1.5 times the forward kernel's speed at 8 queries, the same at
  // 12, because its vectors hold 16 queries; with 16 keys the same at 8.
  constexpr std::int64_t kMaxQueries = 8;
  return at.q_len <= kMaxQueries && !call.dropout.is_on() && call.value_terms == 0;
}
// Whether all sequences are.
bool is_decode(const AttentionCall& call);

// The same as task_grid() for the sequences of this path.
TaskGrid decode_grid(const AttentionCall& call, const KeyArray& v);

// Computes them all.
void decode_attention(const AttentionCall& call, const KeyArray& v, const AnyOutput& out,
                      const TaskGrid& grid);

// A thread's share of `tasks` tasks: takes one after the other from `next`.
void run_decode_tasks(const AttentionCall& call, const KeyArray& v, const AnyOutput& out,
                      std::int64_t tasks, std::atomic<std::int64_t>& next);

}  // namespace sextant::attention_detail

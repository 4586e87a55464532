// The fast path for few queries: each key and value is read once for all query heads of its group.
#pragma once

#include "attention/call/arguments.h"
#include "attention/forward/fused.h"

namespace sextant::attention_detail {

// Whether a call is for this path: by its shape, both give the same bits; without dropout, which is
// for training.
inline bool is_decode(const AttentionCall& call) {
  // Measured (Zen 5): with 1024 keys 1.5 times the forward kernel's speed at 8 queries, the same at
  // 12, because its vectors hold 16 queries; with 16 keys the same at 8.
  constexpr std::int64_t kMaxQueries = 8;
  return call.q_len <= kMaxQueries && !call.dropout.is_on();
}

// The same as task_grid() for the other path.
TaskGrid decode_grid(const AttentionCall& call, const AnyView& v);

void decode_attention(const AttentionCall& call, const AnyView& v, const AnyOutput& out,
                      const TaskGrid& grid);

}  // namespace sextant::attention_detail

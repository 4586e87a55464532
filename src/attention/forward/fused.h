// The fast path: float32 and 16-bit calls, cut into tasks for the kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attention/call/arguments.h"
#include "kernels/attention/geometry.h"

namespace sextant::attention_detail {

// The largest number of vectors that the forward kernel adds to values: it has a sum for each.
inline constexpr std::int64_t kMaxValueVectors = 512;

// Whether the kernel can add what terms add to values: nothing, or the vectors of one of them.
inline bool values_fit(const AttentionCall& a) {
  if (a.value_terms != 1) return a.value_terms == 0;
  const std::int64_t count = a.value_term->value_vectors(0).count;
  return count > 0 && count <= kMaxValueVectors;
}

// Whether all terms come in float32: in tiles, which are added to biases, or that of the logits in
// whole rows.
inline bool terms_come_in_float32(const AttentionCall& a) {
  const auto fits = [](const TermUse& use) { return use.needs.tiles == TermTiles::any; };
  return std::ranges::all_of(a.bias_terms, fits) && values_fit(a) &&
         a.logit_term.needs.tiles != TermTiles::float64;
}

// Whether the fast kernels take a call: they number keys in 32 bits, and terms must come in
// float32.
inline bool takes_fused_path(const AttentionCall& call) {
  constexpr std::int64_t kMaxKeys =
      std::numeric_limits<std::int32_t>::max() - kernels::kTaskQueries;
  return call.q.dtype() != DType::float64 && call.k_len <= kMaxKeys && terms_come_in_float32(call);
}

// The tasks of a call, known before anything is computed; attention_plan() reports them.
struct TaskGrid {
  std::int64_t block_queries = 0;  // queries per task
  std::int64_t tasks = 0;
  std::int64_t decode_tasks = 0;    // after them, of sequences for the decode kernel
  std::int64_t chunk = 1;           // tasks that a thread takes at once
  int workers = 0;                  // threads that will be used
  bool in_stages = false;           // all threads at each task, else one thread per task
  std::int64_t scratch_floats = 0;  // of each, at most
  std::int64_t shared_floats = 0;   // of all together: keys that are rotated once for several tasks
};

TaskGrid task_grid(const AttentionCall& call, const KeyArray& v);

void fused_attention(const AttentionCall& call, const KeyArray& v, const AnyOutput& out);

}  // namespace sextant::attention_detail

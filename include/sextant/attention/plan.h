// Describes a call of the operator without running it: kernel, tiles, threads, scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"

namespace sextant {

struct AttentionPlan {
  // "queries in lanes"; "keys in lanes" for few queries; "plain rows" for float64.
  std::string kernel;
  std::string arithmetic;      // "float32" or "float64"; of products, "AMX bfloat16" or the like
  std::string target;          // the instruction set: "AVX3", ...; "" for plain rows
  std::int64_t tile_rows = 0;  // rows of the register tile: keys or channels
  // Its lanes: queries (rows and lanes are swapped for "keys in lanes"); 0 for plain rows.
  std::int64_t tile_lanes = 0;
  std::int64_t key_block = 0;    // keys per block of scores
  std::int64_t query_block = 0;  // queries per task
  std::int64_t tasks = 0;
  int threads = 0;  // threads in use; fewer than allowed if there are fewer tasks
  std::int64_t scratch_bytes =
      0;  // bytes of all threads together, without the output; kept for later calls
  std::vector<std::string> notes;  // reasons why the call is slower than it could be

  std::string explain() const;  // returns a few lines of text
};

// Returns the plan of attention(q, k, v, ..., options). Throws Error as attention() does.
template <AttentionElement T>
AttentionPlan attention_plan(View<const T> q, std::type_identity_t<View<const T>> k,
                             std::type_identity_t<View<const T>> v,
                             const AttentionOptions<std::type_identity_t<T>>& options = {});

// Returns the same for tensors.
template <AttentionElement T>
AttentionPlan attention_plan(const Tensor<T>& q, std::type_identity_t<View<const T>> k,
                             std::type_identity_t<View<const T>> v,
                             const AttentionOptions<std::type_identity_t<T>>& options = {}) {
  return attention_plan<T>(q.view(), k, v, options);
}

}  // namespace sextant

// What a call of the operator will do, before it does it: kernel, tiles, threads, scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"

namespace sextant {

struct AttentionPlan {
  // "queries in lanes"; "keys in lanes" for few queries; "plain rows" for float64.
  std::string kernel;
  std::string arithmetic;        // "float32" or "float64"
  std::string target;            // the instruction set: "AVX3", ...; "" for plain rows
  std::int64_t tile_rows = 0;    // of the register tile: keys or channels ...
  std::int64_t tile_lanes = 0;   // ... times queries (or the other way round, keys in lanes); 0 for
                                 // plain rows
  std::int64_t key_block = 0;    // keys per block of scores
  std::int64_t query_block = 0;  // queries per task
  std::int64_t tasks = 0;
  int threads = 0;  // used; fewer than allowed when there are fewer tasks
  std::int64_t scratch_bytes =
      0;  // of all threads together, beside the output; kept for later calls
  std::vector<std::string> notes;  // what makes the call slower than it could be, and why

  std::string explain() const;  // a few lines of text
};

// The plan of attention(q, k, v, ..., options). Throws Error as attention() does.
template <AttentionElement T>
AttentionPlan attention_plan(View<const T> q, std::type_identity_t<View<const T>> k,
                             std::type_identity_t<View<const T>> v,
                             const AttentionOptions<std::type_identity_t<T>>& options = {});

// The same for tensors.
template <AttentionElement T>
AttentionPlan attention_plan(const Tensor<T>& q, std::type_identity_t<View<const T>> k,
                             std::type_identity_t<View<const T>> v,
                             const AttentionOptions<std::type_identity_t<T>>& options = {}) {
  return attention_plan<T>(q.view(), k, v, options);
}

}  // namespace sextant

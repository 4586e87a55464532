// The calls of dual chunk attention: each chunk of queries with three ranges of keys.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sextant/attention/dual_chunk.h"

namespace sextant::attention_detail {

inline constexpr int kChunkParts = 3;  // the same chunk, the one before, others

// Queries of a batch row with a range of keys. Without keys nothing is to be computed.
struct ChunkPart {
  int number = 0;  // 0 .. kChunkParts - 1
  std::int64_t batch = 0, first_query = 0, queries = 0, first_key = 0, keys = 0;
  Tensor<std::int64_t> query_ids{}, key_ids{};  // [1, queries], [1, keys]; empty for part 0
  std::vector<std::int64_t> offset{};           // of part 0

  // Those queries, or keys, of an array.
  template <class T>
  View<T> of_queries(const View<T>& x) const {
    return x.narrow(0, batch, 1).narrow(2, first_query, queries);
  }
  template <class T>
  View<T> of_keys(const View<T>& x) const {
    return x.narrow(0, batch, 1).narrow(2, first_key, keys);
  }
  // The options of the part, which borrow from it.
  AttentionOptions<float> options(const AttentionOptions<float>& all) const;
};

// Checks the options and calls use(parts) for each chunk of queries of each batch row.
void for_each_chunk(std::string_view function, View<const float> q, View<const float> k,
                    const DualChunk& chunks, const AttentionOptions<float>& options,
                    const std::function<void(const ChunkPart (&)[kChunkParts])>& use);

}  // namespace sextant::attention_detail

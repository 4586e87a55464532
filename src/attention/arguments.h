// A call of the operator after checking: plain sizes, strides and limits, nothing optional left.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sextant/attention/attention.h"

namespace sextant::detail {

// A mask broadcast to [batch, heads_q, q_len, k_len]: axes of size 1 have stride 0.
template <class M>
struct BroadcastMask {
  const M* data = nullptr;  // null: there is none
  std::array<std::int64_t, 4> strides{};
};

// Keys [first, last) that may be visible to a query, before masks and -infinity in biases.
struct KeyRange {
  std::int64_t first;
  std::int64_t last;
};

// The distance biases of one row of scores: key j's is data[j + shift].
struct BiasRow {
  const float* data = nullptr;  // null: there is none
  std::int64_t shift = 0;
};

template <class T>
struct Arguments {
  View<const T> q, k;
  std::int64_t batch = 0, heads_q = 0, heads_k = 0, q_len = 0, k_len = 0, head_dim = 0;
  double scale = 1, softcap = 0;
  bool causal = false;
  // The window; open sides are a number beyond every distance.
  std::int64_t left = 0, right = 0;
  std::int64_t offset = 0;                    // the own key of query 0, unless given per sequence:
  const std::int64_t* offsets = nullptr;      // [batch] or null
  const std::int64_t* key_lengths = nullptr;  // [batch] or null
  BroadcastMask<bool> bool_mask{};
  BroadcastMask<T> float_mask{};
  const DistanceBias* bias = nullptr;

  std::int64_t key_head(std::int64_t head) const noexcept { return head / (heads_q / heads_k); }
  std::int64_t own_key(std::int64_t sequence, std::int64_t query) const noexcept {
    return query + (offsets != nullptr ? offsets[sequence] : offset);
  }
  KeyRange visible(std::int64_t sequence, std::int64_t query) const noexcept;
  BiasRow bias_row(std::int64_t sequence, std::int64_t head, std::int64_t query) const noexcept;
};

// Throws Error("<function>.<argument>", ...) for the first thing that does not fit.
template <class T>
Arguments<T> check_scores(std::string_view function, View<const T> q, View<const T> k,
                          const AttentionOptions<T>& options);

// The rest of what attention() takes, v and out, against arguments that passed check_scores().
template <class T>
void check_values(const Arguments<T>& arguments, View<const T> v, View<T> out);

// Throws Error unless all of `indices` are in [0, size).
void check_indices(std::string_view where, std::span<const std::int64_t> indices,
                   std::int64_t size);

}  // namespace sextant::detail

// The arrays of a call of PaTH attention, block of tokens by block, and what is merged of its
// parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attention/merged/path_block.h"
#include "sextant/attention/path_attention.h"

namespace sextant::attention_detail {

// Throws Error that names `function` for options that PaTH attention does not have, and for w and
// beta that do not fit.
void check_path(std::string_view function, View<const float> q, View<const float> k,
                const PathAttention& path, const AttentionOptions<float>& options);

// Some tokens.
struct PathSpan {
  std::int64_t first, count;

  std::int64_t end() const noexcept { return first + count; }
  template <class T>
  View<T> of(const View<T>& x) const {
    return x.narrow(2, first, count);
  }
};

struct PathCall {
  // The arguments have passed the checks.
  PathCall(View<const float> q, View<const float> k, const PathAttention& path,
           const AttentionOptions<float>& options);

  std::int64_t blocks() const noexcept { return (length + kPathRows - 1) / kPathRows; }
  PathSpan block(std::int64_t number) const noexcept {
    return {number * kPathRows, std::min(kPathRows, length - number * kPathRows)};
  }
  // Queries whose earlier blocks are computed together, as many blocks.
  static constexpr std::int64_t kGroupBlocks = 512 / kPathRows;
  // Rows of the longest group.
  std::int64_t group_rows() const noexcept { return std::min(length, kGroupBlocks * kPathRows); }
  PathSpan group(std::int64_t block) const noexcept;
  // The queries of the group that come after a block.
  PathSpan after(const PathSpan& group, std::int64_t block) const noexcept;

  // The first token of a query head's sequence with infinities or NaN in w, beta or k, or with
  // products beyond float32, or `length`.
  std::int64_t end(std::int64_t b, std::int64_t head) const noexcept {
    return ends[static_cast<std::size_t>(b * kv_heads + head / (heads / kv_heads))];
  }

  // Some rows of one head of an array as below, and the tokens of a block.
  static PathMatrix rows(const View<const float>& x, std::int64_t b, std::int64_t head,
                         const PathSpan& span) noexcept;
  PathTokens tokens(std::int64_t b, std::int64_t kv_head, const PathSpan& span) const noexcept;

  // Carries queries after a block to before it: rows become x + (x W^T) R. Each head's rows are
  // contiguous.
  void carry(std::int64_t block, const View<float>& rows) const;

  // The options of a call with the block's own keys, whose scores are the mask and whose queries
  // are zeros, and of one with the keys of an earlier block.
  AttentionOptions<float> own_options(const PathSpan& span) const;
  AttentionOptions<float> part_options() const;
  View<const float> zeros(std::int64_t heads_of, const PathSpan& span) const {
    return zeros_.view().narrow(1, 0, heads_of).narrow(2, 0, span.count);
  }

  std::int64_t batch, heads, kv_heads, length, dim;
  int threads;
  double scale;
  // The caller's arrays; or copies, in which tokens are zeros from the first with infinities or NaN
  // of their batch row and key head on.
  View<const float> q, k, w;
  Tensor<float> beta;
  std::vector<std::int64_t> ends;
  Tensor<float> moved, reflected;  // of each block, as k
  Tensor<float> carried;           // queries before their block; carry() goes on
  Tensor<float> scores;            // with keys of the same block, [batch, heads, length, kPathRows]

 private:
  void find_ends();
  void zero_from_ends();

  const AttentionOptions<float>& options_;
  Tensor<float> copied_k_, copied_w_;
  Tensor<float> zeros_;  // [batch, heads, kPathRows, 1]
};

// Rows of a group that are merged from parts: sums of out exp(log - most), and of exp(log - most).
class MergedRows {
 public:
  MergedRows(const PathCall& call, std::int64_t v_dim);

  void begin();  // the rows of another group
  // Adds a part, of the rows from `first_row` on: [batch, heads, rows, v_dim], contiguous in each
  // head, and its log-sum-exps.
  void add(std::int64_t first_row, const View<const float>& part, const View<const float>& logs,
           int threads);
  // Writes the rows of a group, divided by their sums, and log-sum-exps, if given.
  void finish(const View<float>& out, const View<float>& log_sum_exps, int threads) const;

  double log_sum_exp(std::int64_t b, std::int64_t head, std::int64_t row) const;

 private:
  Tensor<float> sums_;           // [batch, heads, rows of a group, v_dim]
  Tensor<double> most_, total_;  // [batch, heads, rows of a group]
};

}  // namespace sextant::attention_detail

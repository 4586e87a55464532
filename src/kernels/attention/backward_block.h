// Declares the backward kernel: it adds the terms of up to kBackwardQueries queries of one head to
// every gradient, in one pass over their keys.
#pragma once

#include <cstdint>

#include "kernels/attention/block.h"

namespace sextant::kernels {

inline constexpr int kBackwardQueries = 128;  // queries per task
inline constexpr int kBackwardKeys = 64;      // keys per block, counted from the sequence's first

// Receives gradients of scores rectangle by rectangle: that of (first_query + i, first_key + j) is
// tile[j * row + i]. Pairs that are in no rectangle have gradient 0.
struct GradientTiles {
  void (*take)(void* context, std::int64_t first_query, std::int64_t queries,
               std::int64_t first_key, std::int64_t keys, const float* tile,
               std::int64_t row) = nullptr;
  void* context = nullptr;
};

// The order in which tasks add to the sums of a block of keys. Blocks ascend.
struct KeyOrder {
  void (*wait)(void* context, std::int64_t first_key) = nullptr;  // called before a block's sums
  void (*done)(void* context, std::int64_t next_key) = nullptr;   // keys below next_key are done
  void* context = nullptr;                                        // null: in any order
};

// Sums over queries: a task adds a chain over each 64 of them to `chain`; after kSpanTasks tasks
// these go to `spans`.
inline constexpr int kSpanTasks = 64;
struct QuerySums {
  float* chain = nullptr;  // null: not wanted
  float* spans = nullptr;  // null: there are no more tasks
};

// One task. Rows count from the task's first query and the sequence's first key.
struct BackwardBlock {
  StoredRows q, k, v, out, dout;
  std::int64_t queries = 0;  // 1 .. kBackwardQueries
  std::int64_t head_dim = 0, v_dim = 0;
  ScoreNumbers<float> numbers{};            // times log2(e)
  float scale_base_e = 1;                   // the scale without
  float sink = 0;                           // times log2(e); -infinity: none
  const std::int32_t* key_begin = nullptr;  // key_begin to tiles as in AttentionBlock
  const std::int32_t* key_end = nullptr;
  const float* line = nullptr;
  std::int64_t diagonal_bias_key = 0;  // of diagonal_bias_gradient too
  BiasTiles tiles{};
  RotationRows q_rotation{}, k_rotation{};
  WeightDropout dropout{};
  ValueVectors value_vectors{};
  const float* log_sum_exp = nullptr;  // natural; null: computed here
  std::int64_t log_sum_exp_stride = 0;

  // Results; null: not computed.
  StoredOutput dq{};
  // Added to the rows of dq after their rotation, [queries][head_dim]; null: nothing.
  const double* dq_terms = nullptr;
  // Added to: those of the value vectors, [count][v_dim].
  double* value_vector_gradients = nullptr;
  // Added to: [keys][padded_width()] sums of dS^T q, without the scale and with q rotated, and of
  // P^T dout.
  QuerySums dk{}, dv{};
  bool begins_span = false;  // the sums of the tasks before are moved to `spans` first
  // Added to: the gradient of line, over all of its distances, with a margin of kQueryGroup floats
  // on both sides.
  bool wants_line_gradient = false;
  float* diagonal_bias_gradient = nullptr;
  GradientTiles gradient_tiles{};
  double* sink_gradient = nullptr;  // added to
  KeyOrder key_order{};
};

// How many floats of scratch it needs, 64-byte aligned.
std::int64_t backward_block_scratch(const BackwardBlock& block) noexcept;

// Returns false when scores, their gradients or dq are not finite: results are invalid then. (The
// caller checks dk and dv.)
bool backward_block(const BackwardBlock& block, float* scratch) noexcept;

// Sums over all queries, dk or dv of a BackwardBlock.
struct KeyGradients {
  float* rows;  // [keys][padded_width(width)], overwritten: `chain` of the sums
  std::int64_t keys, width;
  const float* spans;             // likewise, added to the rows; may be null
  const double* terms = nullptr;  // [keys][width], added after the rotation; may be null
};

// Rotates sums back by `rotation`, multiplies them by `scale` and writes them as rows of a
// gradient. Returns whether all are finite.
bool store_key_gradients(const KeyGradients& sums, float scale, const RotationRows& rotation,
                         const StoredOutput& to) noexcept;

}  // namespace sextant::kernels

// The forward kernel: up to kTaskQueries queries of one head over all their keys, in one pass.
// docs/attention-kernel.md draws it.
#pragma once

#include <cstdint>

#include "kernels/attention/geometry.h"
#include "kernels/attention/score_numbers.h"
#include "kernels/attention/weight_dropout.h"
#include "kernels/bf16/bf16_products.h"
#include "kernels/rotate/rotate_rows.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

// Scores, biases and maxima are in units of log2: natural ones times log2(e).
inline constexpr double kLog2E = 1.4426950408889634;
inline constexpr double kLn2 = 0.6931471805599453;

// What a tile of biases holds.
enum class TileBias {
  numbers,
  zeros,   // it may be unchanged
  hidden,  // all of it is hidden, and it may be unchanged
};

// Biases of any kind, computed for a block of scores at a time.
struct BiasTiles {
  // Writes the bias of (first_query + i, first_key + j) to tile[j * kQueryBlock + i] for i <
  // kQueryBlock, j < keys; lanes from `queries` on may hold any finite number. -infinity hides.
  TileBias (*fill)(const void* context, std::int64_t first_query, std::int64_t queries,
                   std::int64_t first_key, std::int64_t keys, float* tile) = nullptr;
  const void* context = nullptr;  // fill and context: null without such biases
};

// A filler's last step: rows[i * row_stride + j], natural, to tile[j * kQueryBlock + i] in log2
// units; finite stays finite.
void biases_to_lanes(const float* rows, std::int64_t row_stride, std::int64_t queries,
                     std::int64_t keys, float* tile) noexcept;

// Vectors that are added to values by the distance of a key from the diagonal key of its query,
// clipped to [-largest, largest]. A weight is not multiplied with each: the sum of the weights of
// all keys with the same vector is.
struct ValueVectors {
  const float* vectors = nullptr;  // [count][v_dim]; null: there are none
  std::int64_t count = 0;
  const std::int32_t* number_of = nullptr;  // by distance + largest
  std::int64_t largest = 0;
  std::int64_t diagonal = 0;  // the diagonal key of the task's first query
};

// One task. Rows count from the task's first query and the sequence's first key.
struct AttentionBlock {
  StoredRows q;
  KeyRows k, v;
  StoredOutput out;
  std::int64_t queries = 0;  // 1 .. kTaskQueries
  std::int64_t head_dim = 0, v_dim = 0;
  ScoreNumbers<float> numbers{};  // times log2(e)
  float sink = 0;                 // times log2(e); -infinity: none
  // The keys [key_begin[i], key_end[i]) that query i may see; both ascend with i.
  const std::int32_t* key_begin = nullptr;
  const std::int32_t* key_end = nullptr;
  // At most one of the two: the bias of query i and key j is line[i - (j - diagonal_bias_key)], or
  // comes in tiles.
  const float* line = nullptr;
  std::int64_t diagonal_bias_key = 0;
  BiasTiles tiles{};
  RotationRows q_rotation{}, k_rotation{};  // cos null: none
  WeightDropout dropout{};                  // after the softmax: log_sum_exp is that without
  ValueVectors value_vectors{};
  // Null: products are of float32.
  const Bf16Products* rounded = nullptr;
  // Filled, natural logarithms; null: not computed.
  float* log_sum_exp = nullptr;
  std::int64_t log_sum_exp_stride = 0;

  // The sums of each query: its channels, then the weights of each vector.
  std::int64_t output_sums() const noexcept { return v_dim + value_vectors.count; }
};

// The register tile of the instruction set in use.
struct TileShape {
  int rows, lanes;
};
TileShape attention_tile() noexcept;

// How many floats of scratch a task needs, 64-byte aligned.
struct ScratchShape {
  std::int64_t queries = 0, head_dim = 0, v_dim = 0;
  bool spans = false;  // more keys than a span has
  bool tiles = false;  // biases that come in tiles
  std::int64_t value_vectors = 0;
  bool copies_k = false, copies_v = false;  // not contiguous float32, or rotated
  bool rounded = false;
};
ScratchShape scratch_shape_of(const AttentionBlock& block) noexcept;
std::int64_t attention_block_scratch(const ScratchShape& needs) noexcept;

// Writes out and log_sum_exp. Rows whose result is not finite are computed again NaN-safely:
// infinities and NaN of hidden keys have no effect then (the same bits otherwise). Sets the bits of
// rows that are still not finite, because of something visible: the plain path recomputes their
// nonfinite channels.
struct NonfiniteRows {
  std::uint64_t bits[kTaskQueries / 64] = {};
};
NonfiniteRows attention_block(const AttentionBlock& block, float* scratch) noexcept;

}  // namespace sextant::kernels

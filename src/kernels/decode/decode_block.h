// The decode kernel: a few queries of the heads that share one key head, over many keys, in one
// pass over keys and values. docs/attention-kernel.md says when it is used.
#pragma once

#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/rotate/rotate_rows.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

inline constexpr int kDecodeRows = 16;  // queries of all heads per pass

// One query of one head.
struct DecodeRow {
  const void* q = nullptr;  // [head_dim]
  void* out = nullptr;      // [v_dim]
  // The keys [key_begin, key_end) that it may see, counted from the sequence's first.
  std::int32_t key_begin = 0, key_end = 0;
  float sink = 0;                // times log2(e); -infinity: none
  RotationRows rotation{};       // of this query; cos null: none
  float* log_sum_exp = nullptr;  // filled, natural logarithm; null: not computed
};

struct DecodeBlock {
  DecodeRow rows[kDecodeRows];
  int count = 0;                              // of rows, 1 .. kDecodeRows
  KeyRows k, v;                               // rows count from the sequence's first key
  std::int64_t q_stride = 1, out_stride = 1;  // between channels
  Storage q_storage{}, out_storage{};
  std::int64_t head_dim = 0, v_dim = 0;
  ScoreNumbers<float> numbers{};  // times log2(e)
  RotationRows k_rotation{};      // as in AttentionBlock
  // Writes the biases of a row and keys [first_key, first_key + keys), keys <= kKeyBlock, in log2
  // units; -infinity hides. Null: no biases.
  void (*fill)(const void* context, int row, std::int64_t first_key, std::int64_t keys,
               float* to) = nullptr;
  // Whether biases hide keys [first_key, first_key + keys) from all rows, which then are not read;
  // null: never.
  bool (*hides)(const void* context, std::int64_t first_key, std::int64_t keys) = nullptr;
  const void* context = nullptr;  // of both

  // The keys visible to any row; [0, 0) when there are none.
  std::int64_t first_key() const noexcept;
  std::int64_t end_key() const noexcept;
  // The key blocks that hold these keys are [first_block, end_block).
  std::int64_t first_block() const noexcept { return first_key() / kKeyBlock; }
  std::int64_t end_block() const noexcept { return (end_key() + kKeyBlock - 1) / kKeyBlock; }
};

// Natural biases to log2 units, in place, as biases_to_lanes() does.
void biases_to_log2(float* biases, std::int64_t count) noexcept;

// How many floats of scratch decode_block() needs, 64-byte aligned.
struct DecodeScratchShape {
  int rows = 0;
  std::int64_t head_dim = 0, v_dim = 0;
  bool spans = false;                       // more keys than a span has
  bool copies_k = false, copies_v = false;  // when tiles cannot read them in place
};
DecodeScratchShape decode_needs(int rows, std::int64_t keys, const StoredRows& k,
                                std::int64_t head_dim, const StoredRows& v, std::int64_t v_dim,
                                bool rotates) noexcept;
DecodeScratchShape scratch_shape_of(const DecodeBlock& block) noexcept;
std::int64_t decode_block_scratch(const DecodeScratchShape& needs) noexcept;

// Writes out and log_sum_exp with the bits of attention_block(). Rows that are not finite are
// computed again NaN-safely: infinities and NaN of hidden keys have no effect then. Returns a bit
// for each row that is still not finite, whose nonfinite channels the plain path has to recompute.
std::uint32_t decode_block(const DecodeBlock& block, float* scratch) noexcept;

// The same in stages that threads can share, each stage after the end of the one before, with the
// same bits. `shared` is scratch for all threads, `thread_scratch` for each one.
std::int64_t decode_shared_scratch(const DecodeScratchShape& needs,
                                   std::int64_t key_blocks) noexcept;
std::int64_t decode_thread_scratch(const DecodeScratchShape& needs) noexcept;
// Once.
void decode_begin(const DecodeBlock& block, float* shared) noexcept;
// For key blocks [begin, end): any cut of [first_block, end_block).
void decode_scores(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) noexcept;
// Once.
void decode_softmax(const DecodeBlock& block, float* shared) noexcept;
// For channels [begin, end) of v: any cut of [0, max(v_dim, 1)) at multiples of kQueryGroup.
void decode_values(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) noexcept;
// Runs once; returns the rows that are not finite, which are not written: decode_nan_safe()
// computes them on scratch for decode_block() and returns its result.
std::uint32_t decode_finish(const DecodeBlock& block, float* shared) noexcept;
std::uint32_t decode_nan_safe(const DecodeBlock& block, std::uint32_t rows,
                              float* scratch) noexcept;

// The register tile of scores: queries times keys.
TileShape decode_tile() noexcept;

}  // namespace sextant::kernels

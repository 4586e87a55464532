// The decode kernel: a few queries of the heads that share one key head, over many keys, in one
// pass over keys and values. docs/kv-cache.md says when it is used.
#pragma once

#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/rotate/rotate_rows.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::kernels {

inline constexpr int kDecodeRows = 16;  // queries of all heads that one pass serves

// One query of one head.
struct DecodeRow {
  const void* q = nullptr;  // [head_dim]
  void* out = nullptr;      // [v_dim]
  // The keys [first, last) that it may see, counted from the sequence's first.
  std::int32_t first = 0, last = 0;
  float sink = 0;                // times log2(e); -infinity: none
  RotationRows rotation{};       // its own row; cos null: none
  float* log_sum_exp = nullptr;  // filled, natural logarithm; null: not wanted
};

struct DecodeBlock {
  DecodeRow rows[kDecodeRows];
  int count = 0;                              // of rows, 1 .. kDecodeRows
  StoredRows k, v;                            // rows count from the sequence's first key
  std::int64_t q_stride = 1, out_stride = 1;  // between channels; storage is that of k
  std::int64_t head_dim = 0, v_dim = 0;
  float scale = 1;            // times log2(e)
  float softcap = 0;          // times log2(e); 0: none
  RotationRows k_rotation{};  // as in AttentionBlock
  // Writes the biases of a row and keys [first_key, first_key + keys), keys <= kKeyBlock, in log2
  // units; -infinity hides. Null: no biases.
  void (*fill)(const void* context, int row, std::int64_t first_key, std::int64_t keys,
               float* to) = nullptr;
  const void* context = nullptr;

  // What any row sees; [0, 0) when none does.
  std::int64_t first_key() const noexcept;
  std::int64_t last_key() const noexcept;
  // The key blocks that hold these keys are [first_block, last_block).
  std::int64_t first_block() const noexcept { return first_key() / kKeyBlock; }
  std::int64_t last_block() const noexcept { return (last_key() + kKeyBlock - 1) / kKeyBlock; }
};

// Natural biases to log2 units, in place, as biases_to_lanes() does.
void biases_to_log2(float* biases, std::int64_t count) noexcept;

// How many floats of scratch decode_block() needs, on a 64-byte line.
struct DecodeNeeds {
  int rows = 0;
  std::int64_t head_dim = 0, v_dim = 0;
  bool copies_k = false, copies_v = false;  // when tiles cannot read them where they are
};
DecodeNeeds decode_needs(int rows, const StoredRows& k, std::int64_t head_dim, const StoredRows& v,
                         std::int64_t v_dim, bool turns) noexcept;
DecodeNeeds needs_of(const DecodeBlock& block) noexcept;
std::int64_t decode_block_scratch(const DecodeNeeds& needs) noexcept;

// Writes out and log_sum_exp, bit for bit what attention_block() gives for these rows. Rows that
// are not finite are tried again with care for infinities and NaN among what is hidden. Returns a
// bit for each that is not finite then, whose channels that are not the plain path has to fill.
std::uint32_t decode_block(const DecodeBlock& block, float* scratch) noexcept;

// The same in stages that threads can share, each after the last part of the one before, with the
// same bits. `shared` is one piece of scratch for all, `own` one for each thread that works.
std::int64_t decode_shared_scratch(const DecodeNeeds& needs, std::int64_t key_blocks) noexcept;
std::int64_t decode_own_scratch(const DecodeNeeds& needs) noexcept;
// Once.
void decode_begin(const DecodeBlock& block, float* shared) noexcept;
// For key blocks [begin, end): any cut of [first_block, last_block).
void decode_scores(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* own) noexcept;
// Once.
void decode_softmax(const DecodeBlock& block, float* shared) noexcept;
// For channels [begin, end) of v: any cut of [0, max(v_dim, 1)) at multiples of kGroupLanes.
void decode_weigh(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                  float* own) noexcept;
// Once; returns the rows that did not become finite and were left out: for decode_again(), which
// does them on scratch for decode_block() and returns what that returns.
std::uint32_t decode_finish(const DecodeBlock& block, float* shared) noexcept;
std::uint32_t decode_again(const DecodeBlock& block, std::uint32_t rows, float* scratch) noexcept;

// The register tile of scores: queries times keys.
TileShape decode_tile() noexcept;

}  // namespace sextant::kernels

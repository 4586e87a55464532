// Token rows looked up, scaled and added to position rows in one pass.
#pragma once

#include <cstdint>

namespace sextant::kernels {

struct EmbeddingTables {
  const float* tokens = nullptr;     // row t at tokens + t * width
  const float* positions = nullptr;  // row p at positions + p * position_stride
  std::int64_t position_stride = 0;
  std::int64_t width = 0;
  double scale = 1;  // of the token rows
};

// out[i] = tokens[token_rows[i]] * scale + positions[position_rows[i]] for i in [0, count), out
// [count, width]. Computed in float64, the product rounded before the sum, and rounded to float32
// once: the same bits on every instruction set. `stream` writes past the caches where out and width
// are multiples of 64 bytes; visible to other threads after a hand-over.
void embed_rows(const EmbeddingTables& tables, const std::int64_t* token_rows,
                const std::int64_t* position_rows, std::int64_t count, float* out,
                bool stream) noexcept;

}  // namespace sextant::kernels

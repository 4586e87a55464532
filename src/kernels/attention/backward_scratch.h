// The arrays in the scratch of the backward kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/threads/scratch_divider.h"
#include "kernels/attention/backward_block.h"
#include "kernels/attention/long_sums.h"

namespace sextant::kernels {

// Parts of the scratch, each on a cache line. L: queries, rounded up to blocks of 64 lanes.
struct BackwardScratch {
  float *q, *dout;                          // [L / 64][channels][64]
  LongSum dq;                               // likewise
  float *q_rows, *dout_rows;                // [L][padded_width(channels)]
  LongSum sum;                              // [L]
  float *running_max, *delta;               // [L]
  float *vector_products, *vector_weights;  // [L / 64][vectors by distance][64]
  float* vector_sums;                       // [vectors by distance][padded_width(v_dim)]
  float* part;    // [head_dim][64]: dq of one block that comes in several rectangles
  float* scores;  // [64][64]
  float *gradients, *bias_gradients;  // [64][gradient_row], at lane 0; bias_gradients may be null
  std::ptrdiff_t gradient_row;
  float* bias;            // [64][64] or null
  float* rows;            // [64][padded_width(the wider)]
  float *out_rows, *out;  // [64][padded_width(v_dim)], [v_dim][64]
  float *k, *v;           // [64][channels], or null: read where they are
  std::int64_t size;
};

// Divides memory, or says how much it takes when there is none.
inline BackwardScratch divide(const BackwardBlock& b, float* memory) {
  const std::int64_t lanes = (b.queries + kQueryBlock - 1) / kQueryBlock * kQueryBlock;
  ScratchDivider<float> arrays(memory);
  BackwardScratch s{};
  s.q = arrays.take(lanes * b.head_dim);
  s.dout = arrays.take(lanes * b.v_dim);
  s.dq.chain = arrays.take(lanes * b.head_dim);
  const bool has_spans = b.key_end[b.queries - 1] > kSpan;
  s.dq.spans = arrays.take_if(has_spans, lanes * b.head_dim);
  s.dq.low = arrays.take_if(has_spans, lanes * b.head_dim);
  s.q_rows = arrays.take(lanes * padded_width(b.head_dim));
  s.dout_rows = arrays.take(lanes * padded_width(b.v_dim));
  s.running_max = arrays.take(lanes);
  for (float** part : {&s.sum.chain, &s.sum.spans, &s.sum.low}) *part = arrays.take(lanes);
  s.delta = arrays.take(lanes);
  const std::int64_t vectors = b.value_vectors.count;
  s.vector_products = arrays.take_if(vectors > 0, lanes * vectors);
  s.vector_weights = arrays.take_if(vectors > 0, lanes * vectors);
  s.vector_sums = arrays.take_if(vectors > 0, vectors * padded_width(b.v_dim));
  s.part = arrays.take(b.head_dim * kQueryBlock);
  s.scores = arrays.take(kBackwardKeys * kQueryBlock);
  // Zeros next to the lanes, for sums along diagonals.
  const std::int64_t margin = b.wants_line_gradient ? kQueryGroup : 0;
  s.gradient_row = kQueryBlock + 2 * margin;
  const auto take_gradients = [&] {
    float* array = arrays.take(kBackwardKeys * s.gradient_row);
    return array == nullptr ? nullptr : array + margin;
  };
  s.gradients = take_gradients();
  const bool keeps_bias_gradients =
      b.numbers.has_steps() && (b.wants_line_gradient || b.gradient_tiles.take != nullptr);
  s.bias_gradients = keeps_bias_gradients ? take_gradients() : nullptr;
  s.bias = arrays.take_if(b.tiles.fill != nullptr, kBackwardKeys * kQueryBlock);
  s.rows = arrays.take(kQueryBlock * padded_width(std::max(b.head_dim, b.v_dim)));
  s.out_rows = arrays.take(kQueryBlock * padded_width(b.v_dim));
  s.out = arrays.take(kQueryBlock * b.v_dim);
  const bool copies_k = !b.k.is_plain() || b.k_rotation.cos != nullptr;
  s.k = arrays.take_if(copies_k, kBackwardKeys * b.head_dim);
  s.v = arrays.take_if(!b.v.is_plain(), kBackwardKeys * b.v_dim);
  s.size = arrays.size();
  return s;
}

}  // namespace sextant::kernels

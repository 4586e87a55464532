// The arrays in the scratch of the forward kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/threads/scratch_divider.h"
#include "kernels/attention/block.h"
#include "kernels/attention/long_sums.h"

namespace sextant::kernels {

// The scratch, divided into 64-byte aligned arrays.
struct ForwardScratch {
  float* q;            // [blocks of lanes][head_dim][64], scaled and rotated
  LongSum o;           // [blocks of lanes][v_dim + value_vectors][64]
  LongSum sum;         // [blocks of lanes][64]: l
  float* running_max;  // likewise: the running maximum m
  float* scores;       // [128][64]
  float* part;         // [v_dim][64]: O of one block that comes in several rectangles
  float* bias;         // [128][64] or null
  float* rows;         // [64][the wider of head_dim and v_dim]: rows on their way in or out
  float* k;            // [128][head_dim] or null: k is read in place
  float* v;            // [128][v_dim] or null
  // Factors of rounded products (bf16_products.h), or null: channels, keys and rows of v16 are
  // those of whole tiles.
  std::uint32_t* q16;  // [blocks of lanes][head_dim / 2][64]
  std::uint32_t* p16;  // [128 / 2][64]: weights
  bfloat16* k16;       // [128][head_dim]
  bfloat16* v16;       // [v_dim][128]
  std::int64_t size;
};

inline ForwardScratch divide(const ScratchShape& needs, float* memory) {
  const std::int64_t lanes = (needs.queries + kQueryBlock - 1) / kQueryBlock * kQueryBlock;
  ScratchDivider<float> arrays(memory);
  ForwardScratch s{};
  s.q = arrays.take(lanes * needs.head_dim);
  const std::int64_t outputs = lanes * (needs.v_dim + needs.value_vectors);
  s.o.chain = arrays.take(outputs);
  s.o.spans = arrays.take_if(needs.spans, outputs);
  s.o.low = arrays.take_if(needs.spans, outputs);
  s.running_max = arrays.take(lanes);
  for (float** part : {&s.sum.chain, &s.sum.spans, &s.sum.low}) *part = arrays.take(lanes);
  s.scores = arrays.take(kKeyBlock * kQueryBlock);
  s.part = arrays.take_if(!needs.rounded, needs.v_dim * kQueryBlock);
  s.bias = arrays.take_if(needs.tiles, kKeyBlock * kQueryBlock);
  s.rows = arrays.take(kQueryBlock * std::max(needs.head_dim, needs.v_dim));
  s.k = arrays.take_if(needs.copies_k, kKeyBlock * needs.head_dim);
  s.v = arrays.take_if(needs.copies_v, kKeyBlock * needs.v_dim);
  const std::int64_t half_rows = bf16_steps(needs.head_dim) / 2;
  s.q16 = reinterpret_cast<std::uint32_t*>(arrays.take_if(needs.rounded, lanes * half_rows));
  s.p16 =
      reinterpret_cast<std::uint32_t*>(arrays.take_if(needs.rounded, kKeyBlock / 2 * kQueryBlock));
  s.k16 = reinterpret_cast<bfloat16*>(arrays.take_if(needs.rounded, kKeyBlock * half_rows));
  s.v16 = reinterpret_cast<bfloat16*>(
      arrays.take_if(needs.rounded, bf16_rows(needs.v_dim) * kKeyBlock / 2));
  s.size = arrays.size();
  return s;
}

}  // namespace sextant::kernels

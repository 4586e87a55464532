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
  s.part = arrays.take(needs.v_dim * kQueryBlock);
  s.bias = arrays.take_if(needs.tiles, kKeyBlock * kQueryBlock);
  s.rows = arrays.take(kQueryBlock * std::max(needs.head_dim, needs.v_dim));
  s.k = arrays.take_if(needs.copies_k, kKeyBlock * needs.head_dim);
  s.v = arrays.take_if(needs.copies_v, kKeyBlock * needs.v_dim);
  s.size = arrays.size();
  return s;
}

}  // namespace sextant::kernels

// Fixed blocks of rows or elements that are distributed over threads, and sums over them in order:
// the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/threads/useful_threads.h"
#include "kernels/simd/processor_state.h"

namespace sextant::kernels {

inline constexpr std::int64_t kSumRows = 64;         // rows that are summed in float32
inline constexpr std::int64_t kElementBlock = 8192;  // a multiple of 64

// body(block, first, count) for blocks of `size`. Each thread takes adjacent blocks, the same ones
// in every call, which may still be in its cache.
template <class Body>
void for_blocks(std::int64_t count, std::int64_t size, int threads, const Body& body) {
  if (count <= 0) return;
  const std::int64_t blocks = (count + size - 1) / size;
  const std::int64_t runs = std::clamp<std::int64_t>(allowed_threads(threads), 1, blocks);
  parallel_for(runs, threads, [&](std::int64_t run) {
    for (std::int64_t block = blocks * run / runs; block < blocks * (run + 1) / runs; ++block) {
      body(block, block * size, std::min(size, count - block * size));
    }
  });
}

// body(row) for rows of a width, in blocks large enough for a task, with denormals off.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t width, int threads, const Body& body) {
  const std::int64_t size =
      std::max<std::int64_t>(1, kElementBlock / std::max<std::int64_t>(width, 1));
  for_blocks(rows, size, threads, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    const DenormalsOff denormals_off;
    for (std::int64_t row = first; row < first + count; ++row) body(row);
  });
}

// sums[i] += the sum over blocks of block_sums[block * stride + i], in float64, for i < width.
void add_block_sums(const float* block_sums, std::int64_t blocks, std::int64_t stride,
                    std::int64_t width, float* sums);

}  // namespace sextant::kernels

// Rows in parallel, each with scratch: the plain path's loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "attention/forward/thread_work.h"
#include "core/threads/interruption.h"
#include "sextant/core/parallel.h"
#include "sextant/core/tensor.h"

namespace sextant::attention_detail {

// How rows are distributed over threads.
struct RowGrid {
  std::int64_t block_rows = 0, blocks = 0, workers = 0;
};
inline RowGrid row_grid(std::int64_t rows, std::int64_t row_work, int threads) {
  const std::int64_t block_rows = 1 + kRowThreadWork / (row_work + 1);
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
  return {block_rows, blocks, std::min<std::int64_t>(blocks, allowed_threads(threads))};
}

// Runs body(row, scratch) for each row in [0, rows) on up to `threads` threads; `scratch` holds
// `doubles` numbers, a row takes `row_work` multiply-adds. Threads take blocks of rows as they get
// done, because causal rows differ and another process may hold a core.
template <class Body>
void for_each_row(std::int64_t rows, std::int64_t row_work, int threads, std::int64_t doubles,
                  const Body& body) {
  const RowGrid grid = row_grid(rows, row_work, threads);
  if (grid.workers == 0) return;
  constexpr std::int64_t kDoublesPerLine = kAlignment / sizeof(double);
  const std::int64_t share = (doubles + kDoublesPerLine - 1) / kDoublesPerLine * kDoublesPerLine;
  auto scratch = Tensor<double>::uninitialized(Shape{grid.workers, share});
  std::atomic<std::int64_t> next{0};
  parallel_for(grid.workers, static_cast<int>(grid.workers), [&](std::int64_t worker) {
    for (std::int64_t block = next++; block < grid.blocks; block = next++) {
      check_interruption();
      const std::int64_t end = std::min(rows, (block + 1) * grid.block_rows);
      for (std::int64_t row = block * grid.block_rows; row < end; ++row) {
        body(row, scratch.data() + worker * share);
      }
    }
  });
}

}  // namespace sextant::attention_detail

// How a matrix product is divided among threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/matmul/geometry.h"

namespace sextant::kernels {

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

// Returns the time until the last of `threads` ends, in rows, if each takes the next task: blocks
// of the given number of rows of a, and the rest, in the given number of groups of columns.
constexpr std::int64_t rows_until_end(std::int64_t rows, std::int64_t block, std::int64_t groups,
                                      std::int64_t threads) {
  const std::int64_t whole = rows / block * groups;
  const std::int64_t idle = (threads - whole % threads) % threads;  // in the last round of these
  const std::int64_t rests = std::max<std::int64_t>(0, groups - idle);
  return blocks_of(whole, threads) * block + blocks_of(rests, threads) * (rows % block);
}

// Rows of a that a task takes: as many as it can pack, or fewer that let threads end together.
constexpr std::int64_t task_rows(std::int64_t rows, std::int64_t groups, std::int64_t threads) {
  std::int64_t best = kRowBlock;
  for (const std::int64_t block : {kRowBlock - kRowStep, kRowBlock - 2 * kRowStep}) {
    if (rows_until_end(rows, block, groups, threads) <
        rows_until_end(rows, best, groups, threads)) {
      best = block;
    }
  }
  return best;
}

// A product in which every thread computes one block and packs its part of b: threads do not wait
// for each other, and none reads what another packed.
struct Division {
  std::int64_t rows = 0, columns = 0;  // of a block; 0: such a division is slower
};

constexpr Division division(const MatmulSizes& sizes, std::int64_t threads) {
  // The cost of packing a column of b, and a row of a, in rows and columns of multiplication.
  constexpr std::int64_t kPackColumn = 20, kPackRow = 16;
  constexpr double kMax = 1.3;  // times a thread's share of the multiplication alone
  if (threads == 1) return {};
  const auto share = [&](std::int64_t size, std::int64_t step) {
    return std::min(size, blocks_of(blocks_of(size, threads), step) * step);
  };
  const auto cost = [](const Division& d) {
    return static_cast<double>((d.rows + kPackColumn) * (d.columns + kPackRow));
  };
  const Division by_rows{share(sizes.rows, kRowStep), sizes.columns};
  const Division by_columns{sizes.rows, share(sizes.columns, kPanelLanes)};
  const Division best = cost(by_rows) <= 1.05 * cost(by_columns) ? by_rows : by_columns;
  const auto all = static_cast<double>(sizes.rows * sizes.columns);
  return cost(best) * static_cast<double>(threads) <= kMax * all ? best : Division();
}

}  // namespace sextant::kernels

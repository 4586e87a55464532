// Cuts a matrix product into tasks: b is packed by all threads, then each task takes some rows and
// some panels of columns through the whole depth.
#include "kernels/matmul.h"

#include <algorithm>

#include "kernels/matmul_block.h"
#include "kernels/row_blocks.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

constexpr std::int64_t kLeastPackTask = 2;  // panels: fewer are short runs of reads
constexpr std::int64_t kMostPackTask = 8;
constexpr std::int64_t kMostTaskPanels = 16;   // half a second cache: a and c pass through it too
constexpr std::int64_t kLeastTaskPanels = 4;   // or packing rows of a takes too large a share
constexpr std::int64_t kMostColumns = 4096;    // of b packed at a time
constexpr std::int64_t kMostPacked = 1 << 19;  // floats of b, unless one block of the depth is more
constexpr std::int64_t kSmallResult = 1 << 18;  // floats of c that a cache keeps
constexpr double kWorthThreads = 2e5;           // multiply-adds, some ten microseconds

// This thread's until its next call: the packed b of a call, or the packed rows of a task.
float* scratch(Tensor<float>& memory, std::int64_t floats) {
  if (memory.count() < floats) {
    memory = Tensor<float>();  // gone before its successor comes
    memory = Tensor<float>::uninitialized(Shape{floats});
  }
  return memory.data();
}

float* packed_b_scratch(std::int64_t floats) {
  thread_local Tensor<float> memory;
  return scratch(memory, floats);
}

float* packed_a_scratch() {
  thread_local Tensor<float> memory;
  return scratch(memory, kPackedRows);
}

std::int64_t blocks_of(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

std::int64_t count_of(int threads) { return threads == 0 ? default_threads() : threads; }

// How much of the depth is packed at a time: what the second and third caches keep until it is
// read. For gradients of weights, which are deep and small, that is least.
std::int64_t most_depth(const MatmulSizes& sizes, const MatrixRef& a) {
  if (has_contiguous_columns(a) && sizes.rows * sizes.columns <= kSmallResult) return kDepthBlock;
  const std::int64_t packed_block =
      kDepthBlock * panels_of(std::min(sizes.columns, kMostColumns)) * kPanelLanes;
  return std::max<std::int64_t>(1, kMostPacked / packed_block) * kDepthBlock;
}

int worth(const MatmulSizes& s, int threads) {
  const double work =
      static_cast<double>(s.rows) * static_cast<double>(s.columns) * static_cast<double>(s.depth);
  return work < kWorthThreads ? 1 : threads;
}

// Steps [k, end) of the depth, columns from j on.
struct Part {
  std::int64_t k, end, j;
};

MatmulResult part_of(const MatmulResult& whole, const MatmulSizes& sizes, const Part& part) {
  const auto from = [](auto* data, std::int64_t at) {
    return data == nullptr ? nullptr : data + at;
  };
  const bool last = part.end == sizes.depth;
  return {.c = whole.c + part.j,
          .c_row = whole.c_row,
          .bias = from(whole.bias, part.j),
          .add = whole.add || part.k > 0,
          .sums = part.j > 0 ? nullptr : from(whole.sums, part.k / kSumRows * sizes.rows),
          .relu = whole.relu && last,
          .relu_of = last ? from(whole.relu_of, part.j) : nullptr};
}

void pack(const MatrixRef& b, std::int64_t depth, std::int64_t columns, float* packed,
          int threads) {
  const std::int64_t panels = panels_of(columns), blocks = blocks_of(depth, kDepthBlock);
  const std::int64_t group = std::clamp<std::int64_t>(blocks_of(blocks * panels, count_of(threads)),
                                                      kLeastPackTask, kMostPackTask);
  const std::int64_t groups = blocks_of(panels, group);
  parallel_for(blocks * groups, threads, [&](std::int64_t task) {
    const std::int64_t first = task % groups * group;
    pack_panels(b, depth, columns, task / groups, first, std::min(panels, first + group), packed);
  });
}

// When the last of `threads` ends, in rows, if each takes the next task: blocks of so many rows of
// a, and the rest, in so many parts.
std::int64_t rows_until_end(std::int64_t rows, std::int64_t block, std::int64_t parts,
                            std::int64_t threads) {
  const std::int64_t whole = rows / block * parts;
  const std::int64_t idle = (threads - whole % threads) % threads;  // in the last round of these
  const std::int64_t rests = std::max<std::int64_t>(0, parts - idle);
  return blocks_of(whole, threads) * block + blocks_of(rests, threads) * (rows % block);
}

// Rows of a that a task takes: as many as it can pack, or fewer that let threads end together.
std::int64_t task_rows(std::int64_t rows, std::int64_t parts, std::int64_t threads) {
  std::int64_t best = kRowBlock;
  for (const std::int64_t block : {kRowBlock - kRowStep, kRowBlock - 2 * kRowStep}) {
    if (rows_until_end(rows, block, parts, threads) < rows_until_end(rows, best, parts, threads)) {
      best = block;
    }
  }
  return best;
}

void multiply(const MatmulSizes& sizes, const MatrixRef& a, const float* packed_b,
              const MatmulResult& result, int threads) {
  const std::int64_t panels = panels_of(sizes.columns);
  const std::int64_t used_threads = count_of(threads);
  // Enough tasks for all threads to end together, but not more.
  const std::int64_t wished = used_threads == 1 ? 1 : 4 * used_threads;
  const std::int64_t parts =
      std::clamp(blocks_of(wished, blocks_of(sizes.rows, kRowBlock)),
                 blocks_of(panels, kMostTaskPanels), blocks_of(panels, kLeastTaskPanels));
  const std::int64_t part_panels = blocks_of(panels, parts);
  const std::int64_t used_parts = blocks_of(panels, part_panels);
  const std::int64_t block = task_rows(sizes.rows, used_parts, used_threads);
  const std::int64_t tasks = blocks_of(sizes.rows, block) * used_parts;
  const auto rows_of = [&](std::int64_t task) {
    return a.data + task / used_parts * block * a.row_stride;
  };
  parallel_for(tasks, threads, [&](std::int64_t task) {
    const std::int64_t row = task / used_parts * block;
    const std::int64_t panel = task % used_parts * part_panels;
    const std::int64_t next = task + used_threads;
    MatmulResult part = result;
    part.c += row * result.c_row;
    if (result.relu_of != nullptr) part.relu_of += row * result.c_row;
    part.sums = result.sums == nullptr || panel > 0 ? nullptr : result.sums + row;
    multiply_block({.rows = std::min(block, sizes.rows - row),
                    .depth = sizes.depth,
                    .a = {rows_of(task), a.row_stride, a.column_stride},
                    .next_a = next < tasks ? rows_of(next) : nullptr,
                    .b = {packed_b, panels},
                    .first_panel = panel,
                    .end_panel = std::min(panels, panel + part_panels),
                    .columns = sizes.columns,
                    .result = part,
                    .sums_row = sizes.rows},
                   packed_a_scratch());
  });
}

}  // namespace

void matmul(const MatmulSizes& sizes, const MatrixRef& a, const MatrixRef& b,
            const MatmulResult& result, int threads) {
  if (sizes.rows <= 0 || sizes.columns <= 0) return;
  threads = worth(sizes, threads);
  const std::int64_t most = most_depth(sizes, a);
  for (std::int64_t k = 0; k < sizes.depth || k == 0; k += most) {
    const std::int64_t depth = std::min(most, sizes.depth - k);
    for (std::int64_t j = 0; j < sizes.columns; j += kMostColumns) {
      const std::int64_t columns = std::min(kMostColumns, sizes.columns - j);
      float* packed = packed_b_scratch(depth * panels_of(columns) * kPanelLanes);
      const MatrixRef part{b.data + k * b.row_stride + j * b.column_stride, b.row_stride,
                           b.column_stride};
      pack(part, depth, columns, packed, threads);
      multiply({sizes.rows, columns, depth},
               {a.data + k * a.column_stride, a.row_stride, a.column_stride}, packed,
               part_of(result, sizes, {.k = k, .end = k + depth, .j = j}), threads);
    }
  }
}

PackedMatrix::PackedMatrix(const MatrixRef& b, std::int64_t depth, std::int64_t columns,
                           int threads)
    : depth_(depth),
      columns_(columns),
      data_(Tensor<float>::uninitialized({depth, panels_of(columns) * kPanelLanes})) {
  pack(b, depth, columns, data_.data(), threads);
}

void matmul(std::int64_t rows, const MatrixRef& a, const PackedMatrix& b,
            const MatmulResult& result, int threads) {
  if (rows <= 0 || b.columns() <= 0) return;
  const MatmulSizes sizes{rows, b.columns(), b.depth()};
  multiply(sizes, a, b.data(), result, worth(sizes, threads));
}

}  // namespace sextant

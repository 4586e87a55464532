// Cuts a matrix product into tasks: b is packed by all threads, then each task takes some rows and
// some panels of columns through the whole depth; or each thread computes one block of c.
#include "kernels/matmul/matmul.h"

#ifdef __unix__
#include <unistd.h>
#endif

#include <algorithm>

#include "core/threads/scratch_lease.h"
#include "core/threads/useful_threads.h"
#include "kernels/matmul/block.h"
#include "kernels/matmul/division.h"
#include "kernels/simd/row_blocks.h"
#include "sextant/core/parallel.h"

namespace sextant::kernels {
namespace {

constexpr std::int64_t kMinPackTask = 2;  // panels: fewer are short runs of reads
constexpr std::int64_t kMaxPackTask = 8;
constexpr std::int64_t kMinTaskPanels = 4;    // or packing rows of a takes too large a share
constexpr std::int64_t kMaxColumns = 4096;    // of b packed at a time
constexpr std::int64_t kMaxPacked = 1 << 19;  // floats of b, unless one block of the depth is more
constexpr std::int64_t kSmallResult = 1 << 18;  // floats of c that a cache keeps
constexpr std::int64_t kFewRowsTasks = 4;       // per thread, so that all end together
constexpr double kThreadWork = 2e5;             // multiply-adds, some ten microseconds

// Returns the part of the depth that is packed at a time: what the second and third caches keep
// until it is read. For gradients of weights, which are deep and small, it is least.
std::int64_t max_depth(const MatmulSizes& sizes, const MatrixRef& a) {
  if (has_contiguous_columns(a) && sizes.rows * sizes.columns <= kSmallResult) return kDepthBlock;
  const std::int64_t packed_block =
      kDepthBlock * panels_of(std::min(sizes.columns, kMaxColumns)) * kPanelLanes;
  return std::max<std::int64_t>(1, kMaxPacked / packed_block) * kDepthBlock;
}

// Panels of b that a task goes through for each tile of a: half of the second cache, because a and
// c pass through it too.
std::int64_t max_task_panels() {
  constexpr std::int64_t kPanelBytes = kDepthBlock * kPanelLanes * sizeof(float);
  static const std::int64_t panels = [] {
    std::int64_t bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? std::clamp<std::int64_t>(bytes / 2 / kPanelBytes, 8, 64) : 16;
  }();
  return panels;
}

int threads_of(const MatmulSizes& s, int threads) {
  return useful_threads(
      threads,
      static_cast<double>(s.rows) * static_cast<double>(s.columns) * static_cast<double>(s.depth),
      kThreadWork);
}

// Steps [k, end) of the depth, columns from j on.
struct DepthRange {
  std::int64_t k, end, j;
};

MatmulResult result_of(const MatmulResult& whole, const MatmulSizes& sizes,
                       const DepthRange& range) {
  const auto from = [](auto* data, std::int64_t at) {
    return data == nullptr ? nullptr : data + at;
  };
  const bool last = range.end == sizes.depth;
  return {.c = whole.c + range.j,
          .c_row = whole.c_row,
          .bias = from(whole.bias, range.j),
          .add = whole.add || range.k > 0,
          .sums = range.j > 0 ? nullptr : from(whole.sums, range.k / kSumRows * whole.sums_row),
          .sums_row = whole.sums_row,
          .relu = whole.relu && last,
          .relu_of = last ? from(whole.relu_of, range.j) : nullptr};
}

void pack(const StoredMatrix& b, std::int64_t depth, std::int64_t columns, float* packed,
          int threads) {
  const std::int64_t panels = panels_of(columns), blocks = blocks_of(depth, kDepthBlock);
  const std::int64_t group = std::clamp<std::int64_t>(
      blocks_of(blocks * panels, allowed_threads(threads)), kMinPackTask, kMaxPackTask);
  const std::int64_t groups = blocks_of(panels, group);
  parallel_for(blocks * groups, threads, [&](std::int64_t task) {
    const std::int64_t first = task % groups * group;
    pack_panels(b, depth, columns, task / groups, first, std::min(panels, first + group), packed);
  });
}

// The panels that are packed next: `rows` rows and `columns` columns of b.
struct NextPanels {
  StoredMatrix b;
  std::int64_t rows = 0, columns = 0;

  // One of `tasks` equal shares, for prefetching.
  Prefetcher share(std::int64_t task, std::int64_t tasks) const {
    const std::int64_t first = rows * task / tasks, end = rows * (task + 1) / tasks;
    if (first == end) return {};
    return b.with_elements([&](const auto& elements) {
      return Prefetcher(elements.from(first, 0), end - first, columns);
    });
  }
};

void multiply(const MatmulSizes& sizes, const MatrixRef& a, const float* packed_b,
              const NextPanels& next_panels, const MatmulResult& result, int threads) {
  const std::int64_t panels = panels_of(sizes.columns);
  // Enough tasks for all threads to end together, but not more.
  const std::int64_t wished = threads == 1 ? 1 : 4 * threads;
  const std::int64_t panel_groups =
      std::clamp(blocks_of(wished, blocks_of(sizes.rows, kRowBlock)),
                 blocks_of(panels, max_task_panels()), blocks_of(panels, kMinTaskPanels));
  const std::int64_t group_panels = blocks_of(panels, panel_groups);
  const std::int64_t used_groups = blocks_of(panels, group_panels);
  const std::int64_t block = task_rows(sizes.rows, used_groups, threads);
  const std::int64_t tasks = blocks_of(sizes.rows, block) * used_groups;
  const auto rows_of = [&](std::int64_t task) {
    return a.data + task / used_groups * block * a.row_stride;
  };
  parallel_for(tasks, threads, [&](std::int64_t task) {
    const std::int64_t row = task / used_groups * block;
    const std::int64_t panel = task % used_groups * group_panels;
    const std::int64_t next = task + threads;
    MatmulResult task_result = result;
    task_result.c += row * result.c_row;
    if (result.relu_of != nullptr) task_result.relu_of += row * result.c_row;
    task_result.sums = result.sums == nullptr || panel > 0 ? nullptr : result.sums + row;
    multiply_block({.rows = std::min(block, sizes.rows - row),
                    .depth = sizes.depth,
                    .a = {rows_of(task), a.row_stride, a.column_stride},
                    .next_a = next < tasks ? rows_of(next) : nullptr,
                    .b = {packed_b, panels},
                    .next_b = next_panels.share(task, tasks),
                    .first_panel = panel,
                    .end_panel = std::min(panels, panel + group_panels),
                    .columns = sizes.columns,
                    .result = task_result});
  });
}

// All threads pack one b, a range of the depth at a time.
void matmul_shared_packing(const MatmulSizes& sizes, const MatrixRef& a, const StoredMatrix& b,
                           const MatmulResult& result, int threads) {
  const std::int64_t step = max_depth(sizes, a);
  for (std::int64_t k = 0; k < sizes.depth || k == 0; k += step) {
    const std::int64_t depth = std::min(step, sizes.depth - k);
    for (std::int64_t j = 0; j < sizes.columns; j += kMaxColumns) {
      const std::int64_t columns = std::min(kMaxColumns, sizes.columns - j);
      const ScratchLease packed(depth * panels_of(columns) * kPanelLanes);
      const auto block_of_b = [&](std::int64_t from) { return b.from(from, j); };
      pack(block_of_b(k), depth, columns, packed.data(), threads);
      const std::int64_t next = k + depth;
      multiply({sizes.rows, columns, depth},
               {a.data + k * a.column_stride, a.row_stride, a.column_stride}, packed.data(),
               {block_of_b(next), std::min(step, sizes.depth - next), columns},
               result_of(result, sizes, {.k = k, .end = next, .j = j}), threads);
    }
  }
}

// Each thread computes one block of c.
void matmul_separate_blocks(const MatmulSizes& sizes, const MatrixRef& a, const StoredMatrix& b,
                            const MatmulResult& result, const Division& block, int threads) {
  const std::int64_t row_blocks = blocks_of(sizes.rows, block.rows);
  const std::int64_t column_blocks = blocks_of(sizes.columns, block.columns);
  parallel_for(row_blocks * column_blocks, threads, [&](std::int64_t task) {
    const std::int64_t i = task / column_blocks * block.rows,
                       j = task % column_blocks * block.columns;
    MatmulResult task_result = result_of(result, sizes, {.k = 0, .end = sizes.depth, .j = j});
    task_result.c += i * result.c_row;
    if (task_result.sums != nullptr) task_result.sums += i;
    if (task_result.relu_of != nullptr) task_result.relu_of += i * result.c_row;
    matmul_shared_packing({std::min(block.rows, sizes.rows - i),
                           std::min(block.columns, sizes.columns - j), sizes.depth},
                          a.from(i, 0), b.from(0, j), task_result, 1);
  });
}

// Each thread takes some panels of b, packs one at a time and multiplies it at once.
void matmul_few_rows(const MatmulSizes& sizes, const MatrixRef& a, const StoredMatrix& b,
                     const MatmulResult& result, int threads) {
  const ScratchLease packed_a(few_rows_floats(sizes.rows, sizes.depth));
  pack_few_rows(a, sizes.rows, sizes.depth, packed_a.data());
  const std::int64_t panels = panels_of(sizes.columns);
  const std::int64_t wished = threads == 1 ? 1 : kFewRowsTasks * threads;
  const std::int64_t group = blocks_of(panels, wished) * kPanelLanes;
  parallel_for(blocks_of(sizes.columns, group), threads, [&](std::int64_t task) {
    multiply_few_rows({.rows = sizes.rows,
                       .depth = sizes.depth,
                       .packed_a = packed_a.data(),
                       .b = b,
                       .first_column = task * group,
                       .end_column = std::min(sizes.columns, (task + 1) * group),
                       .result = result});
  });
}

}  // namespace

void matmul(const MatmulSizes& sizes, const MatrixRef& a, const StoredMatrix& b,
            const MatmulResult& result, int threads) {
  if (sizes.rows <= 0 || sizes.columns <= 0) return;
  threads = threads_of(sizes, threads);
  if (sizes.rows <= kFewRows && result.sums == nullptr) {
    return matmul_few_rows(sizes, a, b, result, threads);
  }
  const Division block = division(sizes, threads);
  if (block.rows > 0) return matmul_separate_blocks(sizes, a, b, result, block, threads);
  matmul_shared_packing(sizes, a, b, result, threads);
}

PackedMatrix::PackedMatrix(const StoredMatrix& b, std::int64_t depth, std::int64_t columns,
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
  const NextPanels none{MatrixRef{nullptr, 0, 0}};
  multiply(sizes, a, b.data(), none, result, threads_of(sizes, threads));
}

}  // namespace sextant::kernels

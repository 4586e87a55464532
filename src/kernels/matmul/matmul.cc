// Cuts a matrix product into tasks: b is packed by all threads, then each task takes some rows and
// some panels of columns through the whole depth; or each thread makes a part of c by itself.
#include "kernels/matmul/matmul.h"

#ifdef __unix__
#include <unistd.h>
#endif

#include <algorithm>

#include "core/scratch_lease.h"
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
constexpr double kWorthThreads = 2e5;           // multiply-adds, some ten microseconds

std::int64_t count_of(int threads) { return threads == 0 ? default_threads() : threads; }

// How much of the depth is packed at a time: what the second and third caches keep until it is
// read. For gradients of weights, which are deep and small, that is least.
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
          .sums = part.j > 0 ? nullptr : from(whole.sums, part.k / kSumRows * whole.sums_row),
          .sums_row = whole.sums_row,
          .relu = whole.relu && last,
          .relu_of = last ? from(whole.relu_of, part.j) : nullptr};
}

void pack(const MatrixRef& b, std::int64_t depth, std::int64_t columns, float* packed,
          int threads) {
  const std::int64_t panels = panels_of(columns), blocks = blocks_of(depth, kDepthBlock);
  const std::int64_t group = std::clamp<std::int64_t>(blocks_of(blocks * panels, count_of(threads)),
                                                      kMinPackTask, kMaxPackTask);
  const std::int64_t groups = blocks_of(panels, group);
  parallel_for(blocks * groups, threads, [&](std::int64_t task) {
    const std::int64_t first = task % groups * group;
    pack_panels(b, depth, columns, task / groups, first, std::min(panels, first + group), packed);
  });
}

// What is packed behind this: so many rows of so many columns of b, whose first element is given.
struct NextPart {
  MatrixRef b{};
  std::int64_t rows = 0, columns = 0;

  // One of so many equal shares, to be asked for meanwhile.
  Prefetcher share(std::int64_t task, std::int64_t tasks) const {
    const std::int64_t first = rows * task / tasks, end = rows * (task + 1) / tasks;
    if (first == end) return {};
    return {{b.data + first * b.row_stride, b.row_stride, b.column_stride}, end - first, columns};
  }
};

void multiply(const MatmulSizes& sizes, const MatrixRef& a, const float* packed_b,
              const NextPart& next_part, const MatmulResult& result, int threads) {
  const std::int64_t panels = panels_of(sizes.columns);
  const std::int64_t used_threads = count_of(threads);
  // Enough tasks for all threads to end together, but not more.
  const std::int64_t wished = used_threads == 1 ? 1 : 4 * used_threads;
  const std::int64_t parts =
      std::clamp(blocks_of(wished, blocks_of(sizes.rows, kRowBlock)),
                 blocks_of(panels, max_task_panels()), blocks_of(panels, kMinTaskPanels));
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
                    .next_b = next_part.share(task, tasks),
                    .first_panel = panel,
                    .end_panel = std::min(panels, panel + part_panels),
                    .columns = sizes.columns,
                    .result = part});
  });
}

// All threads pack one b, a part of the depth at a time.
void matmul_together(const MatmulSizes& sizes, const MatrixRef& a, const MatrixRef& b,
                     const MatmulResult& result, int threads) {
  const std::int64_t step = max_depth(sizes, a);
  for (std::int64_t k = 0; k < sizes.depth || k == 0; k += step) {
    const std::int64_t depth = std::min(step, sizes.depth - k);
    for (std::int64_t j = 0; j < sizes.columns; j += kMaxColumns) {
      const std::int64_t columns = std::min(kMaxColumns, sizes.columns - j);
      const ScratchLease packed(depth * panels_of(columns) * kPanelLanes);
      const auto part = [&](std::int64_t from) {
        return MatrixRef{b.data + from * b.row_stride + j * b.column_stride, b.row_stride,
                         b.column_stride};
      };
      pack(part(k), depth, columns, packed.data(), threads);
      const std::int64_t behind = k + depth;
      multiply({sizes.rows, columns, depth},
               {a.data + k * a.column_stride, a.row_stride, a.column_stride}, packed.data(),
               {part(behind), std::min(step, sizes.depth - behind), columns},
               part_of(result, sizes, {.k = k, .end = behind, .j = j}), threads);
    }
  }
}

// Each thread multiplies its own part of c from beginning to end.
void matmul_apart(const MatmulSizes& sizes, const MatrixRef& a, const MatrixRef& b,
                  const MatmulResult& result, const Division& each, int threads) {
  const std::int64_t row_parts = blocks_of(sizes.rows, each.rows);
  const std::int64_t column_parts = blocks_of(sizes.columns, each.columns);
  parallel_for(row_parts * column_parts, threads, [&](std::int64_t task) {
    const std::int64_t i = task / column_parts * each.rows, j = task % column_parts * each.columns;
    MatmulResult part = part_of(result, sizes, {.k = 0, .end = sizes.depth, .j = j});
    part.c += i * result.c_row;
    if (part.sums != nullptr) part.sums += i;
    if (part.relu_of != nullptr) part.relu_of += i * result.c_row;
    matmul_together({std::min(each.rows, sizes.rows - i), std::min(each.columns, sizes.columns - j),
                     sizes.depth},
                    {a.data + i * a.row_stride, a.row_stride, a.column_stride},
                    {b.data + j * b.column_stride, b.row_stride, b.column_stride}, part, 1);
  });
}

}  // namespace

void matmul(const MatmulSizes& sizes, const MatrixRef& a, const MatrixRef& b,
            const MatmulResult& result, int threads) {
  if (sizes.rows <= 0 || sizes.columns <= 0) return;
  threads = worth(sizes, threads);
  const Division each = division(sizes, count_of(threads));
  if (each.rows > 0) return matmul_apart(sizes, a, b, result, each, threads);
  matmul_together(sizes, a, b, result, threads);
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
  multiply(sizes, a, b.data(), {}, result, worth(sizes, threads));
}

}  // namespace sextant::kernels

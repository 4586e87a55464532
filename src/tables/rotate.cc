// Rotation of queries and keys by a rotation table: checks, and the distribution of work to
// threads.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/arrays/overlap.h"
#include "core/options/fields.h"
#include "kernels/rotate/rotate_rows.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {
namespace {

template <class T, class U>
void check_rotation(View<const T> x, View<T> out, const RotationTable<U>& table) {
  if (x.rank() != 4) {
    throw Error("rotate.x",
                "must be [batch, heads, length, head_dim], got " + x.shape().to_string());
  }
  if (out.shape() != x.shape()) {
    throw Error("rotate.out", "must have the shape of x, " + x.shape().to_string() + ", got " +
                                  out.shape().to_string());
  }
  check_memory("rotate.x", x);
  if (!is_same_view<T>(x, out) && overlaps(x, out)) {
    throw Error("rotate.out", "must be x itself or not overlap it");
  }
  CallArrays arrays("rotate");
  arrays.add_input("table", table.cos);
  arrays.add_input("table", table.sin);
  arrays.add_output("out", out);
  check_named("rotate.table.layout", table.layout);
  const Shape& shape = table.cos.shape();
  const int rank = shape.rank();
  if ((rank != 2 && rank != 3) || shape != table.sin.shape()) {
    throw Error("rotate.table",
                "must hold cos and sin of one shape [position, pairs] or [heads, position, pairs]");
  }
  if (rank == 3 && shape[0] != x.size(1)) {
    throw Error("rotate.table", "must be for the " + std::to_string(x.size(1)) +
                                    " heads of x, got " + shape.to_string());
  }
  if (shape[rank - 2] != x.size(2)) {
    throw Error("rotate.table", "must have one row per position of x, " +
                                    std::to_string(x.size(2)) + ", got " +
                                    std::to_string(shape[rank - 2]));
  }
  const std::int64_t span = 2 * shape[rank - 1];
  if (table.first_channel < 0 || table.first_channel > x.size(3) - span) {
    throw Error("rotate.table", "must rotate channels inside head_dim " +
                                    std::to_string(x.size(3)) + ", got " + std::to_string(span) +
                                    " channels from " + std::to_string(table.first_channel));
  }
}

// float64 is the reference of the others: the formula itself, an element at a time.
void rotate_heads(const kernels::RotatedHeads<double>& heads,
                  const kernels::BasicRotationRows<double>& table) {
  const auto [x_head, x_row, x_step] = heads.x_strides;
  const auto [out_head, out_row, out_step] = heads.out_strides;
  const std::int64_t begin = table.first_channel;
  const std::int64_t end = begin + 2 * table.pairs;
  const std::int64_t step = table.interleaved ? 2 : 1;
  const std::int64_t partner = table.interleaved ? 1 : table.pairs;
  for (std::int64_t h = 0; h < heads.heads; ++h) {
    for (std::int64_t n = 0; n < heads.rows; ++n) {
      const double* x = heads.x + h * x_head + n * x_row;
      double* out = heads.out + h * out_head + n * out_row;
      for (std::int64_t c = 0; c < begin; ++c) out[c * out_step] = x[c * x_step];
      for (std::int64_t c = end; c < heads.head_dim; ++c) out[c * out_step] = x[c * x_step];
      for (std::int64_t k = 0; k < table.pairs; ++k) {
        const std::int64_t c = begin + k * step;
        const double x1 = x[c * x_step];
        const double x2 = x[(c + partner) * x_step];
        const double cosine = table.cos[n * table.stride + k];
        const double sine =
            table.inverse ? -table.sin[n * table.stride + k] : table.sin[n * table.stride + k];
        out[c * out_step] = x1 * cosine - x2 * sine;
        out[(c + partner) * out_step] = x1 * sine + x2 * cosine;
      }
    }
  }
}

// Work in blocks of positions and heads: large enough to amortise a task, small enough to balance
// the load, and with few enough table rows for the L2 cache.
constexpr std::int64_t kTaskBytes = std::int64_t{1} << 20;
constexpr std::int64_t kTableBytes = std::int64_t{256} << 10;
// Results of this size do not stay in the caches.
constexpr std::int64_t kStreamBytes = std::int64_t{16} << 20;

struct Blocks {
  std::int64_t rows;
  std::int64_t heads;
};

Blocks blocks_of(const Shape& shape, std::int64_t element_bytes, std::int64_t table_row_bytes,
                 bool heads_inside) {
  const std::int64_t rows_per_task =
      std::max<std::int64_t>(1, kTaskBytes / std::max<std::int64_t>(1, shape[3] * element_bytes));
  const std::int64_t max_rows = std::clamp(kTableBytes / std::max<std::int64_t>(1, table_row_bytes),
                                           std::int64_t{1}, std::max<std::int64_t>(1, shape[2]));
  Blocks blocks{};
  if (heads_inside) {
    blocks.heads = std::clamp<std::int64_t>(shape[1], 1, rows_per_task);
    blocks.rows = std::clamp<std::int64_t>(rows_per_task / blocks.heads, 1, max_rows);
  } else {
    blocks.rows = std::min(rows_per_task, max_rows);
    blocks.heads = std::clamp<std::int64_t>(rows_per_task / blocks.rows, 1,
                                            std::max<std::int64_t>(1, shape[1]));
  }
  return blocks;
}

template <class T, class U>
void rotate_array(View<const T> x, View<T> out, const RotationTable<U>& table, int threads,
                  bool inverse) {
  check_range(kThreads, "rotate.threads", threads);
  check_rotation(x, out, table);
  if (x.count() == 0) return;
  const Shape& shape = x.shape();
  const bool by_head = table.cos.rank() == 3;
  const std::int64_t pairs = table.cos.size(by_head ? 2 : 1);
  constexpr auto kElement = static_cast<std::int64_t>(sizeof(T));
  const bool heads_inside = std::abs(out.stride(1)) < std::abs(out.stride(2));
  Blocks blocks =
      blocks_of(shape, kElement, 2 * pairs * static_cast<std::int64_t>(sizeof(U)), heads_inside);
  if (by_head) blocks.heads = 1;  // heads of a block share the rows of a table
  const std::int64_t head_blocks = (shape[1] + blocks.heads - 1) / blocks.heads;
  const std::int64_t row_blocks = (shape[2] + blocks.rows - 1) / blocks.rows;
  const bool stream = !is_same_view<T>(x, out) && x.count() >= kStreamBytes / kElement;
  parallel_for(shape[0] * row_blocks * head_blocks, threads, [&](std::int64_t task) {
    const std::int64_t head = task % head_blocks * blocks.heads;
    const std::int64_t row = task / head_blocks % row_blocks * blocks.rows;
    const std::int64_t batch = task / head_blocks / row_blocks;
    kernels::RotatedHeads<T> heads;
    heads.x = &x(batch, head, row, 0);
    heads.out = &out(batch, head, row, 0);
    heads.heads = std::min(blocks.heads, shape[1] - head);
    heads.rows = std::min(blocks.rows, shape[2] - row);
    heads.head_dim = shape[3];
    for (int axis = 1; axis < 4; ++axis) {
      heads.x_strides[axis - 1] = x.stride(axis);
      heads.out_strides[axis - 1] = out.stride(axis);
    }
    heads.stream = stream;
    kernels::BasicRotationRows<U> rows;
    const std::int64_t begin = ((by_head ? head * shape[2] : 0) + row) * pairs;
    rows.cos = table.cos.data() + begin;
    rows.sin = table.sin.data() + begin;
    rows.stride = pairs;
    rows.pairs = pairs;
    rows.first_channel = table.first_channel;
    rows.interleaved = table.layout == RotaryLayout::interleaved;
    rows.inverse = inverse;
    rotate_heads(heads, rows);
  });
}

}  // namespace

template <Floating T, Floating U>
requires(std::is_same_v<T, U> || (sizeof(T) == 2 && std::is_same_v<U, float>)) void rotate(
    View<const T> x, View<T> out, const RotationTable<U>& table, int threads) {
  rotate_array(x, out, table, threads, false);
}

template <Floating T, Floating U>
requires(std::is_same_v<T, U> || (sizeof(T) == 2 && std::is_same_v<U, float>)) void rotate_back(
    View<const T> x, View<T> out, const RotationTable<U>& table, int threads) {
  rotate_array(x, out, table, threads, true);
}

#define SEXTANT_INSTANTIATE(T, U)                                             \
  template void rotate(View<const T>, View<T>, const RotationTable<U>&, int); \
  template void rotate_back(View<const T>, View<T>, const RotationTable<U>&, int);
SEXTANT_INSTANTIATE(float, float)
SEXTANT_INSTANTIATE(double, double)
SEXTANT_INSTANTIATE(bfloat16, bfloat16)
SEXTANT_INSTANTIATE(bfloat16, float)
SEXTANT_INSTANTIATE(float16, float16)
SEXTANT_INSTANTIATE(float16, float)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

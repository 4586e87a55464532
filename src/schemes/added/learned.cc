// Learned absolute positions: rows of a trained table, looked up by position id. Nothing is
// computed, nothing is guessed beyond the last row.
#include "sextant/schemes/added/learned.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/npy.h"

namespace sextant {
namespace {

void check_offset(std::int64_t offset, std::int64_t rows) {
  if (offset >= 0 && offset < rows) return;
  throw Error("learned.offset", "must be 0 .. " + std::to_string(rows - 1) + " for a table of " +
                                    std::to_string(rows) + " rows, got " + std::to_string(offset));
}

// The row of a position in a table of checked size.
std::int64_t row_of(std::int64_t position, std::int64_t rows, std::int64_t offset, bool clamp) {
  const std::int64_t length = rows - offset;
  if (clamp && position >= length) return rows - 1;
  if (position < 0 || position >= length) {
    throw Error("learned.positions", "must be " +
                                         (clamp ? "0 or more"
                                                : "0 .. " + std::to_string(length - 1) +
                                                      ", the positions of this table") +
                                         ", got " + std::to_string(position));
  }
  return position + offset;
}

}  // namespace

LearnedPositions LearnedPositions::load(const std::string& path, std::int64_t offset, bool clamp) {
  const Array file = load_npy(path);
  if (!is_float(file.dtype)) {
    throw Error(
        path,
        "must hold float16, bfloat16, float32 or float64, got " +
            std::string(dtype_name(file.dtype)) +
            (file.dtype == DType::uint16 ? " (bfloat16 bits? widen them to float32 first)" : ""));
  }
  return LearnedPositions(file.to<float>(), offset, clamp);
}

LearnedPositions::LearnedPositions(Tensor<float> table, std::int64_t offset, bool clamp)
    : table_(std::move(table)), offset_(offset), clamp_(clamp) {
  if (table_.rank() != 2 || table_.count() == 0) {
    throw Error("learned.table", "must be [rows, width] with at least one of each, got shape " +
                                     table_.shape().to_string());
  }
  check_offset(offset_, table_.size(0));
  const std::span<const float> values = std::as_const(table_).span();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad != values.end()) {
    const std::int64_t index = bad - values.begin();
    throw Error("learned.table", "must be finite in float32, which row " +
                                     std::to_string(index / width()) + ", column " +
                                     std::to_string(index % width()) + " is not");
  }
}

Tensor<float> LearnedPositions::rows(std::span<const std::int64_t> positions) const {
  Tensor<float> out =
      Tensor<float>::uninitialized({static_cast<std::int64_t>(positions.size()), width()});
  float* to = out.data();
  for (const std::int64_t position : positions) {
    const std::int64_t row = row_of(position, table_.size(0), offset_, clamp_);
    to = std::copy_n(table_.data() + row * width(), width(), to);
  }
  return out;
}

std::vector<std::int64_t> learned_rows(std::span<const std::int64_t> positions, std::int64_t rows,
                                       std::int64_t offset, bool clamp) {
  if (rows < 1) throw Error("learned.rows", "must be 1 or more, got " + std::to_string(rows));
  check_offset(offset, rows);
  std::vector<std::int64_t> result;
  result.reserve(positions.size());
  for (const std::int64_t position : positions) {
    result.push_back(row_of(position, rows, offset, clamp));
  }
  return result;
}

Tensor<double> learned_backward(std::span<const std::int64_t> positions,
                                View<const double> gradient, std::int64_t rows, std::int64_t offset,
                                bool clamp) {
  const auto count = static_cast<std::int64_t>(positions.size());
  if (gradient.rank() != 2 || gradient.size(0) != count) {
    throw Error("learned.gradient", "must have one row for each of the " + std::to_string(count) +
                                        " positions, got " + gradient.shape().to_string());
  }
  const std::vector<std::int64_t> used = learned_rows(positions, rows, offset, clamp);
  Tensor<double> result({rows, gradient.size(1)});
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = used[static_cast<std::size_t>(i)];
    for (std::int64_t k = 0; k < gradient.size(1); ++k) result(row, k) += gradient(i, k);
  }
  return result;
}

}  // namespace sextant

// Computes the exact angles of some ids, and adds the rest.
#include "schemes/rotated/axis_angles.h"

#include <algorithm>
#include <cmath>

#include "core/numbers/wide_float.h"
#include "core/threads/interruption.h"
#include "kernels/sines/angle_addition.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

constexpr std::int64_t kBlock = 64;  // ids that share an exact row
constexpr std::int64_t kDigit = 8;   // of a block, likewise: additions multiply an error
constexpr std::int64_t kTaskIds = 64;

// Tensors are aligned, as the kernels need it.
Tensor<double> new_rows(std::int64_t rows, std::size_t width) {
  return Tensor<double>::uninitialized({rows, static_cast<std::int64_t>(width)});
}

}  // namespace

AxisAngles::AxisAngles(std::span<const double> frequencies)
    : frequencies_(frequencies),
      columns_(kernels::padded_columns(frequencies.size())),
      steps_(new_rows(kBlock, stride())) {
  for (const double frequency : frequencies) {
    turns_.push_back(kernels::turns_of(WideFloat(std::fabs(frequency))));
  }
  for (std::int64_t id = 0; id < kBlock; ++id) {
    const std::int64_t rest = id % kDigit;
    if (rest == 0 || id == 1) {
      fill(id, step(id));
    } else if (id < kDigit) {
      kernels::add_angles_exactly(step(id - 1), step(1), step(id), columns_);
    } else {
      kernels::add_angles_exactly(step(id - rest), step(rest), step(id), columns_);
    }
  }
}

Tensor<double> AxisAngles::rows(const DistinctIds& ids, std::size_t parts, int threads) const {
  Tensor<double> made = new_rows(ids.count, parts * columns_);
  parallel_for((ids.count + kTaskIds - 1) / kTaskIds, threads, [&](std::int64_t task) {
    Tensor<double> start = new_rows(1, stride()), row = new_rows(1, stride());
    const std::int64_t first = task * kTaskIds, end = std::min(ids.count, first + kTaskIds);
    for (std::int64_t i = first; i < end; ++i) {
      const std::int64_t id = ids[i];
      if (i == first || id >> 6 != ids[i - 1] >> 6) {
        check_interruption();
        fill(id >> 6 << 6, start.data());
      }
      kernels::add_angles_exactly(start.data(), &steps_(id & 63, 0), row.data(), columns_);
      std::copy_n(row.data(), parts * columns_, &made(i, 0));
    }
  });
  return made;
}

Tensor<double> AxisAngles::cosines_of(const Tensor<double>& rows) const {
  Tensor<double> made = Tensor<double>::uninitialized(rows.shape());
  const auto width = static_cast<std::int64_t>(columns_);
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    for (std::int64_t part = 0; part < rows.size(1); part += 2 * width) {
      for (std::int64_t k = part; k < part + width; ++k) {
        made(i, k) = rows(i, k + width);
        made(i, k + width) = -rows(i, k);
      }
    }
  }
  return made;
}

// Computes the exact row of one id.
void AxisAngles::fill(std::int64_t id, double* row) const {
  std::fill_n(row, stride(), 0.0);
  std::fill_n(row + columns_, columns_, 1.0);
  for (std::size_t k = 0; k < frequencies_.size(); ++k) {
    kernels::SineAndCosine value{{0, 0}, {1, 0}};
    if (id != 0) value = kernels::sine_and_cosine(turns_[k], id);
    if (frequencies_[k] < 0) value.sin = -value.sin;
    row[k] = value.sin.hi;
    row[columns_ + k] = value.cos.hi;
    row[2 * columns_ + k] = value.sin.lo;
    row[3 * columns_ + k] = value.cos.lo;
  }
}

}  // namespace sextant

// Rows of angles of one axis, for tables that add those of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/sines/turns.h"
#include "schemes/indexed/distinct_ids.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Makes rows of kernels/sines/angle_addition.h: of multiples of 64, plus those of 0 .. 63, so that
// the row of an id is the same whichever others occur. Frequencies may be negative.
class AxisAngles {
 public:
  explicit AxisAngles(std::span<const double> frequencies);

  // Returns how many columns a part of a row has.
  std::size_t columns() const noexcept { return columns_; }

  // Returns [ids, parts, columns], columns showing sines: the four parts of exact rows, or the two
  // of rounded ones.
  Tensor<double> rows(const DistinctIds& ids, std::size_t parts, int threads) const;
  // Returns the same rows with columns that show cosines.
  Tensor<double> cosines_of(const Tensor<double>& rows) const;

 private:
  std::size_t stride() const noexcept { return 4 * columns_; }
  double* step(std::int64_t id) noexcept { return &steps_(id, 0); }
  void fill(std::int64_t id, double* row) const;

  std::span<const double> frequencies_;
  std::size_t columns_;
  std::vector<kernels::Turns> turns_;
  Tensor<double> steps_;  // [64, 4 columns]
};

}  // namespace sextant

// Powers of xPos: zeta^(offset / scale_base) of every pair.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/numbers/double_double.h"
#include "core/numbers/wide_float.h"
#include "kernels/sines/sine_table.h"

namespace sextant {

// Holds rho and 1 / rho of offsets from the center, each as two factors: of the block of 64 offsets
// that it is in, counted from the center, and of its place there. Neither factor is further from 1
// than their product. Each is off by half a unit in the last place, and is the same in any table.
class XposPowers {
 public:
  XposPowers(const std::vector<WideFloat>& zeta, double scale_base,
             const kernels::Positions& positions, std::int64_t center);

  // Returns the factors of rho, or of 1 / rho, of all pairs at one of the positions.
  std::pair<const double*, const double*> factors(std::int64_t position,
                                                  bool reverse) const noexcept;

 private:
  using Powers = std::vector<DoubleDouble>;

  Powers exactly(std::int64_t n) const;
  bool is_chained(std::int64_t n) const noexcept;
  void fill(bool reverse, std::int64_t steps, const Powers& ratio);

  std::size_t pairs_;
  std::int64_t center_;
  std::vector<std::int64_t> blocks_;  // those that occur, ascending
  std::vector<WideFloat> rates_;      // logarithms for one position, of the direction to be filled
  double largest_rate_ = 0;
  std::vector<double> steps_;   // [2, 64, pairs]
  std::vector<double> starts_;  // [2, blocks, pairs]
};

}  // namespace sextant

// Makes local attention as a bias: keys near the query are visible, the others hidden (Child et al.
// 2019, 1904.10509; Beltagy et al. 2020, 2004.05150, section 3.1).
#pragma once

#include <cstdint>

#include "sextant/tables/distance_bias.h"

namespace sextant {

struct LocalWindow {
  // Visible keys to the left and right of the diagonal, without the diagonal; -1: no limit.
  std::int64_t left = 64;
  std::int64_t right = 64;
  std::int64_t dilation = 1;  // >= 1: only every n-th key is visible, counted from the diagonal
};

// Returns values[0, key - query + length - 1], [1, 2 length - 1]: 0 if dilation divides the
// distance and -left dilation <= key - query <= right dilation, else -infinity. Throws Error if an
// option is out of its range, and unless length is in 1 .. 2^28. Without dilation
// AttentionOptions::window does the same and skips hidden keys.
DistanceBias window(const LocalWindow& options, std::int64_t length);

}  // namespace sextant

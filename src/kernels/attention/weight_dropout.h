// Dropout of the weights of one head (Srivastava et al. 2014; Vaswani et al. 2017, section 5.4).
#pragma once

#include <cstdint>

#include "kernels/simd/philox.h"

namespace sextant::kernels {

// Says which weights are dropped: a function of the seed and of the indices of the sequence, head,
// query and key. Weight (query, key) looks at number key % 4 of Philox 4x32-10 with the counter
// (key / 4, query, head).
struct WeightDropout {
  std::uint32_t threshold = 0;  // weights with a smaller number are dropped; 0: no weight is
  double factor = 1;            // of the others, 1 / (1 - rate)
  std::uint64_t seed = 0;
  std::uint64_t head = 0;  // the sequence's index or row times the number of heads, plus the head
  std::int64_t first_query = 0;  // the index in the sequence of query 0

  bool is_on() const noexcept { return threshold != 0; }
  bool keeps(std::int64_t query, std::int64_t key) const noexcept {
    const auto low = [](auto x) { return static_cast<std::uint32_t>(x); };
    const auto numbers =
        philox({low(key / 4), low(first_query + query), low(head), low(head >> 32)},
               {low(seed), low(seed >> 32)});
    return numbers[static_cast<std::size_t>(key % 4)] >= threshold;
  }
};

}  // namespace sextant::kernels

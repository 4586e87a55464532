// Computes the order of the data, a function of the seed and the step.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

// Endless passes over `count` items, each in a different order.
class Epochs {
 public:
  // Throws Error unless count is 1 .. 2^32 - 1.
  Epochs(std::int64_t count, std::uint64_t seed);

  std::int64_t count() const noexcept { return count_; }
  // Returns item number `place` of the concatenated passes, place >= 0: 0 .. count - 1. Caches the
  // order of one pass: ascending places are fast.
  std::int64_t operator()(std::int64_t place);

 private:
  std::int64_t count_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::uint32_t> order_;
};

}  // namespace sextant

// The sum of a step's gradients over its parts, while they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/gradients/gradient_bucket.h"

namespace sextant {

// A backward pass has the gradients of the last layers first. Finished ones are sent and added up
// while it continues with the layers before, in buckets of neighbours: messages of a suitable size.
class GradientSum {
 public:
  static constexpr std::int64_t kBucket = std::int64_t{1} << 18;  // numbers, about: 1 MiB

  // `gradients`: zeros, in the order of the model's parameters.
  GradientSum(const Parameters<float>& gradients, std::int64_t parts, TrainingGroup* group,
              std::int64_t bucket = kBucket);

  // The gradients from the one with this data on (nullptr: all) are those of `part`, one of the own
  // ones, which come in their order. They are set to zero when they are taken.
  void ready(std::int64_t part, const void* first);
  // Closes the own parts: no more gradients will come, and missing ones count as they are.
  void close();
  // Waits for the sums of all ranks, which are in the gradients then. After close().
  void finish();

 private:
  void advance();

  struct Bucket {
    GradientBucket sum;
    std::size_t first;       // of the gradients
    std::int64_t next_part;  // to be taken
    bool started = false;
  };
  std::vector<const void*> data_;  // of each gradient
  std::vector<Bucket> buckets_;    // from the last parameters to the first
  std::int64_t last_part_ = 0;     // after the own ones
};

}  // namespace sextant

// Gradients of some parameters on their way to the sum over all parts and ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sextant/layers/parameters.h"
#include "sextant/training/group.h"
#include "training/gradients/gradient_tree.h"

namespace sextant {

// A rank adds the whole subtrees among its own parts; then each rank gets one slice of all
// subtrees, adds them up to the root, and sends the sum to all.
class GradientBucket {
 public:
  // `group`: nullptr where one process makes all parts.
  GradientBucket(Parameters<float> gradients, std::int64_t parts, TrainingGroup* group);

  // Takes the gradients of one of the own parts, in their order, and sets them to zero.
  void take(std::int64_t part);
  // After the last one: sends the slices of the own subtrees.
  void start();
  // Adds up the own slice and sends the sum if all subtrees of it have arrived; does not wait.
  // Whether that is done, now or before. Ranks do it for their buckets in the same order.
  bool advance();
  // Waits for the messages that advance() does not wait for.
  void add_up();
  // Waits for the sum, and puts it into the gradients.
  void finish();

 private:
  std::span<float> slice(int rank, std::vector<float>& values) const;
  void add_up_own_slice();

  Parameters<float> gradients_;
  std::int64_t parts_;
  TrainingGroup* group_;
  std::vector<std::int64_t> ends_{0};              // of slices, in numbers
  std::vector<GradientNode> nodes_;                // of the own parts
  std::vector<std::vector<GradientNode>> slices_;  // of each rank's nodes, the own slice
  std::vector<float> sum_;
  std::unique_ptr<TrainingGroup::Messages> subtrees_, sums_;  // pending
};

}  // namespace sextant

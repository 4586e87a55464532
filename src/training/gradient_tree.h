// The sum of a step's gradients over its parts, in an order that depends on the number of parts
// alone.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sextant/layers/parameters.h"
#include "sextant/training/group.h"

namespace sextant {

// The parts [first, last) of a step that a rank makes: rank r has those from parts r / ranks on.
std::pair<std::int64_t, std::int64_t> parts_of_rank(std::int64_t parts, int rank, int ranks);

// Every rank has a range of elements, [ends[r], ends[r + 1]) of `all`: afterwards each has all.
void share(TrainingGroup& group, std::span<std::byte> all, std::span<const std::int64_t> ends);

// Parts are the leaves of a binary tree: 0 + 1, 2 + 3, ..., then pairs of those, and so on; the
// last one of an odd count goes up as it is. A rank adds what is a whole subtree among its own
// parts; then each rank gets one slice of all subtrees, adds them up to the root, and gives the sum
// to all.
class GradientTree {
 public:
  // `group`: nullptr where one process makes all parts.
  GradientTree(std::int64_t parts, TrainingGroup* group) : parts_(parts), group_(group) {}

  // Takes the gradients of one of the own parts, in their order, and sets them to zero.
  void take(std::int64_t part, const Parameters<float>& gradients);
  // The root, into gradients that are zero.
  void finish(const Parameters<float>& gradients);

  // The sum of parts [first, first + count), count a power of 2.
  struct Node {
    std::int64_t first = 0, count = 1;
    std::vector<float> values{};
  };
  // Nodes in the order of parts; one that completes a pair is added to its neighbour.
  static void push(std::vector<Node>& nodes, Node node);
  // The root of what is left.
  static std::vector<float> root(std::vector<Node> nodes);

 private:
  void sum_slices(std::vector<float>& sum);

  std::int64_t parts_;
  TrainingGroup* group_;
  std::vector<Node> nodes_;
};

}  // namespace sextant

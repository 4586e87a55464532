// Defines the order in which the parts of a step are added up, which depends only on their number.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace sextant {

// Parts are the leaves of a binary tree: 0 + 1, 2 + 3, ..., then pairs of those, and so on; the
// last one of an odd count goes up unchanged. A node is the sum of parts [first, first + count),
// count a power of 2.
struct GradientNode {
  std::int64_t first = 0, count = 1;
  std::vector<float> values{};
};

// Nodes in the order of parts; one that completes a pair is added to its neighbour.
void tree_add(std::vector<GradientNode>& nodes, GradientNode node);
// Returns the root of the remaining nodes.
std::vector<float> tree_sum(std::vector<GradientNode> nodes);

// Returns the parts [first, last) of a step that a rank makes: rank r has those from parts r /
// ranks on.
std::pair<std::int64_t, std::int64_t> parts_of_rank(std::int64_t parts, int rank, int ranks);
// Returns the nodes of a rank after all its parts, without values.
std::vector<GradientNode> nodes_of_rank(std::int64_t parts, int rank, int ranks);

}  // namespace sextant

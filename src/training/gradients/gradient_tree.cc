// Nodes as a stack: a subtree is complete when its right half is.
#include "training/gradients/gradient_tree.h"

namespace sextant {
namespace {

void add(std::vector<float>& to, const std::vector<float>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

bool siblings(const GradientNode& left, const GradientNode& right) {
  return left.count == right.count && right.first == left.first + left.count &&
         left.first / left.count % 2 == 0;
}

}  // namespace

void tree_add(std::vector<GradientNode>& nodes, GradientNode node) {
  while (!nodes.empty() && siblings(nodes.back(), node)) {
    GradientNode left = std::move(nodes.back());
    nodes.pop_back();
    add(left.values, node.values);
    left.count *= 2;
    node = std::move(left);
  }
  nodes.push_back(std::move(node));
}

std::vector<float> tree_sum(std::vector<GradientNode> nodes) {
  while (nodes.size() > 1) {
    add(nodes[nodes.size() - 2].values, nodes.back().values);
    nodes.pop_back();
  }
  return std::move(nodes.front().values);
}

std::pair<std::int64_t, std::int64_t> parts_of_rank(std::int64_t parts, int rank, int ranks) {
  return {parts * rank / ranks, parts * (rank + 1) / ranks};
}

std::vector<GradientNode> nodes_of_rank(std::int64_t parts, int rank, int ranks) {
  std::vector<GradientNode> nodes;
  const auto [first, last] = parts_of_rank(parts, rank, ranks);
  for (std::int64_t part = first; part < last; ++part) tree_add(nodes, {part});
  return nodes;
}

}  // namespace sextant

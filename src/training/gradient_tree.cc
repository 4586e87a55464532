// Subtrees of each rank, and the slices in which ranks add them up.
#include "training/gradient_tree.h"

#include <algorithm>

namespace sextant {
namespace {

void add(std::vector<float>& to, const std::vector<float>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

bool are_pair(const GradientTree::Node& left, const GradientTree::Node& right) {
  return left.count == right.count && right.first == left.first + left.count &&
         left.first / left.count % 2 == 0;
}

// What a rank has when all its parts are made, without values.
std::vector<GradientTree::Node> layout_of(std::int64_t parts, int rank, int ranks) {
  std::vector<GradientTree::Node> nodes;
  const auto [first, last] = parts_of_rank(parts, rank, ranks);
  for (std::int64_t part = first; part < last; ++part) GradientTree::push(nodes, {part});
  return nodes;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> parts_of_rank(std::int64_t parts, int rank, int ranks) {
  return {parts * rank / ranks, parts * (rank + 1) / ranks};
}

void share(TrainingGroup& group, std::span<std::byte> all, std::span<const std::int64_t> ends) {
  std::vector<TrainingGroup::Outgoing> sends;
  std::vector<TrainingGroup::Incoming> receives;
  const auto range = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return all.subspan(static_cast<std::size_t>(ends[r]),
                       static_cast<std::size_t>(ends[r + 1] - ends[r]));
  };
  const auto mine = range(group.rank());
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank == group.rank()) continue;
    if (!mine.empty()) sends.push_back({rank, mine});
    if (!range(rank).empty()) receives.push_back({rank, range(rank)});
  }
  group.exchange(sends, receives);
}

void GradientTree::push(std::vector<Node>& nodes, Node node) {
  while (!nodes.empty() && are_pair(nodes.back(), node)) {
    Node left = std::move(nodes.back());
    nodes.pop_back();
    add(left.values, node.values);
    left.count *= 2;
    node = std::move(left);
  }
  nodes.push_back(std::move(node));
}

std::vector<float> GradientTree::root(std::vector<Node> nodes) {
  while (nodes.size() > 1) {
    add(nodes[nodes.size() - 2].values, nodes.back().values);
    nodes.pop_back();
  }
  return std::move(nodes.front().values);
}

void GradientTree::take(std::int64_t part, const Parameters<float>& gradients) {
  Node node{.first = part};
  node.values.reserve(static_cast<std::size_t>(count_of(gradients)));
  for (const auto& each : gradients) {
    node.values.insert(node.values.end(), each.tensor->span().begin(), each.tensor->span().end());
  }
  set_to_zero(gradients);
  push(nodes_, std::move(node));
}

void GradientTree::finish(const Parameters<float>& gradients) {
  std::vector<float> sum;
  if (group_ == nullptr) {
    sum = root(std::move(nodes_));
  } else {
    sum.resize(static_cast<std::size_t>(count_of(gradients)));
    sum_slices(sum);
  }
  auto from = sum.begin();
  for (const auto& each : gradients) {
    const std::span<float> to = each.tensor->span();
    std::copy_n(from, to.size(), to.begin());
    from += static_cast<std::ptrdiff_t>(to.size());
  }
}

void GradientTree::sum_slices(std::vector<float>& sum) {
  const int ranks = group_->size(), own = group_->rank();
  const auto total = static_cast<std::int64_t>(sum.size());
  std::vector<std::int64_t> ends;  // of slices, in elements
  for (int rank = 0; rank <= ranks; ++rank) ends.push_back(total * rank / ranks);
  const auto slice = [&ends](int rank, const std::vector<float>& values) {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(values).subspan(static_cast<std::size_t>(ends[r]),
                                     static_cast<std::size_t>(ends[r + 1] - ends[r]));
  };

  std::vector<TrainingGroup::Outgoing> sends;
  std::vector<TrainingGroup::Incoming> receives;
  std::vector<std::vector<Node>> slices;  // of each rank's nodes
  for (int rank = 0; rank < ranks; ++rank) {
    slices.push_back(layout_of(parts_, rank, ranks));
    for (std::size_t i = 0; i < slices.back().size(); ++i) {
      Node& node = slices.back()[i];
      const auto mine = slice(own, rank == own ? nodes_[i].values : sum);
      node.values.assign(mine.begin(), mine.end());
      if (rank == own) continue;
      receives.push_back(
          {rank, std::as_writable_bytes(std::span(node.values)), static_cast<int>(i)});
    }
    if (rank == own) continue;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      sends.push_back({rank, std::as_bytes(slice(rank, nodes_[i].values)), static_cast<int>(i)});
    }
  }
  group_->exchange(sends, receives);

  std::vector<Node> nodes;
  for (auto& of_rank : slices) {
    for (Node& node : of_rank) push(nodes, std::move(node));
  }
  const std::vector<float> mine = root(std::move(nodes));
  std::copy(mine.begin(), mine.end(), sum.begin() + ends[static_cast<std::size_t>(own)]);
  for (std::int64_t& end : ends) end *= static_cast<std::int64_t>(sizeof(float));
  share(*group_, std::as_writable_bytes(std::span(sum)), ends);
  nodes_.clear();
}

}  // namespace sextant

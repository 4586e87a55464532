// Subtrees to slices, slices to sums.
#include "training/gradients/gradient_bucket.h"

#include <algorithm>
#include <utility>

#include "training/gradients/slices.h"

namespace sextant {
namespace {

constexpr int kSums = 1023;  // the tag of sums; that of a subtree is its number on its rank

}  // namespace

GradientBucket::GradientBucket(Parameters<float> gradients, std::int64_t parts,
                               TrainingGroup* group)
    : gradients_(std::move(gradients)), parts_(parts), group_(group) {
  const std::int64_t total = count_of(gradients_);
  const int ranks = group_ == nullptr ? 1 : group_->size();
  for (int rank = 1; rank <= ranks; ++rank) ends_.push_back(total * rank / ranks);
}

std::span<float> GradientBucket::slice(int rank, std::vector<float>& values) const {
  const auto r = static_cast<std::size_t>(rank);
  return std::span(values).subspan(static_cast<std::size_t>(ends_[r]),
                                   static_cast<std::size_t>(ends_[r + 1] - ends_[r]));
}

void GradientBucket::take(std::int64_t part) {
  GradientNode node{.first = part};
  node.values.reserve(static_cast<std::size_t>(ends_.back()));
  for (const auto& each : gradients_) {
    node.values.insert(node.values.end(), each.tensor->span().begin(), each.tensor->span().end());
  }
  set_to_zero(gradients_);
  tree_add(nodes_, std::move(node));
}

void GradientBucket::start() {
  if (group_ == nullptr) return;
  const int own = group_->rank();
  sum_.resize(static_cast<std::size_t>(ends_.back()));
  std::vector<TrainingGroup::Outgoing> sends;
  std::vector<TrainingGroup::Incoming> receives;
  for (int rank = 0; rank < group_->size(); ++rank) {
    slices_.push_back(nodes_of_rank(parts_, rank, group_->size()));
    for (std::size_t i = 0; i < slices_.back().size(); ++i) {
      GradientNode& node = slices_.back()[i];
      const auto mine = slice(own, rank == own ? nodes_[i].values : sum_);
      node.values.assign(mine.begin(), mine.end());
      if (rank == own || mine.empty()) continue;
      receives.push_back(
          {rank, std::as_writable_bytes(std::span(node.values)), static_cast<int>(i)});
    }
    if (rank == own) continue;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto theirs = slice(rank, nodes_[i].values);
      if (!theirs.empty()) sends.push_back({rank, std::as_bytes(theirs), static_cast<int>(i)});
    }
  }
  subtrees_ = group_->start(sends, receives);
}

bool GradientBucket::advance() {
  if (group_ == nullptr || sums_ != nullptr) return true;
  if (subtrees_ == nullptr || !subtrees_->done()) return false;
  add_up_own_slice();
  return true;
}

void GradientBucket::add_up() {
  if (group_ != nullptr && sums_ == nullptr) add_up_own_slice();
}

void GradientBucket::add_up_own_slice() {
  subtrees_->finish();
  std::vector<GradientNode> nodes;
  for (auto& of_rank : slices_) {
    for (GradientNode& node : of_rank) tree_add(nodes, std::move(node));
  }
  const std::vector<float> mine = tree_sum(std::move(nodes));
  std::ranges::copy(mine, slice(group_->rank(), sum_).begin());
  std::vector<std::int64_t> ends;
  for (const std::int64_t end : ends_) ends.push_back(end * std::int64_t{sizeof(float)});
  sums_ = start_all_gather(*group_, std::as_writable_bytes(std::span(sum_)), ends, kSums);
}

void GradientBucket::finish() {
  if (group_ == nullptr) {
    sum_ = tree_sum(std::move(nodes_));
  } else {
    sums_->finish();
  }
  auto from = sum_.begin();
  for (const auto& each : gradients_) {
    const std::span<float> to = each.tensor->span();
    std::copy_n(from, to.size(), to.begin());
    from += static_cast<std::ptrdiff_t>(to.size());
  }
}

}  // namespace sextant

// The order in which the gradients of parts are added.
#include "training/gradient_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/random.h"
#include "training/thread_group.h"

namespace sextant {
namespace {

constexpr std::int64_t kCount = 7;

// Of sizes so different that every order of adding rounds in another way.
std::vector<float> part(std::int64_t number) {
  NumpyRandom random(static_cast<std::uint32_t>(number));
  std::vector<float> values(kCount);
  for (float& value : values) {
    value = static_cast<float>(random.normal() * std::exp2(8 * random.normal()));
  }
  return values;
}

// The definition, from above: the left half has the largest power of 2 below the count.
std::vector<float> tree_sum(std::int64_t first, std::int64_t count) {
  if (count == 1) return part(first);
  std::int64_t left = 1;
  while (2 * left < count) left *= 2;
  std::vector<float> sum = tree_sum(first, left);
  const std::vector<float> right = tree_sum(first + left, count - left);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

std::vector<float> sum_on(TrainingGroup* group, std::int64_t parts) {
  Tensor<float> a({3}), b({2, 2});
  const Parameters<float> gradients = {{"a", &a, false}, {"b", &b, false}};
  GradientTree tree(parts, group);
  const auto [first, last] = group == nullptr ? std::pair<std::int64_t, std::int64_t>{0, parts}
                                              : parts_of_rank(parts, group->rank(), group->size());
  for (std::int64_t i = first; i < last; ++i) {
    const std::vector<float> values = part(i);
    std::copy_n(values.begin(), 3, a.span().begin());
    std::copy_n(values.begin() + 3, 4, b.span().begin());
    tree.take(i, gradients);
    EXPECT_EQ(a(0), 0);
  }
  tree.finish(gradients);
  std::vector<float> sum(a.span().begin(), a.span().end());
  sum.insert(sum.end(), b.span().begin(), b.span().end());
  return sum;
}

TEST(GradientTree, AddsInPairsAndPairsOfPairs) {
  for (std::int64_t parts = 1; parts <= 17; ++parts) {
    EXPECT_EQ(sum_on(nullptr, parts), tree_sum(0, parts)) << parts;
  }
}

// More ranks than numbers and more ranks than parts too.
TEST(GradientTree, HasTheSameBitsOnAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (const std::int64_t parts : {1, 2, 3, 4, 5, 8, 11}) {
      const std::vector<float> sum = tree_sum(0, parts);
      const auto problems = on_thread_ranks(ranks, [&](TrainingGroup& group) {
        EXPECT_EQ(sum_on(&group, parts), sum) << parts << " on " << ranks;
      });
      EXPECT_EQ(problems, std::vector<std::string>(problems.size()));
    }
  }
}

TEST(GradientTree, GivesEachPartToOneRank) {
  for (int ranks = 1; ranks <= 6; ++ranks) {
    for (std::int64_t parts = 1; parts <= 9; ++parts) {
      std::int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [first, last] = parts_of_rank(parts, rank, ranks);
        EXPECT_EQ(first, next);
        EXPECT_LE(last - first, (parts + ranks - 1) / ranks);
        next = last;
      }
      EXPECT_EQ(next, parts);
    }
  }
}

}  // namespace
}  // namespace sextant

// The order in which the gradients of parts are added, and when they travel.
#include "training/gradients/gradient_sum.h"

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

// Parameters of 3, 1 and 3 numbers, in buckets of at least so many. What is ready when: all at the
// end, or the last ones before.
std::vector<float> sum_on(TrainingGroup* group, std::int64_t parts, std::int64_t bucket = 100,
                          bool early = false) {
  Tensor<float> a({3}), b({1}), c({3});
  const Parameters<float> gradients = {{"a", &a, false}, {"b", &b, false}, {"c", &c, false}};
  GradientSum sum(gradients, parts, group, bucket);
  const auto [first, last] = group == nullptr ? std::pair<std::int64_t, std::int64_t>{0, parts}
                                              : parts_of_rank(parts, group->rank(), group->size());
  for (std::int64_t i = first; i < last; ++i) {
    const std::vector<float> values = part(i);
    std::copy_n(values.begin() + 4, 3, c.span().begin());
    if (early) sum.ready(i, c.data());
    std::copy_n(values.begin() + 3, 1, b.span().begin());
    if (early) sum.ready(i, b.data());
    std::copy_n(values.begin(), 3, a.span().begin());
    sum.ready(i, nullptr);
    EXPECT_EQ(a(0), 0);
    EXPECT_EQ(c(0), 0);
  }
  sum.close();
  sum.finish();
  std::vector<float> all;
  for (const auto& each : gradients) {
    all.insert(all.end(), each.tensor->span().begin(), each.tensor->span().end());
  }
  return all;
}

TEST(GradientTree, AddsInPairsAndPairsOfPairs) {
  for (std::int64_t parts = 1; parts <= 17; ++parts) {
    EXPECT_EQ(sum_on(nullptr, parts), tree_sum(0, parts)) << parts;
  }
}

// Whatever is ready when and travels with what.
TEST(GradientTree, HasTheSameBitsInBuckets) {
  for (const std::int64_t bucket : {1, 4, 100}) {
    for (const bool early : {false, true}) {
      const auto problems = on_thread_ranks(3, [&](TrainingGroup& group) {
        EXPECT_EQ(sum_on(&group, 7, bucket, early), tree_sum(0, 7)) << bucket;
      });
      EXPECT_EQ(problems, std::vector<std::string>(problems.size()));
      EXPECT_EQ(sum_on(nullptr, 7, bucket, early), tree_sum(0, 7)) << bucket;
    }
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

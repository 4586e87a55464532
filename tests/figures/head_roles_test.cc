// What heads look at, of maps that are made by hand.
#include "sextant/figures/head_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kLength = 6;

// A layer of heads, each a function that gives a row's only key; -1: the same weight for all.
Tensor<double> layer_of(const std::vector<std::function<std::int64_t(std::int64_t)>>& heads) {
  Tensor<double> layer({std::ssize(heads), kLength, kLength});
  for (std::int64_t head = 0; head < std::ssize(heads); ++head) {
    for (std::int64_t i = 0; i < kLength; ++i) {
      const std::int64_t key = heads[static_cast<std::size_t>(head)](i);
      for (std::int64_t j = 0; j < kLength; ++j) {
        layer(head, i, j) = key < 0 ? 1.0 / kLength : key == j;
      }
    }
  }
  return layer;
}

ModelAttention part_of(std::vector<Tensor<double>> layers) {
  ModelAttention part{"self", "Self attention", std::move(layers), {}, {}, ""};
  for (std::int64_t i = 0; i < kLength; ++i) part.queries.push_back("w" + std::to_string(i));
  part.keys = part.queries;
  return part;
}

std::int64_t before(std::int64_t i) { return i > 0 ? i - 1 : 0; }
std::int64_t after(std::int64_t i) { return i + 1 < kLength ? i + 1 : i; }

TEST(HeadRoles, NameWhatAHeadLooksAtAndSortByIt) {
  std::vector<Tensor<double>> layers;
  layers.push_back(layer_of({[](std::int64_t) { return -1; }, after, before}));
  layers.push_back(
      layer_of({[](std::int64_t) { return 0; }, [](std::int64_t) { return kLength - 1; },
                [](std::int64_t i) { return i; }}));
  const auto heads = head_roles(part_of(std::move(layers)));
  std::vector<std::string> found;
  for (const HeadSummary& each : heads) {
    found.push_back(std::string(name_of(each.role)) + " " + std::to_string(each.layer) + "." +
                    std::to_string(each.head));
  }
  EXPECT_THAT(found, ::testing::ElementsAre("previous 0.2", "next 0.1", "same 1.2", "first 1.0",
                                            "last 1.1", "content 0.0"));
  // The first query has none before it, and the last none after it: they do not count.
  EXPECT_EQ(heads[0].previous, 1);
  EXPECT_EQ(heads[0].score, 1);
  EXPECT_EQ(heads[1].next, 1);
  EXPECT_NEAR(heads[0].first, 2.0 / kLength, 1e-15);
  EXPECT_EQ(heads.back().distance, 0) << "equal weights have no variance to explain";
}

// Two tokens back is no place of its own, but the distance alone explains it.
TEST(HeadRoles, NameADistanceWhereItExplainsTheWeights) {
  std::vector<Tensor<double>> layers;
  layers.push_back(layer_of({[](std::int64_t i) { return (i + kLength - 2) % kLength; }}));
  const auto heads = head_roles(part_of(std::move(layers)));
  EXPECT_EQ(heads[0].role, HeadRole::distance);
  EXPECT_EQ(heads[0].distance, heads[0].score);
  EXPECT_NEAR(heads[0].distance, 1, 1e-12);
}

// The first query of a causal map has no choice, so that it says nothing; what is hidden is not 0.
TEST(HeadRoles, OfACausalMapCountWhatIsVisible) {
  std::vector<Tensor<double>> layers;
  layers.push_back(layer_of({[](std::int64_t i) { return i; }}));
  ModelAttention part = part_of(std::move(layers));
  part.masked.push_back(part.layers[0].clone());
  for (std::int64_t i = 0; i < kLength; ++i) {
    for (std::int64_t j = i + 1; j < kLength; ++j) part.masked[0](0, i, j) = -HUGE_VAL;
  }
  const auto heads = head_roles(part);
  EXPECT_EQ(heads[0].role, HeadRole::same);
  EXPECT_EQ(heads[0].same, 1);
  EXPECT_EQ(heads[0].first, 0);
  EXPECT_EQ(heads[0].next, 0);
  EXPECT_EQ(heads[0].last, 0);
}

TEST(HeadRoles, AreDrawnWithTheirNames) {
  std::vector<Tensor<double>> layers;
  layers.push_back(layer_of({before, after}));
  const ModelAttention part = part_of(std::move(layers));
  const auto heads = head_roles(part);
  const std::string svg = draw_head_roles(part, heads).svg;
  EXPECT_THAT(svg, HasSubstr("0.0 previous 1.00"));
  EXPECT_THAT(svg, HasSubstr("0.1 next 1.00"));
  EXPECT_EQ(head_role_rows(heads).size(), 3u);
  EXPECT_THAT(head_roles_json(heads), HasSubstr("previous"));
}

TEST(HeadRoles, AreOfATextThatLooksAtItself) {
  ModelAttention cross = part_of({});
  cross.name = "cross";
  EXPECT_THAT([&] { head_roles(cross); }, ThrowsMessage<Error>(HasSubstr("[figure.part]")));
}

}  // namespace
}  // namespace sextant::figures

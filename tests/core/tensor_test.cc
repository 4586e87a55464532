// Shapes, tensors, views and copies of views.
#include "sextant/core/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Tensor<int> counting(const Shape& shape) {
  Tensor<int> tensor(shape);
  std::iota(tensor.span().begin(), tensor.span().end(), 0);
  return tensor;
}

// All elements in row-major order of the view, one index at a time: the slow twin of copy_of.
template <class T>
std::vector<T> elements(View<const T> view) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < view.count(); ++i) {
    std::int64_t rest = i;
    std::int64_t offset = 0;
    for (int axis = view.rank() - 1; axis >= 0; --axis) {
      offset += rest % view.size(axis) * view.stride(axis);
      rest /= view.size(axis);
    }
    result.push_back(view.data()[offset]);
  }
  return result;
}

template <class T>
std::vector<T> values_of(const Tensor<T>& tensor) {
  return {tensor.span().begin(), tensor.span().end()};
}

TEST(Shape, SaysItsSizes) {
  const Shape shape{2, 8, 128, 64};
  EXPECT_EQ(shape.rank(), 4);
  EXPECT_EQ(shape[2], 128);
  EXPECT_EQ(shape.count(), 2 * 8 * 128 * 64);
  EXPECT_EQ(shape.to_string(), "[2, 8, 128, 64]");
  EXPECT_EQ(Shape{}.to_string(), "[]");
}

TEST(Shape, OfRankZeroHasOneElement) {
  EXPECT_EQ(Shape{}.rank(), 0);
  EXPECT_EQ(Shape{}.count(), 1);
}

TEST(Shape, WithAZeroHasNoElement) {
  EXPECT_EQ((Shape{3, 0, 5}.count()), 0);
  EXPECT_EQ(Shape{0}.count(), 0);
}

TEST(Shape, ComparesRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 1}));
  EXPECT_NE(Shape{}, Shape{0});
}

TEST(Shape, RefusesWhatItCannotHold) {
  EXPECT_THAT(([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }),
              ThrowsMessage<Error>("[shape] must have at most 8 axes, got 9"));
  EXPECT_THAT(([] {
                Shape{4, -1};
              }),
              ThrowsMessage<Error>("[shape] must not have negative sizes, got [4, -1]"));
  const std::int64_t big = std::int64_t{1} << 31;
  EXPECT_EQ((Shape{big, big}.count()), std::int64_t{1} << 62);
  EXPECT_THAT(([&] { Shape{big, big, 2}; }), ThrowsMessage<Error>(HasSubstr("more than 2^62")));
  EXPECT_THAT(([&] { Shape{std::numeric_limits<std::int64_t>::max()}; }),
              ThrowsMessage<Error>(HasSubstr("more than 2^62")));
  // A zero does not hide sizes whose strides would overflow.
  EXPECT_THAT(([&] { Shape{0, big, big, big}; }), ThrowsMessage<Error>(HasSubstr("2^62")));
}

TEST(Tensor, IsZeroAndAlignedAtFirst) {
  for (const std::int64_t count : {1, 3, 63, 64, 65, 4096, 100003}) {
    const Tensor<float> tensor(Shape{count});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % kAlignment, 0U);
    EXPECT_EQ(values_of(tensor), std::vector<float>(static_cast<std::size_t>(count), 0.0F));
  }
}

TEST(Tensor, OfRankZeroHoldsOneElement) {
  Tensor<double> scalar{Shape{}};
  EXPECT_EQ(scalar.count(), 1);
  scalar() = 2.5;
  EXPECT_EQ(scalar.span()[0], 2.5);
  EXPECT_EQ(scalar.clone()(), 2.5);
}

TEST(Tensor, MayHaveNoElement) {
  const Tensor<double> none(Shape{4, 0, 2});
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.rank(), 3);
  EXPECT_TRUE(none.span().empty());
  EXPECT_TRUE(none.view().is_contiguous());
  EXPECT_EQ(none.clone().shape(), none.shape());
  EXPECT_EQ(copy_of(none.view()).shape(), none.shape());
  const Tensor<double> unmade;
  EXPECT_EQ(unmade.count(), 0);
  EXPECT_EQ(unmade.clone().count(), 0);
}

TEST(Tensor, RefusesMoreMemoryThanThereCanBe) {
  EXPECT_THAT(([] { Tensor<double>(Shape{std::int64_t{1} << 61}); }),
              ThrowsMessage<Error>(HasSubstr("[tensor.shape] needs memory for")));
}

TEST(Tensor, IndexesRowMajor) {
  Tensor<int> tensor = counting({2, 3, 4});
  EXPECT_EQ(tensor(0, 0, 3), 3);
  EXPECT_EQ(tensor(0, 1, 0), 4);
  EXPECT_EQ(tensor(1, 2, 3), 23);
  tensor(1, 0, 0) = -1;
  EXPECT_EQ(tensor.span()[12], -1);
}

TEST(Tensor, MovesAndLeavesNothingBehind) {
  Tensor<int> first = counting({2, 2});
  const int* data = first.data();
  Tensor<int> second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.count(), 0);  // NOLINT(bugprone-use-after-move): moved-from tensors are empty
  first = counting({3});
  EXPECT_THAT(values_of(first), ElementsAre(0, 1, 2));
  first = std::move(second);
  EXPECT_THAT(values_of(first), ElementsAre(0, 1, 2, 3));
}

TEST(Tensor, CloneIsIndependent) {
  Tensor<int> first = counting({2, 2});
  const Tensor<int> second = first.clone();
  first(0, 0) = 9;
  EXPECT_THAT(values_of(second), ElementsAre(0, 1, 2, 3));
}

TEST(Tensor, UninitializedHasTheShapeAndTheAlignment) {
  auto tensor = Tensor<float>::uninitialized({5, 7});
  EXPECT_EQ(tensor.shape(), (Shape{5, 7}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % kAlignment, 0U);
  std::fill(tensor.span().begin(), tensor.span().end(), 1.0F);
  EXPECT_EQ(tensor(4, 6), 1.0F);
}

TEST(View, OfNothingHasNoElement) {
  const View<float> none;
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(copy_of(none).count(), 0);
}

TEST(View, SelectDropsAnAxis) {
  const Tensor<int> tensor = counting({2, 3, 4});
  EXPECT_THAT(elements(tensor.view().select(0, 1)),
              ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(elements(tensor.view().select(1, 2)), ElementsAre(8, 9, 10, 11, 20, 21, 22, 23));
  EXPECT_THAT(elements(tensor.view().select(2, 0)), ElementsAre(0, 4, 8, 12, 16, 20));
  EXPECT_EQ(tensor.view().select(0, 1).select(0, 1).select(0, 1)(), 17);
}

TEST(View, NarrowKeepsPartOfAnAxis) {
  const Tensor<int> tensor = counting({3, 4});
  EXPECT_THAT(elements(tensor.view().narrow(1, 1, 2)), ElementsAre(1, 2, 5, 6, 9, 10));
  EXPECT_THAT(elements(tensor.view().narrow(0, 2, 1)), ElementsAre(8, 9, 10, 11));
  EXPECT_EQ(tensor.view().narrow(0, 3, 0).count(), 0);
  EXPECT_EQ(tensor.view().narrow(0, 0, 3).data(), tensor.data());
}

TEST(View, TransposeSwapsAxes) {
  const Tensor<int> tensor = counting({2, 3});
  EXPECT_THAT(elements(tensor.view().transpose(0, 1)), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(elements(tensor.view().transpose(1, 1)), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(View, PermuteOrdersAxes) {
  const Tensor<int> tensor = counting({2, 3, 4});
  const View<const int> view = tensor.view();
  EXPECT_EQ(elements(view.permute({1, 0, 2})), elements(view.transpose(0, 1)));
  const auto turned = view.permute({2, 0, 1});
  EXPECT_EQ(turned.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(turned(3, 1, 2), tensor(1, 2, 3));
  EXPECT_THROW(view.permute({0, 1}), Error);
  EXPECT_THROW(view.permute({0, 1, 1}), Error);
  EXPECT_THROW(view.permute({0, 1, 3}), Error);
}

TEST(View, UnsqueezeAddsAnAxis) {
  const Tensor<int> tensor = counting({2, 3});
  for (const auto& [axis, shape] :
       {std::pair{0, Shape{1, 2, 3}}, std::pair{1, Shape{2, 1, 3}}, std::pair{2, Shape{2, 3, 1}}}) {
    EXPECT_EQ(tensor.view().unsqueeze(axis).shape(), shape);
    EXPECT_EQ(elements(tensor.view().unsqueeze(axis)), elements(tensor.view()));
    EXPECT_TRUE(tensor.view().unsqueeze(axis).is_contiguous());
  }
  EXPECT_THROW(tensor.view().unsqueeze(3), Error);
  EXPECT_THROW(tensor.view().unsqueeze(-1), Error);
  const Tensor<int> full(Shape{1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_THROW(full.view().unsqueeze(0), Error);
}

TEST(View, TakesHeadsOutOfRowsOfAllThree) {
  const Tensor<int> rows = counting({5, (4 + 2 * 2) * 3});  // 4 heads of queries, 2 of keys
  const auto keys = rows.view().narrow(1, 12, 6).split(1, 2).permute({1, 0, 2}).unsqueeze(0);
  EXPECT_EQ(keys.shape(), (Shape{1, 2, 5, 3}));
  EXPECT_EQ(keys(0, 1, 4, 2), rows(4, 12 + 3 + 2));
}

TEST(View, SplitMakesHeadsOfAWidth) {
  const Tensor<int> tensor = counting({2, 6});  // [length, width]
  const View<const int> heads = tensor.view().split(1, 3);
  EXPECT_EQ(heads.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(heads(1, 2, 0), 10);
  // [heads, length, head_dim], as the attention operator wants it.
  EXPECT_THAT(elements(heads.transpose(0, 1)), ElementsAre(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11));
  // An axis with a stride of its own.
  EXPECT_THAT(elements(tensor.view().transpose(0, 1).split(0, 2).select(1, 2)),
              ElementsAre(2, 8, 5, 11));
  const Tensor<int> none(Shape{0, 2});
  EXPECT_EQ(none.view().split(0, 4).shape(), (Shape{4, 0, 2}));
}

TEST(View, RefusesWhatLiesOutside) {
  const Tensor<int> tensor = counting({2, 6});
  const View<const int> view = tensor.view();
  EXPECT_THAT(
      [&] { view.select(2, 0); },
      ThrowsMessage<Error>("[view.select.axis] must be in 0 .. rank - 1 for rank 2, got 2"));
  EXPECT_THAT(
      [&] { view.select(0, 2); },
      ThrowsMessage<Error>("[view.select.index] must be in 0 .. size - 1 for size 2, got 2"));
  EXPECT_THROW(view.select(-1, 0), Error);
  EXPECT_THROW(view.select(0, -1), Error);
  EXPECT_THAT(
      [&] { view.narrow(1, 4, 3); },
      ThrowsMessage<Error>("[view.narrow.range] must lie inside size 6, got begin 4 and length 3"));
  EXPECT_THROW(view.narrow(1, -1, 2), Error);
  EXPECT_THROW(view.narrow(1, 7, 0), Error);
  EXPECT_THROW(view.narrow(1, 1, std::numeric_limits<std::int64_t>::max()), Error);
  EXPECT_THROW(view.narrow(5, 0, 1), Error);
  EXPECT_THROW(view.transpose(0, 2), Error);
  EXPECT_THROW(view.transpose(-1, 0), Error);
  EXPECT_THAT([&] { view.split(1, 4); },
              ThrowsMessage<Error>("[view.split.outer] must divide size 6, got 4"));
  EXPECT_THROW(view.split(1, 0), Error);
  EXPECT_THROW(view.split(2, 1), Error);
  const Tensor<int> full(Shape{1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_THROW(full.view().split(0, 1), Error);
  const std::vector<std::int64_t> strides = {1};
  EXPECT_THROW(View<const int>(tensor.data(), Shape{2, 6}, strides), Error);
}

TEST(View, KnowsWhetherItIsContiguous) {
  const Tensor<int> tensor = counting({2, 3, 4});
  const View<const int> view = tensor.view();
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_TRUE(view.select(0, 1).is_contiguous());
  EXPECT_TRUE(view.narrow(0, 1, 1).transpose(0, 1).is_contiguous());  // an axis of size 1 moved
  EXPECT_FALSE(view.select(1, 0).is_contiguous());
  EXPECT_FALSE(view.transpose(0, 1).is_contiguous());
  EXPECT_FALSE(view.narrow(2, 0, 3).is_contiguous());
  EXPECT_TRUE(view.narrow(2, 0, 0).is_contiguous());
  EXPECT_TRUE(view.split(2, 2).is_contiguous());
}

TEST(CopyOf, EqualsTheViewForAnyStrides) {
  const Tensor<int> tensor = counting({3, 4, 5, 2});
  const View<const int> view = tensor.view();
  const std::vector<std::int64_t> backwards = {-40, 10, -2, 1};
  const std::vector<std::int64_t> repeated = {0, 10, 0, 1};
  const std::vector<View<const int>> views = {
      view,
      view.transpose(0, 3),
      view.transpose(1, 2).narrow(1, 1, 3),
      view.select(3, 1).transpose(0, 2),
      view.select(0, 2).select(0, 1).select(1, 0),
      view.split(1, 2).transpose(0, 2),
      view.select(0, 0).select(0, 0).select(0, 0).select(0, 0),
      View<const int>(&tensor(2, 0, 4, 0), Shape{3, 4, 5, 2}, backwards),
      View<const int>(tensor.data(), Shape{3, 4, 5, 2}, repeated)};
  for (const auto& each : views) {
    const Tensor<int> copy = copy_of(each);
    EXPECT_EQ(copy.shape(), each.shape());
    EXPECT_EQ(values_of(copy), elements(each));
  }
}

}  // namespace
}  // namespace sextant

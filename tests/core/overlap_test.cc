// Which views can be written to.
#include "core/arrays/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace sextant {
namespace {

using ::testing::ThrowsMessage;

View<float> strided(float* data, const Shape& shape, std::vector<std::int64_t> strides) {
  return View<float>(data, shape, strides);
}

TEST(Overlap, SlicesAndTranspositionsAreApart) {
  Tensor<float> x({2, 3, 4, 6});
  EXPECT_EQ(self_overlapping_axis(x.view()), -1);
  EXPECT_EQ(self_overlapping_axis(x.view().transpose(0, 3)), -1);
  EXPECT_EQ(self_overlapping_axis(x.view().narrow(1, 1, 2).transpose(1, 2).narrow(3, 2, 3)), -1);
  EXPECT_EQ(self_overlapping_axis(x.view().split(3, 2).transpose(2, 3)), -1);
  EXPECT_EQ(self_overlapping_axis(x.view().narrow(0, 0, 0)), -1);
  Tensor<float> number(Shape{});
  EXPECT_EQ(self_overlapping_axis(number.view()), -1);
}

// Against a list of all addresses: what is called apart is apart.
TEST(Overlap, NeverMissesElementsThatCoincide) {
  float origin = 0;
  int refused = 0;
  int accepted = 0;
  for (std::int64_t a = -7; a <= 7; ++a) {
    for (std::int64_t b = -7; b <= 7; ++b) {
      for (const std::int64_t c : {-2, 0, 1, 5}) {
        const Shape shape{3, 2, 3};
        std::set<std::int64_t> places;
        for (std::int64_t i = 0; i < 3; ++i) {
          for (std::int64_t j = 0; j < 2; ++j) {
            for (std::int64_t k = 0; k < 3; ++k) places.insert(i * a + j * b + k * c);
          }
        }
        if (self_overlapping_axis(strided(&origin, shape, {a, b, c})) < 0) {
          EXPECT_EQ(places.size(), 18U) << a << ' ' << b << ' ' << c;
          ++accepted;
        } else {
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(refused, 10);
}

TEST(Overlap, AxesOfOneElementMayHaveAnyStride) {
  float memory[6] = {};
  EXPECT_EQ(self_overlapping_axis(strided(memory, {1, 2, 3}, {0, 3, 1})), -1);
  EXPECT_EQ(self_overlapping_axis(strided(memory, {2, 1, 3}, {2, 0, 1})), 0);
}

// The bytes that a view reaches.
template <class T>
std::set<const char*> addresses_of(View<T> view) {
  std::set<const char*> bytes;
  for (std::int64_t i = 0; i < view.size(0); ++i) {
    for (std::int64_t j = 0; j < view.size(1); ++j) {
      for (std::int64_t k = 0; k < view.size(2); ++k) {
        const auto* from = reinterpret_cast<const char*>(&view(i, j, k));
        for (std::size_t n = 0; n < sizeof(T); ++n) bytes.insert(from + n);
      }
    }
  }
  return bytes;
}

// Against the lists of all bytes, with types of different sizes; what is said is exact here.
TEST(Overlap, IsThatOfTheBytes) {
  std::vector<std::int64_t> memory(2000);
  std::mt19937 random(1);
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int met = 0, apart = 0, apart_inside = 0;
  const auto compare = [&](auto one, auto other) {
    const auto view_of = [&](auto type) {
      auto* origin = reinterpret_cast<decltype(type)*>(memory.data() + 1000);
      return View<decltype(type)>(
          origin + pick(-40, 40), Shape{pick(1, 4), pick(1, 3), pick(1, 5)},
          std::vector<std::int64_t>{pick(-24, 24), pick(-12, 12), pick(-6, 6)});
    };
    const auto a = view_of(one);
    const auto b = view_of(other);
    const auto of_a = addresses_of(a), of_b = addresses_of(b);
    const bool meet = std::any_of(of_a.begin(), of_a.end(),
                                  [&](const char* byte) { return of_b.contains(byte); });
    ASSERT_EQ(overlaps(a, b), meet);
    ASSERT_EQ(overlaps(b, a), meet);
    const bool nested = *of_a.begin() <= *of_b.rbegin() && *of_b.begin() <= *of_a.rbegin();
    (meet ? met : nested ? apart_inside : apart) += 1;
  };
  for (int repeat = 0; repeat < 3000; ++repeat) {
    compare(0.0F, 0.0F);
    compare(0.0, 0.0F);
    compare(true, std::int64_t{0});
  }
  EXPECT_GT(met, 1000);
  EXPECT_GT(apart, 1000);
  EXPECT_GT(apart_inside, 300);
}

TEST(Overlap, IsNoneOfInterleavedViews) {
  Tensor<float> x({2, 5, 3, 8});
  const auto view = x.view();
  EXPECT_FALSE(overlaps(view.narrow(3, 0, 4), view.narrow(3, 4, 4)));
  EXPECT_TRUE(overlaps(view.narrow(3, 0, 5), view.narrow(3, 4, 4)));
  for (int n = 1; n < 3; ++n) {
    EXPECT_FALSE(overlaps(view.select(2, 0), view.select(2, n)));
    EXPECT_FALSE(overlaps(view.narrow(2, 0, 1).transpose(1, 2), view.narrow(2, n, 1)));
  }
  EXPECT_FALSE(overlaps(view.narrow(1, 0, 0), view));
}

TEST(Overlap, IsSeenInShiftedAndReversedViews) {
  Tensor<float> x({1, 2, 10, 8});
  const auto view = x.view();
  EXPECT_TRUE(overlaps(view.narrow(2, 0, 9), view.narrow(2, 1, 9)));
  const std::vector<std::int64_t> strides{160, 80, -8, 1};
  EXPECT_TRUE(overlaps(view, View<float>(x.data() + 72, {1, 2, 10, 8}, strides)));
  EXPECT_FALSE(overlaps(view.narrow(2, 0, 4), View<float>(x.data() + 72, {1, 2, 6, 8}, strides)));
}

// Large arrays, and strides that fit no pattern, take no time that grows with them.
TEST(Overlap, IsFoundAtOnce) {
  float origin[1] = {};
  const auto far = [&](std::int64_t at, std::int64_t stride) {
    return View<float>(origin + at, {1 << 20, 1 << 20, 64},
                       std::vector<std::int64_t>{stride, std::int64_t{64} << 20, 1});
  };
  EXPECT_FALSE(overlaps(far(0, 128), far(64, 128)));
  EXPECT_TRUE(overlaps(far(0, 128), far(127, 128)));
  for (std::int64_t n = 0; n < 100; ++n) overlaps(far(0, 1009 + n), far(500 + n, 997));
}

TEST(Overlap, OfACallIsNamed) {
  Tensor<float> x({4, 6}), y({4, 6});
  const std::vector<double> list{1, 2, 3};
  CallArrays arrays("f");
  arrays.add_input("x", x);
  arrays.add_input("list", std::span<const double>(list));
  arrays.add_output("y", y.view());
  EXPECT_THAT([&] { arrays.add_output("z", x.view().narrow(1, 2, 2)); },
              ThrowsMessage<Error>("[f.z] must not overlap x"));
  EXPECT_THAT([&] { arrays.add_output("z", y.view().narrow(0, 3, 1)); },
              ThrowsMessage<Error>("[f.z] must not overlap y"));
  EXPECT_NO_THROW(arrays.add_output("z", View<float>()));
}

}  // namespace
}  // namespace sextant

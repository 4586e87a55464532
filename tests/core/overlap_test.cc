// Which views can be written to.
#include "core/overlap.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace sextant {
namespace {

View<float> strided(float* data, const Shape& shape, std::vector<std::int64_t> strides) {
  return View<float>(data, shape, strides);
}

TEST(Overlap, SlicesAndTranspositionsAreApart) {
  Tensor<float> x({2, 3, 4, 6});
  EXPECT_EQ(coinciding_axis(x.view()), -1);
  EXPECT_EQ(coinciding_axis(x.view().transpose(0, 3)), -1);
  EXPECT_EQ(coinciding_axis(x.view().narrow(1, 1, 2).transpose(1, 2).narrow(3, 2, 3)), -1);
  EXPECT_EQ(coinciding_axis(x.view().split(3, 2).transpose(2, 3)), -1);
  EXPECT_EQ(coinciding_axis(x.view().narrow(0, 0, 0)), -1);
  EXPECT_EQ(coinciding_axis<float>(Tensor<float>(Shape{})), -1);
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
        if (coinciding_axis(strided(&origin, shape, {a, b, c})) < 0) {
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
  EXPECT_EQ(coinciding_axis(strided(memory, {1, 2, 3}, {0, 3, 1})), -1);
  EXPECT_EQ(coinciding_axis(strided(memory, {2, 1, 3}, {2, 0, 1})), 0);
}

}  // namespace
}  // namespace sextant

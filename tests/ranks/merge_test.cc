// Merging the results of many slices of keys.
#include "ranks/attention/merge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "sextant/core/random.h"

namespace sextant::ranks {
namespace {

// A merge rounds once, by half a unit of 2^-23; what it rounded before keeps its share n / (n + 1)
// of the sum, so that slices of equal weights are off by half a unit for every other one.
TEST(Merge, OfManySlicesIsAsExactAsOne) {
  constexpr std::int64_t kSlices = 300, kWidth = 16;
  NumpyRandom random(1);
  Tensor<float> out(Shape{1, 1, 1, kWidth}), more(out.shape()), more_logs(Shape{1, 1, 1});
  Tensor<double> logs(Shape{1, 1, 1}), exact(out.shape()), sizes(out.shape());
  logs.data()[0] = -std::numeric_limits<double>::infinity();
  more_logs.data()[0] = 7.25F;
  for (std::int64_t n = 0; n < kSlices; ++n) {
    for (std::int64_t c = 0; c < kWidth; ++c) {
      more.data()[c] = static_cast<float>(1 + 0.1 * random.normal());
      exact.data()[c] += static_cast<double>(more.data()[c]) / kSlices;
      sizes.data()[c] += std::abs(static_cast<double>(more.data()[c])) / kSlices;
    }
    merge({out, logs}, more, more_logs, 1);
  }
  finish({out, logs}, {});
  for (std::int64_t c = 0; c < kWidth; ++c) {
    EXPECT_NEAR(out.data()[c], exact.data()[c], 0x1p-24 * kSlices / 2 * sizes.data()[c]) << c;
  }
  EXPECT_NEAR(logs.data()[0], 7.25 + std::log(static_cast<double>(kSlices)), 1e-13 * kSlices);
}

}  // namespace
}  // namespace sextant::ranks

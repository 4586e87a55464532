// What tests of gradients share: the comparison with central differences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "sextant/schemes/scheme.h"

namespace sextant {

// `gradients` against the slopes of loss(), a function of the weights in `moved`, which come back
// as they were. tolerance is relative to 1 + |slope|.
template <class Loss>
void expect_central_differences(SchemeWeights& moved, const SchemeWeights& gradients,
                                const Loss& loss, double tolerance) {
  for (auto& [name, values] : moved) {
    ASSERT_TRUE(gradients.contains(name)) << name;
    ASSERT_EQ(gradients.at(name).shape(), values.shape()) << name;
    for (std::int64_t i = 0; i < values.count(); ++i) {
      const double kept = values.data()[i];
      constexpr double kStep = 0x1p-16;
      values.data()[i] = kept + kStep;
      const double above = loss();
      values.data()[i] = kept - kStep;
      const double below = loss();
      values.data()[i] = kept;
      const double slope = (above - below) / (2 * kStep);
      EXPECT_NEAR(gradients.at(name).data()[i], slope, tolerance * (1 + std::abs(slope)))
          << name << " " << i;
    }
  }
}

}  // namespace sextant

// More keys than the kernels number in 32 bits: the call is left to the rows. All keys are one
// element of memory.
#include <gtest/gtest.h>

#include <array>

#include "attention/backward/fused_backward.h"
#include "sextant/attention/plan.h"

namespace sextant {
namespace {

TEST(ManyKeys, AreLeftToTheRowsForwardAndBackward) {
  const float one[1] = {1};
  const std::array<std::int64_t, 4> strides{};
  const View<const float> row(one, Shape{1, 1, 1, 1});
  const auto by_kernels = [&](std::int64_t keys) {
    const View<const float> k(one, Shape{1, 1, keys, 1}, strides);
    const auto b = attention_detail::check_backward<float>("attention_backward", row, k, k, row,
                                                           row, {}, {}, {});
    EXPECT_EQ(attention_plan<float>(row, k, k).kernel == "plain rows",
              !attention_detail::takes_fused_path(b.scores));
    return attention_detail::takes_fused_path(b.scores);
  };
  EXPECT_TRUE(by_kernels(std::int64_t{1} << 20));
  EXPECT_FALSE(by_kernels((std::int64_t{1} << 31) + 100));
}

}  // namespace
}  // namespace sextant

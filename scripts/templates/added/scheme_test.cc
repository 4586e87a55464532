// Binary positions: the bits themselves, and what is refused.
#include "sextant/schemes/added/new_scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "schemes/distance/distance_checks.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> row_of(std::int64_t position, const NewScheme& options) {
  const Tensor<double> table = new_scheme(options, std::span(&position, 1));
  return {table.span().begin(), table.span().end()};
}

TEST(NewScheme, HoldsTheBitsOfThePosition) {
  EXPECT_THAT(row_of(6, {.width = 4}), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(row_of(9, {.width = 5, .scale = -0.5}), ElementsAre(-0.5, 0, 0, -0.5, 0));
  EXPECT_THAT(row_of(-1, {.width = 3}), ElementsAre(1, 1, 1));
  EXPECT_EQ(row_of(-2, {.width = 70}).back(), 1);
}

TEST(NewScheme, NamesTheArgumentAtFault) {
  const auto refusal = [](std::int64_t width, std::map<std::string, std::string> parameters) {
    testing::Asked asked(3, 1, std::move(parameters));
    asked.request.width = width;
    return error_of([&] { find_scheme("new_scheme").make(asked.request); });
  };
  EXPECT_EQ(refusal(0, {}), "[new_scheme.width] must be 1 .. 2^30, got 0");
  EXPECT_THAT(refusal(4, {{"scale", "nan"}}), HasSubstr("[new_scheme.scale]"));
  EXPECT_EQ(refusal(4, {}), "no error");
}

}  // namespace
}  // namespace sextant

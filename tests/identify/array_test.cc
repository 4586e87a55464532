// Arrays of any shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "identify/identified.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(IdentifyArray, TakesTablesAsBefore) {
  Sinusoidal options{.length = 50, .width = 32, .first = 3, .ladder = Ladder::d_half_minus_1};
  const Tensor<double> table = sinusoidal<double>(options);
  const Identification found =
      identify_array(View<const double>(table.data(), {1, 50, 1, 32}), 0x1p-53);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.options.first, 3);
  EXPECT_EQ(found.parameters.at("ladder"), "d/2-1");
  EXPECT_EQ(found.parameters.size(), 1U);
}

TEST(IdentifyArray, RefusesWhatHoldsNoNumbers) {
  const auto error = [](const Tensor<double>& array, double unit) {
    try {
      identify_array(array.view(), unit);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  Tensor<double> table({4, 4});
  table(1, 1) = NAN;
  EXPECT_THAT(error(table, 0x1p-53), HasSubstr("number 5"));
  EXPECT_THAT(error(Tensor<double>({0, 4}), 0x1p-53), HasSubstr("[identify_array.array]"));
  EXPECT_THAT(error(Tensor<double>({4}), 1), HasSubstr("[identify_array.unit_roundoff]"));
}

}  // namespace
}  // namespace sextant

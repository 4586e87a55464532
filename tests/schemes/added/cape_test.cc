// CAPE: without changes it is sinusoidal; the changes are NumPy's numbers, within their limits.
#include "sextant/schemes/added/cape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "schemes/distance/distance_checks.h"
#include "sextant/core/random.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::cape_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

TEST(Cape, OfNoChangesIsSinusoidal) {
  const List positions{0, 1, 5, -7, 1000, std::int64_t{1} << 40};
  const Tensor<double> ours = cape<double>({.width = 9, .base = 500}, positions);
  const std::vector<double> real(positions.begin(), positions.end());
  const Tensor<double> theirs = sinusoidal<double>({.width = 9, .base = 500}, real);
  for (std::int64_t i = 0; i < ours.count(); ++i) EXPECT_EQ(ours.data()[i], theirs.data()[i]);
}

// numpy.random.RandomState(7).random_sample(5), 17 digits.
TEST(Cape, DrawsTheShiftThenTheFactorThenOneNumberPerRow) {
  const double u[] = {0.07630828937395717, 0.7799187922401146, 0.4384092314408935,
                      0.7234651778309412, 0.9779895119966027};
  const Cape options{.width = 4,
                     .max_global_shift = 5,
                     .max_local_shift = 0.5,
                     .max_global_scaling = 1.03,
                     .seed = 7};
  const List positions{0, 1, 20};
  const std::vector<double> got = cape_positions(options, positions);
  ASSERT_EQ(got.size(), 3U);
  for (std::size_t n = 0; n < 3; ++n) {
    const double x =
        static_cast<double>(positions[n]) + 5 * (2 * u[0] - 1) + 0.25 * (2 * u[2 + n] - 1);
    const double factor = std::pow(1.03, 2 * u[1] - 1);
    EXPECT_NEAR(got[n], x * factor, 25 * 0x1p-50);  // a few roundings of 25
  }
}

TEST(Cape, KeepsItsLimitsAndReachesThem) {
  double least = 0, most = 0, small = 1, large = 1, nearest = 1, farthest = 1;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const double shift =
        cape_positions({.width = 2, .max_global_shift = 3, .seed = seed}, List{0})[0];
    const double factor =
        cape_positions({.width = 2, .max_global_scaling = 2, .seed = seed}, List{1})[0];
    const std::vector<double> two =
        cape_positions({.width = 2, .max_local_shift = 0.5, .seed = seed}, List{0, 1});
    least = std::min(least, shift);
    most = std::max(most, shift);
    small = std::min(small, factor);
    large = std::max(large, factor);
    nearest = std::min(nearest, two[1] - two[0]);
    farthest = std::max(farthest, two[1] - two[0]);
  }
  // 300 numbers: one is within 5 % of each end, but for e^-7 of cases. The seeds are given.
  EXPECT_GE(least, -3);
  EXPECT_LT(least, -2.7);
  EXPECT_LE(most, 3);
  EXPECT_GT(most, 2.7);
  EXPECT_GE(small, 0.5);
  EXPECT_LT(small, 0.54);
  EXPECT_LE(large, 2);
  EXPECT_GT(large, 1.86);
  EXPECT_GE(nearest, 0.5);  // the order of tokens is kept
  EXPECT_LT(nearest, 0.6);
  EXPECT_LE(farthest, 1.5);
  EXPECT_GT(farthest, 1.4);
}

TEST(Cape, SubtractsTheMeanOfTheText) {
  EXPECT_THAT(cape_positions({.width = 2, .normalize = true}, List{0, 1, 2, 3}),
              ElementsAre(-1.5, -0.5, 0.5, 1.5));
  EXPECT_THAT(cape_positions({.width = 2, .normalize = true, .length = 9}, List{0, 8}),
              ElementsAre(-4, 4));
  testing::Asked asked(4, 1, {{"normalize", "yes"}, {"freq_scale", "30"}});
  asked.request.width = 3;
  const auto table = std::get<Tensor<double>>(find_scheme("cape").make(asked.request));
  for (std::int64_t row = 0; row < 4; ++row) {
    const double angle = 30 * (static_cast<double>(row) - 1.5);
    EXPECT_NEAR(table(row, 0), std::sin(angle), 0x1p-52);
    EXPECT_NEAR(table(row, 1), std::cos(angle), 0x1p-52);
    EXPECT_NEAR(table(row, 2), std::sin(angle * std::pow(10000, -2.0 / 3)), 45 * 0x1p-52);
  }
}

TEST(Cape, HasAClassPerLengthOnlyWhereItSubtractsTheMean) {
  const auto class_of = [](std::map<std::string, std::string> parameters, std::int64_t length) {
    SchemeRequest request{.width = 4};
    request.parameters = std::move(parameters);
    return find_scheme("cape").length_class(request, length);
  };
  EXPECT_EQ(class_of({}, 5), class_of({}, 6));
  EXPECT_NE(class_of({{"normalize", "yes"}}, 5), class_of({{"normalize", "yes"}}, 6));
  EXPECT_EQ(class_of({{"normalize", "yes"}, {"length", "9"}}, 5),
            class_of({{"normalize", "yes"}, {"length", "9"}}, 6));
}

TEST(Cape, NamesTheArgumentAtFault) {
  const auto refusal = [](std::int64_t width, std::map<std::string, std::string> parameters) {
    testing::Asked asked(3, 1, std::move(parameters));
    asked.request.width = width;
    return error_of([&] { find_scheme("cape").make(asked.request); });
  };
  EXPECT_EQ(refusal(0, {}), "[cape.width] must be 1 .. 2^30, got 0");
  EXPECT_THAT(refusal(4, {{"base", "0.5"}}),
              HasSubstr("[cape.base] must be finite and at least 1"));
  EXPECT_THAT(refusal(4, {{"max_global_shift", "-1"}}), HasSubstr("[cape.max_global_shift]"));
  EXPECT_THAT(refusal(4, {{"max_local_shift", "nan"}}), HasSubstr("[cape.max_local_shift]"));
  EXPECT_THAT(refusal(4, {{"max_global_scaling", "0.5"}}), HasSubstr("[cape.max_global_scaling]"));
  EXPECT_THAT(refusal(4, {{"length", "0"}}), HasSubstr("[cape.length]"));
  EXPECT_THAT(refusal(4, {{"freq_scale", "0"}}), HasSubstr("[cape.freq_scale]"));
  EXPECT_THAT(refusal(4, {{"seed", "-1"}}), HasSubstr("[cape.seed]"));
  EXPECT_EQ(refusal(4, {}), "no error");
  EXPECT_THAT(error_of([] { cape({.width = 4, .threads = -1}, List{0}); }),
              HasSubstr("[cape.threads]"));
  EXPECT_THAT(error_of([] { cape({.width = 4}, List{(std::int64_t{1} << 53) + 1}); }),
              HasSubstr("[cape.positions]"));
  EXPECT_THAT(error_of([] {
                cape({.width = 4, .max_global_scaling = 4, .seed = 7}, List{std::int64_t{1} << 53});
              }),
              HasSubstr("[cape.positions] must be finite and within +-2^53"));
}

}  // namespace
}  // namespace sextant::cape_test

// tAPE: the catalogue's values, the formula, and that it is sinusoidal where width and length
// agree.
#include "sextant/schemes/added/tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "schemes/distance/distance_checks.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::tape_test {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

// D = 4, L = 10, p = 3, printed with 8 digits.
TEST(Tape, HasTheKnownValues) {
  const Tensor<double> row = tape<double>({.width = 4, .length = 10}, List{3});
  const double printed[] = {0.93203909, 0.36235775, 0.011999712, 0.99992800};
  for (std::int64_t c = 0; c < 4; ++c) EXPECT_NEAR(row(0, c), printed[c], 5.1e-9);
}

TEST(Tape, IsTheFormula) {
  const List positions{0, 1, 2, 7, 499, -3};
  for (const std::int64_t width : {2, 5, 16}) {
    const Tensor<double> table =
        tape<double>({.width = width, .length = 500, .base = 300, .scale = -2}, positions);
    ASSERT_EQ(table.shape(), Shape({6, width}));
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t c = 0; c < width; ++c) {
        const long double frequency =
            std::pow(300.0L, -static_cast<long double>(2 * (c / 2)) / static_cast<double>(width));
        const long double angle =
            static_cast<long double>(positions[static_cast<std::size_t>(row)]) * frequency *
            static_cast<long double>(width) / 500;
        const long double value = -2 * (c % 2 == 0 ? std::sin(angle) : std::cos(angle));
        // Angles are below 16; long double may be no wider than double: some roundings of that.
        EXPECT_NEAR(table(row, c), static_cast<double>(value), 16 * 0x1p-50);
      }
    }
  }
}

TEST(Tape, IsSinusoidalWhereWidthIsLength) {
  const List positions{0, 5, 31, 1000};
  const Tensor<float> ours = tape<float>({.width = 32, .length = 32}, positions);
  const Tensor<float> theirs = sinusoidal<float>({.width = 32}, positions);
  for (std::int64_t i = 0; i < ours.count(); ++i) EXPECT_EQ(ours.data()[i], theirs.data()[i]);
}

TEST(Tape, TakesTheLengthOfTheListUnlessItIsGiven) {
  const auto made = [](std::int64_t rows, std::map<std::string, std::string> parameters) {
    testing::Asked asked(rows, 1, std::move(parameters));
    asked.request.width = 6;
    return std::get<Tensor<double>>(find_scheme("tape").make(asked.request));
  };
  const Tensor<double> of_list = made(20, {}), longer = made(40, {{"length", "20"}});
  for (std::int64_t i = 0; i < of_list.count(); ++i) {
    EXPECT_EQ(of_list.data()[i], longer.data()[i]);
  }
  EXPECT_NE(made(40, {})(1, 0), of_list(1, 0));
}

TEST(Tape, NamesTheArgumentAtFault) {
  const auto refusal = [](std::int64_t width, std::map<std::string, std::string> parameters) {
    testing::Asked asked(3, 1, std::move(parameters));
    asked.request.width = width;
    return error_of([&] { find_scheme("tape").make(asked.request); });
  };
  EXPECT_EQ(refusal(0, {}), "[tape.width] must be 1 .. 2^30, got 0");
  EXPECT_THAT(refusal(4, {{"length", "0"}}), HasSubstr("[tape.length] must be 1 .. 2^53"));
  EXPECT_THAT(refusal(4, {{"base", "0.5"}}),
              HasSubstr("[tape.base] must be finite and at least 1"));
  EXPECT_THAT(refusal(4, {{"scale", "inf"}}), HasSubstr("[tape.scale] must be finite"));
  EXPECT_EQ(refusal(4, {}), "no error");
  EXPECT_THAT(error_of([] { tape({.width = 4, .threads = -1}, List{0}); }),
              HasSubstr("[tape.threads]"));
  EXPECT_THAT(error_of([] { tape({.width = 4}, List{(std::int64_t{1} << 53) + 1}); }),
              HasSubstr("[tape.positions]"));
}

}  // namespace
}  // namespace sextant::tape_test

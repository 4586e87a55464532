// Rotations at real positions: time stamps, half pixels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant {
namespace {

View<const double> times_of(const std::vector<double>& numbers, const Shape& shape) {
  return {numbers.data(), shape};
}

std::string refusal_of(const Rotary& options, const std::vector<double>& times,
                       const Shape& shape) {
  return error_of([&] { rotary<double>(options, times_of(times, shape)); });
}

TEST(RealPositions, TurnByTheTimesTheFrequency) {
  const Rotary options{.head_dim = 8};
  const std::vector<double> times{0.5, -2.25, 1e-3, 1234.5};
  const auto table = rotary<double>(options, times_of(times, {4}));
  const auto frequencies = rotation_frequencies(options, 1).inv_freq;
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t k = 0; k < 4; ++k) {
      // Frequencies are rounded to float64 here: an angle is off by half a unit of that at most.
      const long double angle = static_cast<long double>(times[row]) * frequencies[k];
      const auto tolerance = static_cast<double>(std::fabs(angle) + 1) * 0x1p-52;
      EXPECT_NEAR(table.cos(row, k), static_cast<double>(std::cos(angle)), tolerance);
      EXPECT_NEAR(table.sin(row, k), static_cast<double>(std::sin(angle)), tolerance);
    }
  }
}

TEST(RealPositions, ThatAreWholeHaveTheRowsOfIds) {
  const std::vector<double> times{0, 3, 99};
  const std::vector<std::int64_t> ids{0, 3, 99};
  for (const RotaryScaling& scaling :
       {RotaryScaling{}, RotaryScaling{DynamicNtkScaling{.factor = 2, .max_length = 20}}}) {
    for (const Precision precision : {Precision::exact, Precision::framework}) {
      const Rotary options{.head_dim = 8, .scaling = scaling, .precision = precision};
      const auto real = rotary<double>(options, times_of(times, {3}));
      const auto whole = rotary<double>(options, ids);
      for (std::int64_t n = 0; n < whole.cos.count(); ++n) {
        EXPECT_NEAR(real.cos.data()[n], whole.cos.data()[n], 0x1p-52);
        EXPECT_NEAR(real.sin.data()[n], whole.sin.data()[n], 0x1p-52);
      }
    }
  }
}

TEST(RealPositions, RotateThePairsOfTheirAxis) {
  const Rotary one{.head_dim = 8};
  const std::vector<double> rows{0.5, 1.5}, columns{2.5, -0.5}, both{0.5, 2.5, 1.5, -0.5};
  Rotary options = one;
  options.axes = SectionAxes{.sections = {1, 3}};
  const auto table = rotary<float>(options, times_of(both, {2, 2}));
  const auto by_rows = rotary<float>(one, times_of(rows, {2}));
  const auto by_columns = rotary<float>(one, times_of(columns, {2}));
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t k = 0; k < 4; ++k) {
      const auto& from = k < 1 ? by_rows : by_columns;
      EXPECT_EQ(table.cos(row, k), from.cos(row, k)) << k;
      EXPECT_EQ(table.sin(row, k), from.sin(row, k)) << k;
    }
  }
}

TEST(RealPositions, AreRefusedWhereTheyMeanNothing) {
  Rotary axial{.head_dim = 8};
  axial.axes = AxialAxes{};
  EXPECT_NE(refusal_of(axial, {0.5, 0.5}, {1, 2}).find(".positions] must be whole numbers"),
            std::string::npos);
  Rotary scaled{.head_dim = 8};
  scaled.query_scale.attn_scale = 0.1;
  EXPECT_NE(refusal_of(scaled, {0.5}, {1}).find(".positions] must be whole numbers"),
            std::string::npos);
  EXPECT_EQ(refusal_of({.head_dim = 8}, {std::nan("")}, {1}),
            "[rotary.positions] must be finite and within +-2^53, got nan");
  EXPECT_EQ(refusal_of({.head_dim = 8}, {0.5, 0.5}, {1, 2}),
            "[rotary.positions] must be one id per row, got 2");
  EXPECT_EQ(refusal_of({.head_dim = 8}, {0.5}, {1, 1, 1}),
            "[rotary.positions] must be [rows] or [rows, axes], got [1, 1, 1]");
}

TEST(RealPositions, ComeThroughTheList) {
  const std::vector<double> times{0.25, 7.5};
  for (const Scheme* scheme : schemes()) {
    if (!scheme->real_positions) continue;
    SCOPED_TRACE(scheme->name);
    SchemeRequest request;
    request.width = request.head_dim = 8;
    request.times = times;
    EXPECT_EQ(request.rows(), 2);
    const SchemeTable table = scheme->make(request);
    if (const auto* rotation = std::get_if<RotationTable<double>>(&table)) {
      EXPECT_EQ(rotation->cos.size(0), 2);
      EXPECT_NE(rotation->sin(0, 0), 0);
    } else {
      EXPECT_EQ(std::get<Tensor<double>>(table).size(0), 2);
    }
  }
}

}  // namespace
}  // namespace sextant

// Axial rotary positions: printed angles of every form, and true tables on grids that are not
// square.
#include "sextant/schemes/rotated/rotary.h"

#include <numbers>

#include "schemes/rotated/rotation_checks.h"

namespace sextant::rotary_axial_test {
namespace {

using checks::Real;

constexpr double kPi = std::numbers::pi;

// Angles of the four pairs of 8 channels at row 1, column 2 of a grid of 2 rows and 3 columns.
void expect_angles(Rotary options, const std::vector<double>& printed) {
  options.head_dim = 8;
  std::get<AxialAxes>(options.axes).columns = 3;
  const RotationTable<double> grid = rotary<double>(options, 6);
  Tensor<std::int64_t> ids({2, 2});
  ids(0, 0) = 1;
  ids(0, 1) = 2;
  const RotationTable<double> listed = rotary<double>(options, ids.view());
  for (std::int64_t k = 0; k < 4; ++k) {
    const double angle = printed[static_cast<std::size_t>(k)];
    EXPECT_NEAR(grid.cos(5, k), std::cos(angle), 5e-8 * angle) << k;
    EXPECT_NEAR(grid.sin(5, k), std::sin(angle), 5e-8 * angle) << k;
    EXPECT_EQ(listed.cos(0, k), grid.cos(5, k));
    EXPECT_EQ(listed.sin(0, k), grid.sin(5, k));
  }
}

TEST(RotaryAxial, AnglesAreAsPrinted) {
  expect_angles({.axes = AxialAxes{.frequencies = AxialFrequencies::shared}},
                {1, 0.01, 0.2, 0.002});                      // Pixtral
  expect_angles({.axes = AxialAxes{}}, {1, 0.01, 2, 0.02});  // Qwen2-VL, EVA-02
  expect_angles({.base = 100, .axes = AxialAxes{.order = AxialOrder::column_first}},
                {2, 0.2, 1, 0.1});  // rope-vit
  expect_angles(
      {.base = 100, .axes = AxialAxes{.coordinates = AxialCoordinates::centered}},  // DINOv3
      {3.1415927, 0.31415927, 4.1887902, 0.41887902});
  expect_angles({.axes = AxialAxes{.order = AxialOrder::column_first, .first = 1}},
                {3, 0.03, 2, 0.02});  // torchtune
}

TEST(RotaryAxial, TablesAreTrue) {
  const Rotary options{.head_dim = 32, .base = 100, .axes = AxialAxes{.axis_dims = {12, 20}}};
  Tensor<std::int64_t> ids({35, 2});
  for (std::int64_t row = 0; row < 35; ++row) {
    ids(row, 0) = row < 30 ? row / 6 : row * 12345678;
    ids(row, 1) = row < 30 ? row % 6 : -row;
  }
  const RotationTable<float> table = rotary<float>(options, ids.view());
  const checks::Frequencies rows = checks::ladder(100, 12);
  const checks::Frequencies columns = checks::ladder(100, 20);
  double worst = 0;
  for (std::int64_t row = 0; row < 35; ++row) {
    for (std::int64_t k = 0; k < 16; ++k) {
      const bool first = k < 6;
      const auto id = static_cast<double>(ids(row, first ? 0 : 1));
      const Real angle = Real(id) * (first ? rows[static_cast<std::size_t>(k)]
                                           : columns[static_cast<std::size_t>(k - 6)]);
      worst = std::max(
          {worst, sin(angle).ulps_off(table.sin(row, k)), cos(angle).ulps_off(table.cos(row, k))});
    }
  }
  EXPECT_LE(worst, 0.5001);
}

TEST(RotaryAxial, CenteredTablesAreTrue) {
  const Rotary options{.head_dim = 16,
                       .base = 100,
                       .axes = AxialAxes{.coordinates = AxialCoordinates::centered, .columns = 7}};
  const RotationTable<float> table = rotary<float>(options, 35);
  double worst = 0;
  for (std::int64_t cell = 0; cell < 35; ++cell) {
    for (int k = 0; k < 8; ++k) {
      const double i = static_cast<double>(k < 4 ? cell / 7 : cell % 7);
      const Real u = Real(2) * (Real(i) + 0.5) / (k < 4 ? 5 : 7) - 1;
      const Real period = pow(Real(100), Real(2 * (k % 4)) / 8);
      const Real angle = Real(2) * Real::pi() * u / period;
      if (angle == 0) continue;
      worst = std::max({worst, sin(angle).ulps_off(table.sin(cell, k)),
                        cos(angle).ulps_off(table.cos(cell, k))});
    }
  }
  EXPECT_LE(worst, 0.5001);
  EXPECT_EQ(table.sin(3, 5), 0);  // the middle column
  EXPECT_EQ(table.cos(3, 5), 1);
}

TEST(RotaryAxial, ThreeAxesHaveWidthsOfTheirOwn) {
  Tensor<std::int64_t> ids({1, 3});
  ids(0, 0) = 2;
  ids(0, 1) = 3;
  ids(0, 2) = 5;
  const auto first_pairs = [&](Rotary options, std::int64_t head_dim,
                               const std::vector<std::int64_t>& pairs,
                               const std::vector<double>& expected) {
    options.head_dim = head_dim;
    const RotationTable<double> table = rotary<double>(options, ids.view());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_NEAR(table.sin(0, pairs[i]), std::sin(expected[i]), 0x1p-52) << i;
    }
  };
  first_pairs({.axes = AxialAxes{.axis_dims = {16, 56, 56}}}, 128, {0, 8, 36}, {2, 3, 5});  // FLUX
  first_pairs({.axes = AxialAxes{}}, 128, {0, 22, 43}, {2, 3, 5});  // Wan: 44, 42, 42
  first_pairs({.axes = AxialAxes{.order = AxialOrder::column_first}}, 128, {0, 22, 43}, {2, 5, 3});
  EXPECT_EQ(rotation_frequencies(Rotary{.head_dim = 128, .axes = AxialAxes{}}, 0, 3).inv_freq[22],
            1);
}

TEST(RotaryAxial, AGridWithoutColumnsIsSquare) {
  const RotationTable<double> table = rotary<double>({.head_dim = 8, .axes = AxialAxes{}}, 9);
  EXPECT_NEAR(table.sin(7, 0), std::sin(2.0), 0x1p-52);  // row 2, column 1
  EXPECT_NEAR(table.sin(7, 2), std::sin(1.0), 0x1p-52);
  const std::int64_t cells[] = {11};  // 4 columns hold 12 cells
  EXPECT_NEAR(rotary<double>({.head_dim = 8, .axes = AxialAxes{}}, cells).sin(0, 2), std::sin(3.0),
              0x1p-52);
}

TEST(RotaryAxial, FrequenciesArePerUnitOfTheCoordinate) {
  const auto f =
      rotation_frequencies(Rotary{.head_dim = 8,
                                  .base = 100,
                                  .axes = AxialAxes{.coordinates = AxialCoordinates::centered}})
          .inv_freq;
  EXPECT_NEAR(f[1], 2 * kPi / 10, 0x1p-52);
  const auto framework =
      rotation_frequencies(
          Rotary{.head_dim = 8, .axes = AxialAxes{}, .precision = Precision::framework})
          .inv_freq;
  EXPECT_EQ(framework,
            (std::vector<double>{1, static_cast<double>(0.01F), 1, static_cast<double>(0.01F)}));
}

TEST(RotaryAxial, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Rotary options) {
    options.head_dim = 16;
    expect_error(std::string("rotary_axial.") + name, [&] { rotary<float>(options, 6); });
  };
  wrong("axis_dims", {.axes = AxialAxes{.axis_dims = {8, 4}}});
  wrong("axis_dims", {.axes = AxialAxes{.axis_dims = {9, 7}}});
  wrong("axis_dims", {.axes = AxialAxes{.axis_dims = {16}}});
  wrong("axis_dims",
        {.axes = AxialAxes{.frequencies = AxialFrequencies::shared, .axis_dims = {4, 12}}});
  wrong("first", {.axes = AxialAxes{.first = 2}});
  wrong("first", {.axes = AxialAxes{.coordinates = AxialCoordinates::centered, .first = 1}});
  wrong("columns", {.axes = AxialAxes{.columns = 0}});
  wrong("rows", {.axes = AxialAxes{.rows = 0}});
  wrong("precision", {.axes = AxialAxes{.coordinates = AxialCoordinates::centered},
                      .precision = Precision::framework});
  wrong("order", {.axes = AxialAxes{.order = static_cast<AxialOrder>(7)}});
  wrong("frequencies", {.axes = AxialAxes{.frequencies = static_cast<AxialFrequencies>(7)}});
  wrong("coordinates", {.axes = AxialAxes{.coordinates = static_cast<AxialCoordinates>(7)}});
  expect_error("rotary_axial.length",
               [] { rotary<float>({.head_dim = 8, .axes = AxialAxes{}}, -1); });
  const std::int64_t before[] = {-1};
  expect_error("rotary_axial.positions",
               [&] { rotary<float>({.head_dim = 8, .axes = AxialAxes{}}, before); });
  const Tensor<std::int64_t> four({2, 4});
  expect_error("rotary_axial.positions",
               [&] { rotary<float>({.head_dim = 8, .axes = AxialAxes{}}, four.view()); });
  expect_error("rotary_axial.axis_dims",
               [] { rotary<float>({.head_dim = 2, .axes = AxialAxes{}}, 1); });
}

}  // namespace
}  // namespace sextant::rotary_axial_test

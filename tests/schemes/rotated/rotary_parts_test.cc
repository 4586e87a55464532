// Scalings, axes and a query scale combine: each against what it is made of.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "schemes/rotated/rotation_checks.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using checks::Real;

const std::vector<RotaryScaling> kScalings = {
    LinearScaling{.factor = 3},
    NtkScaling{.factor = 3},
    DynamicNtkScaling{.max_length = 5},
    YarnScaling{.factor = 8, .original_length = 64},
    Llama3Scaling{.factor = 8, .original_length = 64},
    LongropeScaling{.short_factor = {1, 2, 3, 4, 5, 6, 7, 8}, .factor = 4},
    ProportionalScaling{.proportion = 0.5},
};

Tensor<std::int64_t> some_ids(std::int64_t axes) {
  Tensor<std::int64_t> ids({6, axes});
  for (std::int64_t row = 0; row < 6; ++row) {
    for (std::int64_t a = 0; a < axes; ++a) ids(row, a) = row * (a + 1) + 5 * a;
  }
  return ids;
}

// A pair of a section has the frequency that the scaling gives it, times the id of its axis.
TEST(RotaryParts, SectionsTakeEveryScaling) {
  const Tensor<std::int64_t> ids = some_ids(3);
  for (const RotaryScaling& scaling : kScalings) {
    SCOPED_TRACE(scaling.index());
    Rotary options{.head_dim = 16, .scaling = scaling, .axes = SectionAxes{.sections = {3, 3, 2}}};
    const RotationTable<float> table = rotary<float>(options, ids.view());
    const std::vector<std::int32_t> axes = rotary_pair_axes(options, 3);
    options.axes = {};
    const std::int64_t longest = 5 * 3 + 10 + 1;
    std::vector<std::int64_t> all(longest);
    for (std::int64_t i = 0; i < longest; ++i) all[static_cast<std::size_t>(i)] = i;
    const RotationTable<float> plain = rotary<float>(options, all);
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t k = 0; k < 8; ++k) {
        const std::int64_t id = ids(row, axes[static_cast<std::size_t>(k)]);
        EXPECT_EQ(table.cos(row, k), plain.cos(id, k));
        EXPECT_EQ(table.sin(row, k), plain.sin(id, k));
      }
    }
  }
}

// Rows and columns with a ladder each: the ladder of a head of the axis's channels, scaled.
TEST(RotaryParts, AxesOfImagesTakeScalings) {
  const Tensor<std::int64_t> ids = some_ids(2);
  for (const RotaryScaling& scaling : kScalings) {
    if (std::holds_alternative<LongropeScaling>(scaling)) continue;  // divisors are of all pairs
    SCOPED_TRACE(scaling.index());
    const RotationTable<float> table = rotary<float>(
        {.head_dim = 16, .scaling = scaling, .axes = AxialAxes{.axis_dims = {8, 8}}}, ids.view());
    const RotationTable<float> plain = rotary<float>({.head_dim = 8, .scaling = scaling}, 16);
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t k = 0; k < 8; ++k) {
        EXPECT_EQ(table.cos(row, k), plain.cos(ids(row, k / 4), k % 4));
        EXPECT_EQ(table.sin(row, k), plain.sin(ids(row, k / 4), k % 4));
      }
    }
  }
}

// One ladder for both axes: its entries alternately.
TEST(RotaryParts, AxesThatShareALadderShareItsScaling) {
  const Tensor<std::int64_t> ids = some_ids(2);
  const YarnScaling yarn{.factor = 8, .original_length = 64};
  const RotationTable<float> table = rotary<float>(
      {.head_dim = 16, .scaling = yarn, .axes = AxialAxes{.frequencies = AxialFrequencies::shared}},
      ids.view());
  const RotationTable<float> plain = rotary<float>({.head_dim = 16, .scaling = yarn}, 16);
  for (std::int64_t row = 0; row < 6; ++row) {
    for (std::int64_t k = 0; k < 8; ++k) {
      const std::int64_t entry = 2 * (k % 4) + k / 4;
      EXPECT_EQ(table.sin(row, k), plain.sin(ids(row, k / 4), entry));
    }
  }
}

// Ministral 3: YaRN with a temperature of queries that counts positions from 0.
TEST(RotaryParts, AQueryScaleMultipliesQueriesOnly) {
  const std::int64_t positions[] = {0, 1, 16383, 16384, 16385, 32768, 262143};
  const double amplitude = yarn_attention_factor({.factor = 16});
  for (const std::int64_t offset : {0, 1}) {
    Rotary options{
        .head_dim = 32,
        .base = 1e6,
        .scaling = YarnScaling{.factor = 16, .original_length = 16384},
        .query_scale = {.attn_scale = 0.1, .floor_scale = 16384, .floor_offset = offset}};
    const RotationTable<float> table = rotary<float>(options, positions);
    options.query_scale = {};
    const RotationTable<float> keys = rotary<float>(options, positions);
    const RotationFrequencies f = rotation_frequencies(options);
    EXPECT_EQ(f.attention_factor, amplitude);
    const RotationTable<double> wide = rotary<double>(options, positions);
    double worst = 0;
    for (std::int64_t row = 0; row < 7; ++row) {
      const std::int64_t steps = (positions[row] + offset) / 16384;
      const Real tau = Real(1) + Real(0.1) * log(Real(static_cast<double>(steps + 1)));
      for (std::int64_t k = 0; k < 16; ++k) {
        EXPECT_EQ(table.for_keys().cos(row, k), keys.cos(row, k));
        EXPECT_EQ(table.for_keys().sin(row, k), keys.sin(row, k));
        // The float64 cosine is within 0.51 units, tau within 2: below 2^-28 of one of float32.
        worst = std::max({worst, (tau * Real(wide.cos(row, k))).ulps_off(table.cos(row, k)),
                          (tau * Real(wide.sin(row, k))).ulps_off(table.sin(row, k))});
      }
    }
    EXPECT_LE(worst, 0.5001);
  }
}

// Log-n scaling goes with every scaling of frequencies: the rotation of queries is tau times that
// of keys.
TEST(RotaryParts, QueriesGrowByLogNWithEveryScaling) {
  const std::int64_t positions[] = {0, 31, 32, 33, 1000};
  std::vector<RotaryScaling> scalings = kScalings;
  scalings.emplace_back();
  for (const RotaryScaling& scaling : scalings) {
    SCOPED_TRACE(scaling.index());
    Rotary options{.head_dim = 16, .scaling = scaling};
    const RotationTable<double> wide = rotary<double>(options, positions);
    const RotationTable<float> keys = rotary<float>(options, positions);
    options.query_scale = {.growth = QueryGrowth::log_n, .train_length = 32};
    const RotationTable<float> table = rotary<float>(options, positions);
    double worst = 0;
    for (std::int64_t row = 0; row < 5; ++row) {
      const Real tau = positions[row] < 32
                           ? Real(1)
                           : log(Real(static_cast<double>(positions[row] + 1))) / log(Real(32));
      for (std::int64_t k = 0; k < 8; ++k) {
        EXPECT_EQ(table.for_keys().sin(row, k), keys.sin(row, k));
        worst = std::max({worst, (tau * Real(wide.cos(row, k))).ulps_off(table.cos(row, k)),
                          (tau * Real(wide.sin(row, k))).ulps_off(table.sin(row, k))});
      }
    }
    EXPECT_LE(worst, 0.5001);  // as with steps
  }
}

// EVA-02 on another grid than that of training: coordinates are exact fractions.
TEST(RotaryParts, CoordinatesMayBeFractions) {
  const RotationTable<float> table = rotary<float>(
      {.head_dim = 16,
       .axes =
           AxialAxes{.columns = 24, .rows = 21, .pretrained_columns = 16, .pretrained_rows = 14}},
      21 * 24);
  double worst = 0;
  for (std::int64_t cell = 0; cell < 21 * 24; ++cell) {
    for (int k = 0; k < 8; ++k) {
      const auto i = static_cast<double>(k < 4 ? cell / 24 : cell % 24);
      const Real theta = pow(Real(10000), Real(-2 * (k % 4)) / 8);
      const Real angle = Real(i) * Real(k < 4 ? 14 : 16) / Real(k < 4 ? 21 : 24) * theta;
      worst = std::max({worst, sin(angle).ulps_off(table.sin(cell, k)),
                        cos(angle).ulps_off(table.cos(cell, k))});
    }
  }
  EXPECT_LE(worst, 0.5001);
  // The last row of 21 is 20 * 14 / 21 = 13.333... of those of training.
  EXPECT_NEAR(table.sin(20 * 24, 0), std::sin(20.0 * 14 / 21), 1e-7);
}

// The parameters of a scheme of the list say the same.
TEST(RotaryParts, SchemesOfTheListCombine) {
  const Tensor<std::int64_t> ids = some_ids(3);
  SchemeRequest request{.head_dim = 16,
                        .positions = ids.span(),
                        .axes = 3,
                        .parameters = {{"factor", "8"},
                                       {"original_length", "64"},
                                       {"sections", "3,3,2"},
                                       {"order", "interleaved"}}};
  const auto made = std::get<RotationTable<double>>(find_scheme("rotary_yarn").make(request));
  const RotationTable<double> table = rotary<double>(
      {.head_dim = 16,
       .scaling = YarnScaling{.factor = 8, .original_length = 64},
       .axes = SectionAxes{.sections = {3, 3, 2}, .order = SectionOrder::interleaved}},
      ids.view());
  for (std::int64_t i = 0; i < table.cos.count(); ++i) {
    EXPECT_EQ(made.cos.data()[i], table.cos.data()[i]);
  }
  const std::int64_t text[] = {0, 9000};
  request = {.head_dim = 16, .positions = text, .parameters = {{"attn_scale", "0.1"}}};
  const auto scaled = std::get<RotationTable<double>>(find_scheme("rotary").make(request));
  EXPECT_NE(scaled.keys, nullptr);
  EXPECT_NEAR(scaled.cos(1, 0), (1 + 0.1 * std::log(2.0)) * std::cos(9000.0), 1e-15);
}

TEST(RotaryParts, NamesTheOptionAtFault) {
  const Tensor<std::int64_t> ids = some_ids(3);
  expect_error("rotary.positions", [&] { rotary<float>({.head_dim = 16}, ids.view()); });
  expect_error("rotary_yarn.positions",
               [&] { rotary<float>({.head_dim = 16, .scaling = YarnScaling{}}, ids.view()); });
  expect_error("rotary_sections.attn_scale", [&] {
    rotary<float>({.head_dim = 16, .axes = SectionAxes{}, .query_scale = {.attn_scale = 1}},
                  ids.view());
  });
  expect_error("rotary.attn_scale", [] {
    rotary<float>({.head_dim = 16, .rotary_dim = 8, .query_scale = {.attn_scale = 1}}, 3);
  });
  const QueryScale log_n{.growth = QueryGrowth::log_n};
  expect_error("rotary.growth",
               [&] { rotary<float>({.head_dim = 16, .rotary_dim = 8, .query_scale = log_n}, 3); });
  expect_error("rotary_into.options", [&] {
    RotationTable<float> table = rotary<float>({.head_dim = 16}, 3);
    rotary_into(table, {.head_dim = 16, .query_scale = log_n});
  });
  expect_error("rotary.floor_offset",
               [] { rotary<float>({.head_dim = 16, .query_scale = {.floor_offset = 2}}, 3); });
  expect_error("rotary.positions", [] {
    const std::int64_t before[] = {-1};
    rotary<float>({.head_dim = 16, .query_scale = {.attn_scale = 1}}, before);
  });
  // The largest id of all: the length of the text is not beyond what a number holds.
  for (const RotaryScaling& scaling : {RotaryScaling{}, RotaryScaling{DynamicNtkScaling{}}}) {
    const std::int64_t beyond[] = {std::numeric_limits<std::int64_t>::max()};
    expect_error(scaling.index() == 0 ? "rotary.positions" : "rotary_dynamic_ntk.positions",
                 [&] { rotary<float>({.head_dim = 16, .scaling = scaling}, beyond); });
  }
  expect_error("rotary_axial.coordinates", [] {
    rotary<float>(
        {.head_dim = 16,
         .axes = AxialAxes{.coordinates = AxialCoordinates::centered, .pretrained_columns = 4}},
        9);
  });
}

}  // namespace
}  // namespace sextant

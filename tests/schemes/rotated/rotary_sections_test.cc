// Multi-section rotary: which pair is rotated by which id, and printed angles.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant::rotary_sections_test {
namespace {

using checks::Real;

Tensor<std::int64_t> ids_of(std::int64_t rows, std::int64_t axes,
                            const std::vector<std::int64_t>& values) {
  Tensor<std::int64_t> ids({rows, axes});
  std::copy(values.begin(), values.end(), ids.data());
  return ids;
}

void expect_angles(const Rotary& options, const std::vector<double>& printed) {
  const Tensor<std::int64_t> ids = ids_of(1, 3, {5, 7, 9});
  const RotationTable<double> table = rotary<double>(options, ids.view());
  for (std::int64_t k = 0; k < 8; ++k) {
    const double angle = printed[static_cast<std::size_t>(k)];
    // Printed with eight digits.
    EXPECT_NEAR(table.cos(0, k), std::cos(angle), 5.01e-8 * angle) << k;
    EXPECT_NEAR(table.sin(0, k), std::sin(angle), 5.01e-8 * angle) << k;
  }
}

TEST(RotarySections, AnglesAreAsPrinted) {
  expect_angles({.head_dim = 16, .axes = SectionAxes{.sections = {2, 3, 3}}},
                {5, 1.5811388, 0.7, 0.22135944, 0.07, 0.028460499, 0.009, 0.0028460499});
  expect_angles({.head_dim = 16,
                 .axes = SectionAxes{.sections = {4, 2, 2}, .order = SectionOrder::interleaved}},
                {5, 2.2135944, 0.9, 0.15811388, 0.07, 0.028460499, 0.005, 0.0015811388});
}

TEST(RotarySections, InterleavedSectionsOfQwen3TakeTurns) {
  const auto axes = rotary_pair_axes(
      {.head_dim = 128,
       .axes = SectionAxes{.sections = {24, 20, 20}, .order = SectionOrder::interleaved}});
  for (std::int32_t k = 0; k < 64; ++k) {
    EXPECT_EQ(axes[static_cast<std::size_t>(k)], k >= 60 ? 0 : k % 3) << k;
  }
  const auto partial = rotary_pair_axes(
      {.head_dim = 256,
       .rotary_dim = 64,
       .axes = SectionAxes{.sections = {11, 11, 10}, .order = SectionOrder::interleaved}});
  for (std::int32_t a = 0; a < 3; ++a) {
    EXPECT_EQ(std::count(partial.begin(), partial.end(), a), a < 2 ? 11 : 10);
  }
}

TEST(RotarySections, TablesAreTrueForIdsThatRepeatAndThatDoNot) {
  for (const SectionOrder order : {SectionOrder::sectioned, SectionOrder::interleaved}) {
    const Rotary options{
        .head_dim = 32, .base = 1e6, .axes = SectionAxes{.sections = {6, 5, 5}, .order = order}};
    const auto axes = rotary_pair_axes(options);
    const checks::Frequencies theta = checks::ladder(1e6, 32);
    // A grid at one time, and ids far apart.
    Tensor<std::int64_t> ids({24, 3});
    for (std::int64_t row = 0; row < 24; ++row) {
      ids(row, 0) = row < 20 ? 7 : row * 100000007;
      ids(row, 1) = 7 + row / 5;
      ids(row, 2) = 7 + row % 5;
    }
    const RotationTable<float> table = rotary<float>(options, ids.view());
    double worst = 0;
    for (std::int64_t row = 0; row < 24; ++row) {
      for (std::int64_t k = 0; k < 16; ++k) {
        const std::int64_t id = ids(row, axes[static_cast<std::size_t>(k)]);
        const Real angle = Real(static_cast<double>(id)) * theta[static_cast<std::size_t>(k)];
        worst = std::max({worst, sin(angle).ulps_off(table.sin(row, k)),
                          cos(angle).ulps_off(table.cos(row, k))});
      }
    }
    EXPECT_LE(worst, 0.5001);
  }
}

TEST(RotarySections, TextIsPlainRotary) {
  const RotationTable<float> plain = rotary<float>({.head_dim = 16}, 300);
  Tensor<std::int64_t> ids({300, 3});
  for (std::int64_t i = 0; i < ids.count(); ++i) ids.data()[i] = i / 3;
  const RotationTable<float> same =
      rotary<float>({.head_dim = 16, .axes = SectionAxes{}}, ids.view());
  const RotationTable<float> text = rotary<float>({.head_dim = 16, .axes = SectionAxes{}}, 300);
  for (std::int64_t i = 0; i < plain.cos.count(); ++i) {
    ASSERT_EQ(same.cos.data()[i], plain.cos.data()[i]);
    ASSERT_EQ(same.sin.data()[i], plain.sin.data()[i]);
    ASSERT_EQ(text.sin.data()[i], plain.sin.data()[i]);
  }
}

TEST(RotarySections, EqualSectionsAreTheDefault) {
  const auto axes = rotary_pair_axes({.head_dim = 16, .axes = SectionAxes{}}, 3);
  EXPECT_EQ(axes, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2, 2}));
  const Tensor<std::int64_t> ids({1, 3});
  const Rotary one_axis{.head_dim = 16, .axes = SectionAxes{.sections = {8, 0, 0}}};
  EXPECT_EQ(rotary<float>(one_axis, ids.view()).cos(0, 7), 1);
  EXPECT_EQ(rotary_pair_axes({.head_dim = 4, .axes = SectionAxes{}}, 3),
            (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(rotary_pair_axes({.head_dim = 8, .axes = SectionAxes{}}, 2),
            (std::vector<std::int32_t>{0, 0, 1, 1}));
}

TEST(RotarySections, NamesTheOptionAtFault) {
  const Tensor<std::int64_t> ids({4, 3});
  const Tensor<std::int64_t> flat({12});
  const auto wrong = [&](const char* name, Rotary options, const Tensor<std::int64_t>& given) {
    options.head_dim = 16;
    expect_error(std::string("rotary_sections.") + name,
                 [&] { rotary<float>(options, given.view()); });
  };
  wrong("sections", {.axes = SectionAxes{.sections = {8}}}, ids);
  wrong("sections", {.axes = SectionAxes{.sections = {4, 4, 4}}}, ids);
  wrong("sections", {.axes = SectionAxes{.sections = {9, -1, 0}}}, ids);
  wrong("sections",
        {.axes = SectionAxes{.sections = {2, 4, 2}, .order = SectionOrder::interleaved}}, ids);
  wrong("order", {.axes = SectionAxes{.order = static_cast<SectionOrder>(7)}}, ids);
  wrong("positions", {.axes = SectionAxes{.sections = {4, 4}}}, ids);
  wrong("positions", {.axes = SectionAxes{}}, flat);
  Tensor<std::int64_t> far({1, 3});
  far(0, 1) = (std::int64_t{1} << 53) + 1;
  wrong("positions", {.axes = SectionAxes{}}, far);
}

}  // namespace
}  // namespace sextant::rotary_sections_test

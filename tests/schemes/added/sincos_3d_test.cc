// Video positions: which axis stands where, in grids whose sides differ.
#include "sextant/schemes/added/sincos_3d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sextant/schemes/added/sincos_2d.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::sincos_3d_test {
namespace {

using ::testing::HasSubstr;

Sincos3d of(Sincos3dForm form, std::int64_t width) {
  Sincos3d options;
  options.form = form;
  options.width = width;
  return options;
}

constexpr std::int64_t kPatch[] = {5, 1, 2};  // frame, row, column

TEST(Sincos3d, DiffusersGivesTimeAQuarterAndTheRestToTheImage) {
  const Tensor<double> table = sincos_3d<double>(of(Sincos3dForm::diffusers, 32), kPatch);
  Sinusoidal time;
  time.width = 8;
  time.layout = SinusoidalLayout::half_split;
  const std::int64_t frame[] = {5};
  const Tensor<double> first = sinusoidal<double>(time, frame);
  const Sincos2d space{.width = 24};
  const std::int64_t place[] = {1, 2};
  const Tensor<double> rest = sincos_2d<double>(space, place);
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(table(0, i), first(0, i));
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(table(0, 8 + i), rest(0, i));
}

TEST(Sincos3d, Tensor2tensorEndsWithZeros) {
  const Tensor<double> table = sincos_3d<double>(of(Sincos3dForm::tensor2tensor, 14), kPatch);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const double p = static_cast<double>(kPatch[axis]);
    // Two frequencies per axis, 1 and 1 / 10000; one rounding of each value below one.
    EXPECT_NEAR(table(0, 4 * axis), std::sin(p), 0x1p-52);
    EXPECT_NEAR(table(0, 4 * axis + 1), std::sin(p / 10000), 0x1p-52);
    EXPECT_NEAR(table(0, 4 * axis + 2), std::cos(p), 0x1p-52);
    EXPECT_NEAR(table(0, 4 * axis + 3), std::cos(p / 10000), 0x1p-52);
  }
  EXPECT_EQ(table(0, 12), 0);
  EXPECT_EQ(table(0, 13), 0);
}

TEST(Sincos3d, MultidimCutsTheLastAxisOff) {
  for (const std::int64_t width : {1, 5, 8, 10, 12, 13}) {
    const Tensor<double> table = sincos_3d<double>(of(Sincos3dForm::multidim, width), kPatch);
    const std::int64_t each = 2 * ((width + 5) / 6);
    for (std::int64_t i = 0; i < width; ++i) {
      const double p = static_cast<double>(kPatch[i / each]);
      const std::int64_t c = i % each;
      const double angle =
          p * std::pow(10000, -static_cast<double>(c / 2 * 2) / static_cast<double>(each));
      // Angles up to 5 with three roundings.
      EXPECT_NEAR(table(0, i), c % 2 == 0 ? std::sin(angle) : std::cos(angle), 0x1p-49)
          << width << " " << i;
    }
  }
}

TEST(Sincos3d, RealPlacesAreAllowed) {
  const double between[] = {0.5, 0.25, -3};
  const Tensor<double> table = sincos_3d<double>(of(Sincos3dForm::multidim, 6), between);
  EXPECT_DOUBLE_EQ(table(0, 0), std::sin(0.5));
  EXPECT_DOUBLE_EQ(table(0, 3), std::cos(0.25));
  EXPECT_DOUBLE_EQ(table(0, 4), std::sin(-3.0));
}

TEST(Sincos3dScheme, OneIdPerPatchCountsFramesOfRows) {
  SchemeRequest request;
  request.width = 16;
  const std::int64_t ids[] = {(5 * 3 + 1) * 4 + 2, -1};
  request.positions = ids;
  request.parameters = {{"form", "diffusers"}, {"rows", "3"}, {"columns", "4"}};
  const auto table = std::get<Tensor<double>>(find_scheme("sincos_3d").make(request));
  const std::int64_t triples[] = {5, 1, 2, -1, 2, 3};
  request.positions = triples;
  request.axes = 3;
  request.parameters = {{"form", "diffusers"}};
  const auto same = std::get<Tensor<double>>(find_scheme("sincos_3d").make(request));
  ASSERT_EQ(same.shape(), Shape({2, 16}));
  for (std::int64_t i = 0; i < 32; ++i) EXPECT_EQ(table.data()[i], same.data()[i]);
}

TEST(Sincos3d, RefusesWidthsThatItsFormCannotShare) {
  const auto error = [](Sincos3dForm form, std::int64_t width) {
    return error_of([&] { sincos_3d<float>(of(form, width), kPatch); });
  };
  EXPECT_THAT(error(Sincos3dForm::diffusers, 24), HasSubstr("multiple of 16"));
  EXPECT_THAT(error(Sincos3dForm::tensor2tensor, 8), HasSubstr("12 .. 2^30"));
  EXPECT_THAT(error(Sincos3dForm::multidim, 0), HasSubstr("[sincos_3d.width]"));
  EXPECT_THAT(error(static_cast<Sincos3dForm>(9), 12), HasSubstr("[sincos_3d.form]"));
  Sincos3d options = of(Sincos3dForm::multidim, 12);
  options.base = 0;
  EXPECT_THAT(error_of([&] { sincos_3d<float>(options, kPatch); }), HasSubstr("[sincos_3d.base]"));
  const std::int64_t two[] = {1, 2};
  EXPECT_THAT(error_of([&] { sincos_3d<float>(of(Sincos3dForm::multidim, 12), two); }),
              HasSubstr("triples"));
  SchemeRequest request{.width = 8, .positions = two, .axes = 2};
  EXPECT_THAT(error_of([&] { find_scheme("sincos_3d").make(request); }),
              HasSubstr("1 or 3 ids per row, got 2"));
  request.axes = 1;
  request.parameters = {{"form", "voxels"}};
  EXPECT_THAT(error_of([&] { find_scheme("sincos_3d").make(request); }),
              HasSubstr("one of multidim, diffusers, tensor2tensor"));
}

}  // namespace
}  // namespace sextant::sincos_3d_test

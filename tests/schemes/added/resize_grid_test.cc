// Grids of learned positions in other sizes: numbers of torch 2.13 and laws of every convention.
#include "sextant/schemes/added/resize_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sextant/core/error.h"

namespace sextant::resize_grid_test {
namespace {

using ::testing::HasSubstr;

constexpr ResizeConvention kConventions[] = {
    ResizeConvention::torch, ResizeConvention::torch_antialias, ResizeConvention::torch_corners,
    ResizeConvention::jax};

Tensor<double> line(const std::vector<double>& numbers) {
  Tensor<double> table(Shape{static_cast<std::int64_t>(numbers.size()), 1});
  std::copy(numbers.begin(), numbers.end(), table.data());
  return table;
}

// torch.nn.functional.interpolate() of 0, 1, 4, 9 in float64.
TEST(ResizeGrid, GivesTheNumbersOfTorch) {
  const Tensor<double> table = line({0, 1, 4, 9});
  const auto numbers = [&](ResizeMethod method, ResizeConvention convention, std::int64_t columns) {
    const Tensor<double> made = resize_grid(
        table,
        {.old_size = {1, 4}, .new_size = {1, columns}, .method = method, .convention = convention});
    return std::vector<double>(made.span().begin(), made.span().end());
  };
  const auto expect = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t n = 0; n < a.size(); ++n) EXPECT_NEAR(a[n], b[n], 1e-12) << n;
  };
  expect(numbers(ResizeMethod::bilinear, ResizeConvention::torch, 2), {0.5, 6.5});
  expect(numbers(ResizeMethod::bilinear, ResizeConvention::torch_corners, 7),
         {0, 0.5, 1, 2.5, 4, 6.5, 9});
  expect(numbers(ResizeMethod::bicubic, ResizeConvention::torch, 2), {0.21875, 6.78125});
  expect(numbers(ResizeMethod::bicubic, ResizeConvention::torch, 7),
         {-0.09921647230320696, 0.15624999999999845, 0.8042091836734683, 2.125, 4.424653790087461,
          7.480776239067055, 9.496082361516041});
  expect(numbers(ResizeMethod::bicubic, ResizeConvention::torch_corners, 7),
         {0, 0.21875, 1, 2.125, 4, 6.78125, 9});
  expect(numbers(ResizeMethod::bilinear, ResizeConvention::torch_antialias, 2),
         {1, 5.7142857142857135});
  for (const auto convention : {ResizeConvention::torch_antialias, ResizeConvention::jax}) {
    expect(numbers(ResizeMethod::bicubic, convention, 2), {0.603305785123967, 6.082644628099174});
    expect(numbers(ResizeMethod::bicubic, convention, 7),
           {-0.07932692307692324, 0.1875106058034961, 0.8625704417378652, 2.25, 4.318487547718596,
            7.604276259969453, 9.396634615384615});
  }
}

TEST(ResizeGrid, KeepsConstantsThePrefixAndTheSameSize) {
  for (const ResizeConvention convention : kConventions) {
    for (const ResizeMethod method : {ResizeMethod::bilinear, ResizeMethod::bicubic}) {
      SCOPED_TRACE(std::string(name_of(convention)) + " " + std::string(name_of(method)));
      Tensor<double> table(Shape{2 + 12, 3});
      for (int n = 0; n < table.count(); ++n) table.data()[n] = n < 6 ? 100.0 + n : 2.5;
      const ResizeGrid options{.old_size = {3, 4},
                               .new_size = {5, 2},
                               .prefix = 2,
                               .method = method,
                               .convention = convention};
      const Tensor<double> made = resize_grid(table, options);
      ASSERT_EQ(made.shape(), (Shape{2 + 10, 3}));
      for (int n = 0; n < 6; ++n) EXPECT_EQ(made.data()[n], 100.0 + n);
      for (std::int64_t n = 6; n < made.count(); ++n) EXPECT_NEAR(made.data()[n], 2.5, 1e-14);
      const Tensor<double> same =
          resize_grid(table, {.old_size = {3, 4}, .new_size = {3, 4}, .prefix = 2});
      EXPECT_TRUE(std::equal(same.span().begin(), same.span().end(), table.span().begin()));
    }
  }
}

TEST(ResizeGrid, RefusesOtherSizes) {
  const Tensor<double> table = line({0, 1, 4, 9});
  const auto error = [&](const ResizeGrid& options) -> std::string {
    try {
      resize_grid(table, options);
    } catch (const Error& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_THAT(error({.old_size = {1, 5}, .new_size = {1, 2}}),
              HasSubstr("[resize_grid.table] must be [5, "));
  EXPECT_THAT(error({.old_size = {2, 2}, .new_size = {0, 2}}), HasSubstr("[resize_grid.new_size]"));
  EXPECT_THAT(error({.old_size = {0, 4}, .new_size = {1, 2}}), HasSubstr("[resize_grid.old_size]"));
  EXPECT_THAT(error({.old_size = {2, 2}, .new_size = {1 << 20, 1 << 20}}),
              HasSubstr("at most 2^31"));
  EXPECT_THAT(error({.old_size = {1, 3}, .new_size = {1, 2}, .prefix = -1}), HasSubstr("prefix"));
}

}  // namespace
}  // namespace sextant::resize_grid_test

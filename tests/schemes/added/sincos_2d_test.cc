// Image positions on grids that are not square: the mistakes of this scheme are transpositions.
#include "sextant/schemes/added/sincos_2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::sincos_2d_test {
namespace {

using ::testing::HasSubstr;

Sincos2d grid(const std::string& form, std::int64_t width, std::int64_t rows,
              std::int64_t columns) {
  return with_form({.width = width,
                    .form = parse_name<Sincos2dForm>(form, "form"),
                    .rows = rows,
                    .columns = columns});
}

// Straight from the formulas of the models' files: angle of (axis, frequency index m).
double angle(const Sincos2d& o, double row, double column, bool of_row, std::int64_t m) {
  const double quarter = static_cast<double>(o.width / 4);
  const double n = o.ladder == Ladder::d ? quarter : quarter - 1;
  double c = *o.first + (of_row ? row : column);
  if (*o.normalized) {
    const double last = *o.first + static_cast<double>((of_row ? *o.rows : *o.columns) - 1);
    c = c / (last + 1e-6) * 2 * std::numbers::pi;
  }
  return c * std::pow(o.base, -static_cast<double>(m) / n);
}

TEST(Sincos2d, GivesTheCataloguesValuesInEveryForm) {
  // Width 8, two rows, three columns, the patch at row 1, column 2; 8 significant digits.
  const struct {
    const char* form;
    std::vector<double> row;
  } cases[] = {
      {"mae",
       {0.90929743, 0.019998667, -0.41614684, 0.99980001, 0.84147098, 0.0099998333, 0.54030231,
        0.99995000}},
      {"moco",
       {0.84147098, 0.0099998333, 0.54030231, 0.99995000, 0.90929743, 0.019998667, -0.41614684,
        0.99980001}},
      {"big_vision",
       {0.90929743, 0.0002, -0.41614684, 0.99999998, 0.84147098, 0.0001, 0.54030231, 1}},
      {"detr",
       {0.90929743, -0.41614684, 0.019998667, 0.99980001, 0.14112001, -0.98999250, 0.029995500,
        0.99955003}},
      {"detr_normalized",
       {-3.1415911e-06, 1, 0.062790488, 0.99802673, -2.0943944e-06, 1, 0.062790499, 0.99802673}},
  };
  for (const auto& [form, row] : cases) {
    const Tensor<double> table = sincos_2d<double>(grid(form, 8, 2, 3));
    ASSERT_EQ(table.shape(), Shape({6, 8}));
    for (std::int64_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(table(5, i), row[static_cast<std::size_t>(i)], 5.1e-9) << form << " " << i;
    }
    // The tiny ones to 8 digits of their own.
    if (row[0] < 0) {
      EXPECT_NEAR(table(5, 0), row[0], 1e-13);
      EXPECT_NEAR(table(5, 4), row[4], 1e-13);
    }
  }
}

TEST(Sincos2d, EveryFormFollowsItsFormulaOnEveryPatch) {
  for (const char* form : {"mae", "moco", "big_vision", "detr", "detr_normalized"}) {
    const Sincos2d options = grid(form, 24, 3, 5);
    const Tensor<double> table = sincos_2d<double>(options);
    for (std::int64_t row = 0; row < 3; ++row) {
      for (std::int64_t column = 0; column < 5; ++column) {
        for (std::int64_t half = 0; half < 2; ++half) {
          for (std::int64_t m = 0; m < 6; ++m) {
            const bool of_row = (half == 0) == (options.axes == Sincos2dAxes::row_first);
            const double a =
                angle(options, static_cast<double>(row), static_cast<double>(column), of_row, m);
            const bool pairs = options.layout == SinusoidalLayout::interleaved;
            const std::int64_t sine = 12 * half + (pairs ? 2 * m : m);
            // Angles below 8, each with some four roundings, and the sine's own.
            EXPECT_NEAR(table(row * 5 + column, sine), std::sin(a), 0x1p-48) << form;
            EXPECT_NEAR(table(row * 5 + column, sine + (pairs ? 1 : 6)), std::cos(a), 0x1p-48);
          }
        }
      }
    }
  }
}

TEST(Sincos2d, AreTwoSinusoidalTables) {
  Sincos2d options = grid("mae", 16, 4, 7);
  Sinusoidal half{.length = 7, .width = 8, .layout = SinusoidalLayout::half_split};
  const Tensor<float> table = sincos_2d<float>(options);
  const Tensor<float> line = sinusoidal<float>(half);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 0; column < 7; ++column) {
      for (std::int64_t i = 0; i < 8; ++i) {
        EXPECT_EQ(table(row * 7 + column, i), line(column, i));
        EXPECT_EQ(table(row * 7 + column, 8 + i), line(row, i));
      }
    }
  }
}

// As positional-encodings' PositionalEncoding2D: a table of 12 columns without the last two.
TEST(Sincos2d, ASecondHalfLosesColumnsWhereTheWidthIsNoMultipleOfFour) {
  for (const char* form : {"mae", "big_vision", "detr", "detr_normalized"}) {
    const Tensor<float> whole = sincos_2d<float>(grid(form, 12, 3, 5));
    const Tensor<float> cut = sincos_2d<float>(grid(form, 10, 3, 5));
    ASSERT_EQ(cut.shape(), Shape({15, 10}));
    for (std::int64_t patch = 0; patch < 15; ++patch) {
      for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(cut(patch, i), whole(patch, i)) << form;
    }
  }
  const Tensor<double> narrow = sincos_2d<double>(grid("mae", 2, 1, 3));
  EXPECT_EQ(narrow(2, 0), std::sin(2.0));
  EXPECT_EQ(narrow(2, 1), std::cos(2.0));
}

TEST(Sincos2d, TransposingTheGridSwapsTheHalves) {
  const Tensor<double> wide = sincos_2d<double>(grid("mae", 8, 2, 3));
  const Tensor<double> tall = sincos_2d<double>(grid("moco", 8, 3, 2));
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t column = 0; column < 3; ++column) {
      for (std::int64_t i = 0; i < 8; ++i) {
        EXPECT_EQ(wide(row * 3 + column, i), tall(column * 2 + row, i));
      }
    }
  }
}

TEST(Sincos2d, PlacesBetweenPatchesAreRealNumbers) {
  Sincos2d options{.width = 8};
  const double between[] = {0.25, -1.5};
  const Tensor<double> table = sincos_2d<double>(options, between);
  EXPECT_DOUBLE_EQ(table(0, 0), std::sin(-1.5));
  EXPECT_DOUBLE_EQ(table(0, 4), std::sin(0.25));
  // diffusers' rescaling is a step: base_size 16 for a grid of 64 columns.
  options.step = 0.25;
  const std::int64_t patch[] = {1, -6};
  const Tensor<double> same = sincos_2d<double>(options, patch);
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(same(0, i), table(0, i));
}

TEST(Sincos2dScheme, OneIdPerPatchCountsRowByRow) {
  const std::int64_t ids[] = {5, 0, 3, -1};
  SchemeRequest request{.width = 8, .positions = ids, .parameters = {{"columns", "3"}}};
  const SchemeTable made = find_scheme("sincos_2d").make(request);
  const auto& table = std::get<Tensor<double>>(made);
  const std::int64_t pairs[] = {1, 2, 0, 0, 1, 0, -1, 2};
  request.positions = pairs;
  request.axes = 2;
  request.parameters.clear();
  const SchemeTable given = find_scheme("sincos_2d").make(request);
  const auto& same = std::get<Tensor<double>>(given);
  ASSERT_EQ(same.shape(), table.shape());
  for (std::int64_t i = 0; i < table.count(); ++i) EXPECT_EQ(table.data()[i], same.data()[i]);
  EXPECT_NEAR(table(0, 0), 0.90929743, 5e-9);
}

TEST(Sincos2dScheme, AutomaticGridsAreTheSmallestSquares) {
  std::vector<std::int64_t> ids(10);
  for (std::size_t i = 0; i < 10; ++i) ids[i] = static_cast<std::int64_t>(i);
  SchemeRequest request;
  request.width = 8;
  request.positions = ids;
  const SchemeTable made = find_scheme("sincos_2d").make(request);
  const auto& table = std::get<Tensor<double>>(made);
  EXPECT_DOUBLE_EQ(table(7, 0), std::sin(3.0));  // ten patches: four columns
  EXPECT_DOUBLE_EQ(table(7, 4), std::sin(1.0));
}

TEST(Sincos2dScheme, FormsAndTheirPartsCanBeNamed) {
  std::vector<std::int64_t> ids = {0, 1, 2, 3, 4, 5};
  SchemeRequest request;
  request.width = 8;
  request.positions = ids;
  const auto made = [&](std::map<std::string, std::string> parameters) {
    request.parameters = std::move(parameters);
    return std::get<Tensor<double>>(find_scheme("sincos_2d").make(request));
  };
  const Tensor<double> form = made({{"form", "detr_normalized"}, {"columns", "3"}});
  const Tensor<double> parts = made({{"axes", "row_first"},
                                     {"layout", "interleaved"},
                                     {"ladder", "d"},
                                     {"first", "1"},
                                     {"step", "1"},
                                     {"normalized", "yes"},
                                     {"rows", "2"},
                                     {"columns", "3"}});
  const Tensor<double> straight = sincos_2d<double>(grid("detr_normalized", 8, 2, 3));
  for (std::int64_t i = 0; i < form.count(); ++i) {
    EXPECT_EQ(form.data()[i], straight.data()[i]);
    EXPECT_EQ(parts.data()[i], straight.data()[i]);
  }
  EXPECT_THAT(error_of([&] { made({{"form", "vit"}}); }), HasSubstr("one of mae, moco"));
  EXPECT_THAT(error_of([&] { made({{"axes", "x"}}); }), HasSubstr("[sincos_2d.axes]"));
  EXPECT_THAT(error_of([&] { made({{"columns", "0"}}); }), HasSubstr("[sincos_2d.columns]"));
  request.axes = 3;
  EXPECT_THAT(error_of([&] { made({}); }), HasSubstr("1 or 2 ids per row, got 3"));
}

TEST(Sincos2d, RefusesWhatIsNoGrid) {
  const auto error = [](const Sincos2d& options) {
    return error_of([&] { sincos_2d<float>(options); });
  };
  EXPECT_THAT(error(grid("mae", 5, 2, 2)),
              HasSubstr("[sincos_2d.width] must be even and 2 .. 2^30, got 5"));
  EXPECT_THAT(error(grid("big_vision", 4, 2, 2)), HasSubstr("6 .. 2^30 for ladder d/2-1, got 4"));
  EXPECT_THAT(error(grid("mae", 8, 0, 2)), HasSubstr("[sincos_2d.rows]"));
  EXPECT_THAT(error(grid("mae", 8, 2, -1)), HasSubstr("[sincos_2d.columns]"));
  EXPECT_THAT(error(grid("mae", 8, 1 << 30, 1 << 30)), HasSubstr("2^40"));
  Sincos2d options = grid("mae", 8, 2, 2);
  options.base = -1;
  EXPECT_THAT(error(options), HasSubstr("[sincos_2d.base]"));
  options = grid("mae", 8, 2, 2);
  options.first = NAN;
  EXPECT_THAT(error(options), HasSubstr("[sincos_2d.first]"));
  options = grid("mae", 8, 2, 2);
  options.step = INFINITY;
  EXPECT_THAT(error(options), HasSubstr("[sincos_2d.step]"));
  EXPECT_THAT(error({.width = 8, .rows = 2}), HasSubstr("[sincos_2d.columns] must be given"));
  options = {.width = 8, .form = Sincos2dForm::detr_normalized, .columns = 2};
  const std::int64_t patch[] = {0, 0};
  EXPECT_THAT(error_of([&] { sincos_2d<float>(options, patch); }), HasSubstr("[sincos_2d.rows]"));
  const std::int64_t three[] = {0, 0, 0};
  EXPECT_THAT(error_of([&] { sincos_2d<float>(grid("mae", 8, 1, 1), three); }), HasSubstr("pairs"));
  const double nan[] = {0, NAN};
  EXPECT_THAT(error_of([&] { sincos_2d<float>(grid("mae", 8, 1, 1), nan); }),
              HasSubstr("[sincos_2d.positions]"));
}

}  // namespace
}  // namespace sextant::sincos_2d_test

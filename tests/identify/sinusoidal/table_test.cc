// Tables made from the formula by an independent reference, cut, rounded and damaged: who made them
// must come out.
#include "schemes/stored_types.h"
#include "sextant/identify/identify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <random>
#include <string>

#include "reference/plain_sinusoidal.h"
#include "sextant/core/dtype.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "support/error_of.h"

namespace sextant {

void PrintTo(const Sinusoidal& o, std::ostream* out) {
  *out << name_of(o.layout) << ", ladder " << name_of(o.ladder) << ", " << name_of(o.exponent)
       << ", base " << shortest(o.base) << ", width " << o.width << ", first " << o.first
       << ", length " << o.length << ", scale " << shortest(o.scale) << ", "
       << name_of(o.precision);
}

namespace {

using ::testing::HasSubstr;

constexpr Type kTypes[] = {kFloat64, kFloat32, kFloat16, kBfloat16};

Sinusoidal family(std::int64_t length, std::int64_t width) {
  Sinusoidal options;
  options.length = length;
  options.width = width;
  return options;
}

Tensor<double> stored(const Sinusoidal& options, const Type& type) {
  Tensor<double> table = reference::plain_sinusoidal_table(options);
  for (double& x : table.span()) x = type.round(x);
  return table;
}

Identification identify(const Tensor<double>& table, const Type& type) {
  return identify_table(table.view(), type.unit_roundoff);
}

// What max_deviation may be: both sides rounded to the same type from values that may lie on two
// sides of a rounding boundary, one unit in the last place; and the angle of the reference is good
// to some 2^-63 of itself.
double one_unit(const Sinusoidal& options, const Type& type) {
  const double angle =
      std::abs(static_cast<double>(options.first)) + static_cast<double>(options.length);
  return (2 * type.unit_roundoff + angle * 0x1p-61) * std::abs(options.scale);
}

void expect_found(const Sinusoidal& made, const Type& type) {
  SCOPED_TRACE(::testing::PrintToString(made) + ", " + type.name);
  const Identification found = identify(stored(made, type), type);
  ASSERT_EQ(found.scheme, "sinusoidal") << found.explanation;
  EXPECT_EQ(name_of(found.options.layout), name_of(made.layout)) << found.explanation;
  EXPECT_EQ(name_of(found.options.ladder), name_of(made.ladder)) << found.explanation;
  EXPECT_EQ(name_of(found.options.exponent), name_of(made.exponent)) << found.explanation;
  EXPECT_EQ(found.options.base, made.base) << found.explanation;
  EXPECT_EQ(found.options.first, made.first) << found.explanation;
  EXPECT_EQ(found.options.length, made.length);
  EXPECT_EQ(found.options.width, made.width);
  EXPECT_NEAR(found.options.scale, made.scale, 4 * type.unit_roundoff * std::abs(made.scale));
  EXPECT_EQ(name_of(found.options.precision), name_of(made.precision)) << found.explanation;
  EXPECT_LE(found.max_deviation, one_unit(made, type)) << found.explanation;
  EXPECT_GT(found.confidence, 0.9) << found.explanation;
  EXPECT_EQ(found.mistake, made.exponent == Exponent::standard  ? ""
                           : made.exponent == Exponent::doubled ? "doubled_exponent"
                                                                : "doubled_exponent_unpaired");
}

constexpr SinusoidalLayout kLayouts[] = {SinusoidalLayout::interleaved,
                                         SinusoidalLayout::half_split, SinusoidalLayout::cos_first};
constexpr Ladder kLadders[] = {Ladder::d, Ladder::d_half_minus_1};
constexpr Exponent kExponents[] = {Exponent::standard, Exponent::doubled,
                                   Exponent::doubled_unpaired};

TEST(Identify, EveryMemberOfTheFamilyInEveryType) {
  for (const SinusoidalLayout layout : kLayouts) {
    for (const Ladder ladder : kLadders) {
      for (const Exponent exponent : kExponents) {
        for (const Type& type : kTypes) {
          Sinusoidal made = family(60, 128);
          made.layout = layout;
          made.ladder = ladder;
          made.exponent = exponent;
          expect_found(made, type);
          made.first = 1000;
          expect_found(made, type);
        }
      }
    }
  }
}

TEST(Identify, OtherBases) {
  // Not 1e8 and not squares of well-known bases above 1e9: those read as doubled exponents, see
  // below.
  for (const double base : {1.5, 2.0, 10.0, 100.0, 12345.0, 160000.0, 500000.0, 1e6, 8e6, 1e9}) {
    for (const Type& type : {kFloat64, kFloat32}) {
      Sinusoidal made = family(100, 64);
      made.base = base;
      expect_found(made, type);
      made.layout = SinusoidalLayout::half_split;
      made.first = 17;
      expect_found(made, type);
    }
  }
}

TEST(Identify, BasesBelowOneWhoseFrequenciesRise) {
  for (const double base : {0.5, 0.2}) {
    Sinusoidal made = family(50, 64);
    made.base = base;
    expect_found(made, kFloat64);
    made.first = 1000;
    expect_found(made, kFloat32);
  }
}

TEST(Identify, PositionsAnywhereUpToTwoToThe31) {
  for (const std::int64_t first :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{17}, std::int64_t{1000},
        std::int64_t{100000}, std::int64_t{123456789}, (std::int64_t{1} << 31) - 64,
        std::int64_t{-5}, std::int64_t{-100000}}) {
    for (const Type& type : {kFloat64, kFloat32, kFloat16}) {
      Sinusoidal made = family(64, 128);
      made.first = first;
      expect_found(made, type);
    }
  }
  Sinusoidal made = family(64, 128);
  made.first = (std::int64_t{1} << 31) - 64;
  expect_found(made, kBfloat16);
  made.exponent = Exponent::doubled_unpaired;
  expect_found(made, kFloat32);
  made.exponent = Exponent::standard;
  made.base = 12345.678;
  expect_found(made, kFloat32);
}

TEST(Identify, NarrowTables) {
  for (const Type& type : {kFloat64, kFloat32}) {
    for (const std::int64_t width : {4, 6, 8, 16}) {
      for (const std::int64_t first : {0, 3, 1000}) {
        Sinusoidal made = family(40, width);
        made.first = first;
        expect_found(made, type);
      }
    }
  }
  // The document's 4 x 4 table.
  Sinusoidal made = family(4, 4);
  made.base = 100;
  expect_found(made, kFloat64);
}

TEST(Identify, WithTwoColumnsTheBaseDoesNotShow) {
  Sinusoidal made = family(30, 2);
  made.base = 77;
  made.first = 5;
  const Identification found = identify(stored(made, kFloat64), kFloat64);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.options.first, 5);
  EXPECT_EQ(found.options.base, 10000);
  EXPECT_THAT(found.explanation, HasSubstr("does not determine the base"));
}

TEST(Identify, OddWidthsUnderEveryRule) {
  for (const std::int64_t width : {7, 63}) {
    for (const SinusoidalLayout layout : kLayouts) {
      for (const Ladder ladder : kLadders) {
        for (const OddWidth rule :
             {OddWidth::extra_sine, OddWidth::zero_column, OddWidth::round_up}) {
          Sinusoidal made = family(50, width);
          made.layout = layout;
          made.ladder = ladder;
          made.odd_width = rule;
          made.first = 2;
          expect_found(made, kFloat32);
          const Identification found = identify(stored(made, kFloat32), kFloat32);
          const OddWidth usual = ladder == Ladder::d ? OddWidth::extra_sine : OddWidth::zero_column;
          EXPECT_EQ(name_of(found.options.odd_width.value_or(usual)), name_of(rule));
        }
      }
    }
  }
}

TEST(Identify, ScalesAndTheirSigns) {
  for (const double scale :
       {std::sqrt(2.0 / 128), 1 / std::sqrt(128.0), -1.0, 0.123, 2.5, 1e-3, 22.0}) {
    for (const Type& type : {kFloat64, kFloat32}) {
      Sinusoidal made = family(40, 128);
      made.scale = scale;
      made.first = 9;
      expect_found(made, type);
    }
  }
}

TEST(Identify, AFewRowsAreEnough) {
  for (const Exponent exponent : kExponents) {
    for (const Type& type : {kFloat64, kFloat32, kFloat16}) {
      Sinusoidal made = family(exponent == Exponent::doubled_unpaired ? 3 : 2, 128);
      made.exponent = exponent;
      made.first = 1234;
      expect_found(made, type);
    }
  }
}

TEST(Identify, OneRowOfAWideTableIsEnough) {
  for (const std::int64_t first : {1, 30, 100000}) {
    Sinusoidal made = family(1, 512);
    made.first = first;
    expect_found(made, kFloat64);
    expect_found(made, kFloat32);
  }
}

TEST(Identify, RowZeroAloneIsTheSameForEveryBase) {
  const Identification found = identify(stored(family(1, 64), kFloat32), kFloat32);
  EXPECT_EQ(found.scheme, "unknown");
  EXPECT_EQ(found.confidence, 0);
  EXPECT_THAT(found.explanation, HasSubstr("same for every base"));
}

TEST(Identify, TheFirstColumnsOfAWiderTable) {
  const Tensor<double> whole = stored(family(30, 512), kFloat32);
  const Identification found =
      identify_table(whole.view().narrow(1, 0, 64), kFloat32.unit_roundoff);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.options.width, 512);
  EXPECT_EQ(found.options.base, 10000);
  EXPECT_EQ(found.max_deviation, 0);
  EXPECT_THAT(found.explanation, HasSubstr("first 64 of 512 columns"));
}

TEST(Identify, ColumnsFromTheMiddleAreUnknown) {
  const Tensor<double> whole = stored(family(30, 512), kFloat32);
  EXPECT_EQ(identify_table(whole.view().narrow(1, 100, 64), kFloat32.unit_roundoff).scheme,
            "unknown");
}

TEST(Identify, StridedViewsAreTablesToo) {
  const Tensor<double> whole = stored(family(30, 64), kFloat64);
  const std::int64_t strides[] = {
      2 * 64, 1};  // every second row is no table of this family: frequency 2 first
  EXPECT_EQ(identify_table(View<const double>(whole.data(), {15, 64}, strides), 0x1p-53).scheme,
            "unknown");
  Tensor<double> padded({30, 70});
  for (std::int64_t r = 0; r < 30; ++r) {
    for (std::int64_t c = 0; c < 64; ++c) padded(r, c) = whole(r, c);
  }
  EXPECT_EQ(identify_table(padded.view().narrow(1, 0, 64).narrow(0, 4, 20), 0x1p-53).options.first,
            4);
}

TEST(Identify, TablesOfFloat32Frameworks) {
  for (const std::int64_t first : {0, 5000, 100000}) {
    Sinusoidal made = family(128, 256);
    made.first = first;
    made.precision = Precision::framework;
    expect_found(made, kFloat32);
  }
}

TEST(Identify, FrequenciesThroughAFloat32Exponential) {
  // div_term = exp(2k * (-log(10000) / width)), all in float32: frequencies some units off, angles
  // drift with the position.
  const std::int64_t width = 128, length = 2000;
  Tensor<double> table({length, width});
  for (std::int64_t k = 0; k < width / 2; ++k) {
    const float step = -std::log(10000.0F) / static_cast<float>(width);
    const float theta = std::exp(static_cast<float>(2 * k) * step);
    for (std::int64_t p = 0; p < length; ++p) {
      table(p, 2 * k) = static_cast<double>(std::sin(static_cast<float>(p) * theta));
      table(p, 2 * k + 1) = static_cast<double>(std::cos(static_cast<float>(p) * theta));
    }
  }
  const Identification found = identify(table, kFloat32);
  ASSERT_EQ(found.scheme, "sinusoidal") << found.explanation;
  EXPECT_EQ(found.options.base, 10000);
  EXPECT_EQ(found.options.first, 0);
  EXPECT_EQ(name_of(found.options.precision), "framework");
  // Frequencies within 16 units of 2^-24, angles up to 2000 radians.
  EXPECT_LE(found.max_deviation, 2000 * 16 * 0x1p-24);
  EXPECT_GT(found.max_deviation, 0);
}

TEST(Identify, Float32ValuesInAFloat64File) {
  const Identification found = identify(stored(family(60, 64), kFloat32), kFloat64);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.options.base, 10000);
  EXPECT_LE(found.max_deviation, 0x1p-25);
  EXPECT_GT(found.max_deviation, 0);
  EXPECT_THAT(found.explanation, HasSubstr("rounded to a shorter type"));
}

TEST(Identify, AmbiguousNumbersAreReadAsTheDocumentationSays) {
  // base 1e8 is base 10000 with the mistake; base 10000 stays itself, not base 100 with the
  // mistake.
  Sinusoidal made = family(60, 128);
  made.base = 1e8;
  const Identification squared = identify(stored(made, kFloat64), kFloat64);
  EXPECT_EQ(squared.mistake, "doubled_exponent");
  EXPECT_EQ(squared.options.base, 10000);
  EXPECT_THAT(squared.explanation, HasSubstr("base 100000000, ladder d, exponent standard"));
  made.base = 10000;
  const Identification plain = identify(stored(made, kFloat64), kFloat64);
  EXPECT_EQ(plain.mistake, "");
  EXPECT_THAT(plain.explanation, HasSubstr("base 100, ladder d, exponent doubled"));
}

TEST(Identify, MistakesAreExplained) {
  Sinusoidal made = family(60, 128);
  made.exponent = Exponent::doubled;
  EXPECT_THAT(identify(stored(made, kFloat64), kFloat64).explanation, HasSubstr("doubled again"));
  made.exponent = Exponent::doubled_unpaired;
  EXPECT_THAT(identify(stored(made, kFloat64), kFloat64).explanation,
              HasSubstr("sine and cosine no longer share a frequency"));
}

TEST(Identify, TheFirstRowAloneIsThatOfEveryBase) {
  const auto expect_undetermined = [](std::int64_t width, const Type& type) {
    SCOPED_TRACE(std::to_string(width) + type.name);
    const Identification found = identify(stored(family(1, width), type), type);
    EXPECT_EQ(found.scheme, "unknown");
    EXPECT_EQ(found.max_deviation, 0);
    EXPECT_EQ(found.explanation,
              "Looks like a sinusoidal table at position 0, but 1 row is the same for every base: "
              "give rows further on.");
  };
  expect_undetermined(4, kFloat64);
  expect_undetermined(64, kFloat32);
  expect_undetermined(2, kFloat16);  // 0, 1: too few digits to fit anything to
}

TEST(Identify, AnyNumberOfThreadsFindsTheSame) {
  const Tensor<double> table = stored(family(300, 64), kFloat32);
  const Identification alone = identify_table(table, 0x1p-24, 1);
  for (const int threads : {0, 3}) {
    const Identification found = identify_table(table, 0x1p-24, threads);
    EXPECT_EQ(found.explanation, alone.explanation);
    EXPECT_EQ(found.max_deviation, alone.max_deviation);
    EXPECT_EQ(found.options.threads, 0);  // of the caller, not of the table
  }
}

TEST(Identify, NoiseAndConstantsAreUnknown) {
  std::mt19937 generator(7);
  std::normal_distribution<double> learned(0, 0.02);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::int64_t width : {2, 3, 8, 64, 512}) {
    for (const std::int64_t length : {1, 2, 10, 50}) {
      for (const Type& type : kTypes) {
        // Few values of 16 bits fit millions of positions, a second each to rule out: one such case
        // is enough.
        if (type.unit_roundoff > 0x1p-24 && length < 10 && width != 3) continue;
        SCOPED_TRACE(std::to_string(length) + " x " + std::to_string(width) + " " + type.name);
        Tensor<double> table({length, width});
        const auto expect_unknown = [&](const char* what) {
          const Identification found = identify(table, type);
          EXPECT_EQ(found.scheme, "unknown") << what << ": " << found.explanation;
          EXPECT_EQ(found.confidence, 0) << what;
          EXPECT_FALSE(found.explanation.empty());
        };
        expect_unknown("zeros");
        for (double& x : table.span()) x = type.round(uniform(generator));
        expect_unknown("uniform");
        for (double& x : table.span()) x = type.round(learned(generator));
        expect_unknown("learned");
        for (double& x : table.span()) x = type.round(0.7);
        expect_unknown("constant");
      }
    }
  }
}

TEST(Identify, OneDamagedValueShows) {
  Tensor<double> table = stored(family(60, 64), kFloat32);
  table(33, 7) += 0.5;
  const Identification found = identify(table, kFloat32);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_LT(found.confidence, 0.6);
  EXPECT_NEAR(found.max_deviation, 0.5, 1e-6);
  EXPECT_THAT(found.explanation, HasSubstr("1 of 3840 values"));
  EXPECT_THAT(found.explanation, HasSubstr("row 33, column 7"));
}

TEST(Identify, OneHugeDamagedValueDoesNotHide) {
  for (const double huge : {1e100, 1e160, -1.7e308}) {
    for (const std::int64_t row : {1, 33, 59}) {
      Tensor<double> table = stored(family(60, 64), kFloat64);
      table(row, 7) = huge;
      const Identification found = identify(table, kFloat64);
      EXPECT_EQ(found.scheme, "sinusoidal") << huge << " in row " << row;
      EXPECT_EQ(found.options.base, 10000);
    }
  }
}

TEST(Identify, HugeAndTinyNumbersAreUnknown) {
  const double most = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  for (const Shape& shape : {Shape{1, 8}, Shape{4, 4}, Shape{16, 8}, Shape{40, 33}}) {
    const auto fill = [&](const std::function<double(std::int64_t)>& value) {
      Tensor<double> table(shape);
      for (std::int64_t i = 0; i < table.count(); ++i) table.data()[i] = value(i);
      return table;
    };
    const double few[] = {most, least, -most, 0, 1};
    for (const Tensor<double>& table :
         {fill([&](std::int64_t) { return most; }),
          fill([&](std::int64_t i) { return i % 2 == 0 ? most : -most; }),
          fill([&](std::int64_t i) { return few[i % 5]; }),
          fill([&](std::int64_t i) { return std::cos(static_cast<double>(i)) * 1e160; }),
          fill([&](std::int64_t i) { return std::pow(10.0, static_cast<double>(i % 600) - 300); }),
          fill([&](std::int64_t i) { return static_cast<double>(i % 7) * least; })}) {
      const Identification found = identify_table(table, 0x1p-53);
      EXPECT_EQ(found.scheme, "unknown") << table(0, 0) << " " << table(0, 1);
      EXPECT_FALSE(found.explanation.empty());
      EXPECT_FALSE(std::isnan(found.max_deviation));
    }
  }
}

TEST(Identify, AnEmptyPaddingRowDoesNotHide) {
  Sinusoidal made = family(60, 64);
  made.layout = SinusoidalLayout::half_split;
  made.ladder = Ladder::d_half_minus_1;
  Tensor<double> table = stored(made, kFloat32);
  for (std::int64_t c = 0; c < 64; ++c) table(1, c) = 0;  // fairseq's padding_idx
  const Identification found = identify(table, kFloat32);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(name_of(found.options.ladder), "d/2-1");
  EXPECT_EQ(found.max_deviation, 0);
  EXPECT_THAT(found.explanation, HasSubstr("1 row is all zeros"));
}

TEST(Identify, RefusesWhatIsNoTable) {
  const auto message = [](const Tensor<double>& table, double unit) {
    return error_of([&] { identify_table(table.view(), unit); });
  };
  EXPECT_THAT(message(Tensor<double>({4, 1}), 0x1p-53), HasSubstr("[4, 1]"));
  EXPECT_THAT(message(Tensor<double>({0, 4}), 0x1p-53), HasSubstr("[0, 4]"));
  EXPECT_THAT(message(Tensor<double>({4}), 0x1p-53), HasSubstr("[4]"));
  EXPECT_EQ(message(Tensor<double>({4, 4}), 0.5),
            "[identify_table.unit_roundoff] must be above 0 and at most 2^-6 (float64 has 2^-53, "
            "bfloat16 2^-8), got 0.5");
  EXPECT_THAT(message(Tensor<double>({4, 4}), 0), HasSubstr("[identify_table.unit_roundoff]"));
  EXPECT_THROW(identify_table(View<const double>(nullptr, Shape{4, 4}), 0x1p-53), Error);
  EXPECT_THROW(identify_table(stored(family(4, 4), kFloat64), 0x1p-53, 1025), Error);
  Tensor<double> table = stored(family(4, 4), kFloat64);
  table(2, 1) = std::nan("");
  EXPECT_THAT(message(table, 0x1p-53), HasSubstr("row 2, column 1"));
}

}  // namespace
}  // namespace sextant

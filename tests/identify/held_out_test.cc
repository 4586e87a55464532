// Tables made in odd ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "identify/identified.h"
#include "sextant/schemes/distance/alibi.h"
#include "sextant/schemes/distance/t5.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

Tensor<double> rounded(Tensor<double> table, const Type& type) {
  for (double& x : table.span()) x = type.round(x);
  return table;
}

void expect_same(const Sinusoidal& made, const Type& type) {
  const Identification found = identified(rounded(sinusoidal<double>(made), type), type);
  SCOPED_TRACE(std::string(type.name) + " width " + std::to_string(made.width) + " base " +
               shortest(made.base) + " first " + std::to_string(made.first) + ": " +
               found.explanation);
  ASSERT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(name_of(found.options.layout), name_of(made.layout));
  EXPECT_EQ(name_of(found.options.ladder), name_of(made.ladder));
  EXPECT_EQ(found.options.base, made.base);
  EXPECT_EQ(found.options.first, made.first);
  EXPECT_NEAR(found.options.scale, made.scale, 8 * type.unit_roundoff * std::fabs(made.scale));
  // Both sides are rounded, maybe on two sides of a boundary.
  EXPECT_LE(found.max_deviation, 4 * type.unit_roundoff * std::fabs(made.scale));
}

TEST(HeldOut, SinusoidalTablesOfOddSizesBasesAndScales) {
  for (const Type& type : {kFloat64, kFloat32}) {
    expect_same({.length = 37, .width = 33, .base = 5e6, .first = 12345}, type);
    expect_same({.length = 19, .width = 127, .base = 31415, .first = 99}, type);
    expect_same({.length = 500, .width = 10, .base = 20000, .first = -77}, type);
    expect_same({.length = 64,
                 .width = 300,
                 .base = 1e7,
                 .first = 4096,
                 .layout = SinusoidalLayout::half_split,
                 .scale = 17},
                type);
    expect_same({.length = 91,
                 .width = 50,
                 .base = 123,
                 .first = 3,
                 .layout = SinusoidalLayout::cos_first,
                 .ladder = Ladder::d_half_minus_1,
                 .scale = -0.375},
                type);
  }
  for (const Type& type : {kFloat16, kBfloat16}) {
    expect_same({.length = 300, .width = 96, .first = 700}, type);
    expect_same({.length = 300,
                 .width = 96,
                 .base = 500000,
                 .first = 5,
                 .layout = SinusoidalLayout::half_split},
                type);
  }
}

TEST(HeldOut, OneOrTwoRowsOfAnyBase) {
  for (const double base : {77.0, 500.0, 20000.0}) {
    for (const std::int64_t first : {7, 30}) {
      expect_same({.length = 1, .width = 512, .base = base, .first = first}, kFloat32);
    }
  }
  expect_same({.length = 2, .width = 128, .base = 12345.678, .first = 1000000}, kFloat32);
}

TEST(HeldOut, SinusoidalTablesOfBasesThatAreNotRound) {
  for (const double base : {9876.54321, std::exp(10.0), 40889.942067}) {
    for (const std::int64_t first : {0, 321, 65000}) {
      const Sinusoidal made{.length = 128, .width = 64, .base = base, .first = first};
      const Identification found = identified(sinusoidal<double>(made));
      ASSERT_EQ(found.scheme, "sinusoidal") << base << " " << first << " " << found.explanation;
      EXPECT_EQ(found.options.first, first);
      EXPECT_NEAR(found.options.base, base, 1e-9 * base) << first;
    }
  }
}

struct Made {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  std::int64_t pairs = 32, rows = 600, first = 0;
};

enum class Holds { cosines, sines, both };
struct Rounding {
  const Type* positions = nullptr;
  const Type* frequencies = nullptr;
  const Type* values = &kFloat32;
};

Tensor<double> cache(const Made& made, Holds holds, const Rounding& rounding = {}) {
  SchemeRequest request;
  request.head_dim = 2 * made.pairs;
  request.parameters = made.parameters;
  const RotationFrequencies f = find_scheme(made.scheme).frequencies(request);
  const std::int64_t both = holds == Holds::both ? 2 : 1;
  Tensor<double> table({made.rows, both * made.pairs});
  const auto round = [](const Type* type, double x) { return type ? type->round(x) : x; };
  for (std::int64_t n = 0; n < made.rows; ++n) {
    for (std::int64_t k = 0; k < made.pairs; ++k) {
      const double angle = round(rounding.positions, static_cast<double>(made.first + n)) *
                           round(rounding.frequencies, f.inv_freq[static_cast<std::size_t>(k)]);
      const double c = f.attention_factor * std::cos(angle);
      const double s = f.attention_factor * std::sin(angle);
      table(n, both * k) = round(rounding.values, holds == Holds::sines ? s : c);
      if (both == 2) table(n, 2 * k + 1) = round(rounding.values, s);
    }
  }
  return table;
}

void expect_same(const Made& made, Holds holds, const Type& type) {
  const Identification found = identified(cache(made, holds, {.values = &type}), type);
  SCOPED_TRACE(std::string(type.name) + " " + made.scheme + ": " + found.explanation);
  ASSERT_EQ(found.scheme, made.scheme);
  EXPECT_EQ(found.first, made.first);
  EXPECT_EQ(found.head_dim, 2 * made.pairs);
  for (const auto& [name, value] : made.parameters) {
    EXPECT_EQ(found.parameters.contains(name) ? found.parameters.at(name) : "absent", value)
        << name;
  }
  EXPECT_LE(found.max_deviation, 4 * type.unit_roundoff * found.attention_factor);
}

TEST(HeldOut, CachesOfRotationsOfOddBasesAndStarts) {
  for (const Holds holds : {Holds::cosines, Holds::sines}) {
    for (const Type& type : {kFloat64, kFloat32}) {
      expect_same({"rotary", {{"base", "1000000000"}}, 64, 1000}, holds, type);
      expect_same({"rotary", {{"base", "59874"}}, 20, 333, 4321}, holds, type);
      expect_same({"rotary_linear", {{"base", "1000000"}, {"factor", "3"}}, 48, 700}, holds, type);
      expect_same({"rotary_linear", {{"factor", "2.5"}}, 16, 600, 250}, holds, type);
      expect_same({"rotary_proportional", {{"base", "1000000"}, {"proportion", "0.5"}}, 40, 3000},
                  holds, type);
    }
    expect_same({"rotary", {{"base", "77777"}}, 32, 2000}, Holds::cosines, kFloat32);
    expect_same({"rotary", {}, 64, 900, 2048}, holds, kFloat16);
    expect_same({"rotary", {{"base", "500000"}}, 64, 900}, holds, kBfloat16);
  }
}

TEST(HeldOut, RotationsAMillionPositionsOn) {
  for (const Holds holds : {Holds::cosines, Holds::sines}) {
    expect_same({"rotary", {}, 24, 64, 1000000}, holds, kFloat32);
    expect_same({"rotary", {{"base", "500000"}}, 24, 200, 1000000}, holds, kFloat32);
  }
}

TEST(HeldOut, ScaledRotationsThatStartLater) {
  const std::map<std::string, std::string> llama = {{"base", "500000"},
                                                    {"factor", "8"},
                                                    {"low_freq_factor", "1"},
                                                    {"high_freq_factor", "4"},
                                                    {"original_length", "8192"}};
  const std::map<std::string, std::string> yarn = {
      {"base", "1000000"}, {"factor", "2"}, {"original_length", "16384"}};
  for (const Type& type : {kFloat64, kFloat32}) {
    expect_same({"rotary_llama3", llama, 64, 2048, 100}, Holds::cosines, type);
    expect_same({"rotary_llama3", llama, 64, 2048, 0}, Holds::both, type);
    expect_same({"rotary_yarn", yarn, 48, 3000, 0}, Holds::sines, type);
    expect_same({"rotary_yarn", yarn, 48, 3000, 1500}, Holds::both, type);
  }
}

TEST(HeldOut, RoundedPositionsFrequenciesAndValues) {
  const Made linear{"rotary_linear", {{"factor", "4"}}, 24, 900};
  const auto mistake = [&](const Made& made, const Rounding& rounding) {
    return identified(cache(made, Holds::cosines, rounding), kFloat32).mistake;
  };
  EXPECT_EQ(mistake(linear, {.positions = &kBfloat16}), "positions_rounded_to_bfloat16");
  EXPECT_EQ(mistake(linear, {.frequencies = &kFloat16}), "frequencies_rounded_to_float16");
  EXPECT_EQ(mistake({"rotary", {{"base", "1000000"}}, 40, 800}, {.frequencies = &kBfloat16}),
            "frequencies_rounded_to_bfloat16");
  EXPECT_EQ(mistake({"rotary", {{"base", "250000"}}, 40, 3000}, {.positions = &kFloat16}),
            "positions_rounded_to_float16");
  EXPECT_EQ(mistake(linear, {.values = &kFloat16}), "values_rounded_to_float16");
  EXPECT_EQ(mistake({"rotary", {}, 40, 700, 50}, {.values = &kBfloat16}),
            "values_rounded_to_bfloat16");
}

TEST(HeldOut, BiasesOfWindowsCachesAndOneHead) {
  const double hidden = -std::numeric_limits<double>::infinity();
  const std::int64_t heads = 10, queries = 12, keys = 40;
  const std::vector<double> slopes = alibi_slopes(heads);
  Tensor<double> cached({heads, queries, keys}), window({heads, keys, keys}), one({20, 20});
  for (std::int64_t h = 0; h < heads; ++h) {
    const double slope = slopes[static_cast<std::size_t>(h)];
    for (std::int64_t k = 0; k < keys; ++k) {
      for (std::int64_t q = 0; q < queries; ++q) {
        const std::int64_t past = q + keys - queries - k;
        cached(h, q, k) = past < 0 ? hidden : -kBfloat16.round(slope * static_cast<double>(past));
      }
      for (std::int64_t q = 0; q < keys; ++q) {
        window(h, q, k) =
            std::abs(q - k) > 7 ? hidden : -slope * std::fabs(static_cast<double>(q - k));
      }
    }
  }
  for (std::int64_t i = 0; i < 400; ++i) {
    one.data()[i] = -0.25 * std::fabs(static_cast<double>(i / 20 - i % 20));
  }
  const Identification behind = identified(cached, kBfloat16);
  EXPECT_EQ(behind.scheme, "alibi") << behind.explanation;
  EXPECT_EQ(behind.form, "bias [heads, query, key], the future hidden");
  const Identification symmetric = identified(window);
  EXPECT_EQ(symmetric.scheme, "alibi") << symmetric.explanation;
  EXPECT_EQ(symmetric.form, "bias [heads, query, key], symmetric");
  EXPECT_FALSE(symmetric.parameters.contains("direction"));
  EXPECT_EQ(identified(one).scheme, "alibi");
}

TEST(HeldOut, BucketsOfOddSettings) {
  for (const T5& settings : {T5{48, 300, true}, T5{24, 100, false}, T5{6, 20, true}}) {
    const T5Buckets bucket(settings);
    Tensor<double> map({10, 900});
    for (std::int64_t i = 0; i < 9000; ++i) {
      map.data()[i] = static_cast<double>(bucket(i % 900 - i / 900 - 450));
    }
    const Identification found = identified(map);
    // Row 0 starts in the middle of the distances: no key is at distance 0 of its own query.
    EXPECT_EQ(found.scheme, "unknown") << found.explanation;
    Tensor<double> square({350, 350});
    for (std::int64_t i = 0; i < 350 * 350; ++i) {
      square.data()[i] = static_cast<double>(bucket(i % 350 - i / 350));
    }
    const Identification whole = identified(square);
    ASSERT_EQ(whole.scheme, "t5") << settings.num_buckets;
    EXPECT_EQ(number(whole, "num_buckets"), static_cast<double>(settings.num_buckets));
    EXPECT_EQ(number(whole, "max_distance"), static_cast<double>(settings.max_distance));
  }
}

TEST(HeldOut, NoiseAndNearMissesAreUnknown) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (const Shape& shape :
       {Shape{7}, Shape{300, 24}, Shape{40, 12, 2}, Shape{2, 30, 16}, Shape{8, 20, 20}}) {
    Tensor<double> noise(shape);
    for (double& x : noise.span()) x = kFloat32.round(normal(random));
    EXPECT_EQ(identified(noise, kFloat32).scheme, "unknown") << shape.to_string();
  }
  // One column in ten is another function: too many for damage, too few for another scheme.
  Tensor<double> table = sinusoidal<double>({.length = 80, .width = 40});
  for (std::int64_t n = 0; n < 80; ++n) {
    for (std::int64_t k = 0; k < 40; k += 10) table(n, k) = normal(random);
  }
  EXPECT_EQ(identified(table).scheme, "unknown");
  Tensor<double> squares = sinusoidal<double>({.length = 80, .width = 40});
  for (double& x : squares.span()) x = x * std::fabs(x);
  EXPECT_EQ(identified(squares).scheme, "unknown");
}

}  // namespace
}  // namespace sextant

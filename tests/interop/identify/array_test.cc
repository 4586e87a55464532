// Caches of rotations, slopes, biases and buckets: made from the formulas as frameworks make them,
// cut, rounded and transposed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "schemes/stored_types.h"
#include "sextant/core/dtype.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/interop/identify.h"
#include "sextant/schemes/distance/alibi.h"
#include "sextant/schemes/distance/t5.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// The frequencies of the papers, in float64.
std::vector<double> plain(double base, std::int64_t pairs) {
  std::vector<double> result;
  for (std::int64_t k = 0; k < pairs; ++k) {
    result.push_back(std::pow(base, -static_cast<double>(k) / static_cast<double>(pairs)));
  }
  return result;
}

std::vector<double> llama3(double base, std::int64_t pairs, double factor, double low, double high,
                           double length) {
  std::vector<double> theta = plain(base, pairs);
  for (double& t : theta) {
    const double wavelength = 2 * std::numbers::pi / t;
    if (wavelength < length / high) continue;
    if (wavelength > length / low) {
      t /= factor;
    } else {
      const double u = (length / wavelength - low) / (high - low);
      t = (1 - u) * t / factor + u * t;
    }
  }
  return theta;
}

std::vector<double> yarn(double base, std::int64_t pairs, double factor, double length,
                         bool truncate) {
  std::vector<double> theta = plain(base, pairs);
  const auto corner = [&](double turns) {
    return static_cast<double>(pairs) * std::log(length / (2 * std::numbers::pi * turns)) /
           std::log(base);
  };
  double low = corner(32), high = corner(1);
  if (truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(2 * pairs - 1));
  for (std::int64_t k = 0; k < pairs; ++k) {
    const double ramp = std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    theta[k] = theta[k] / factor * ramp + theta[k] * (1 - ramp);
  }
  return theta;
}

enum class Holds { cosines, sines, concatenated, repeated, side_by_side, complex };

struct Cache {
  std::vector<double> theta;
  std::int64_t rows = 200;
  std::int64_t first = 0;
  double amplitude = 1;
  bool float32 = false;  // angles as frameworks compute them
};

Tensor<double> made(const Cache& cache, Holds holds, const Type& type) {
  const auto pairs = static_cast<std::int64_t>(cache.theta.size());
  const bool wide = holds != Holds::cosines && holds != Holds::sines;
  Tensor<double> table({cache.rows, wide ? 2 * pairs : pairs});
  for (std::int64_t n = 0; n < cache.rows; ++n) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const double p = static_cast<double>(cache.first + n);
      const double theta = cache.theta[k];
      double c = 0, s = 0;
      if (cache.float32) {
        const float angle = static_cast<float>(p) * static_cast<float>(theta);
        c = static_cast<double>(std::cos(angle) * static_cast<float>(cache.amplitude));
        s = static_cast<double>(std::sin(angle) * static_cast<float>(cache.amplitude));
      } else {
        c = cache.amplitude * std::cos(p * theta);
        s = cache.amplitude * std::sin(p * theta);
      }
      c = type.round(c);
      s = type.round(s);
      switch (holds) {
        case Holds::cosines:
          table(n, k) = c;
          break;
        case Holds::sines:
          table(n, k) = s;
          break;
        case Holds::concatenated:
          table(n, k) = table(n, pairs + k) = c;
          break;
        case Holds::repeated:
          table(n, 2 * k) = table(n, 2 * k + 1) = s;
          break;
        case Holds::side_by_side:
          table(n, k) = c;
          table(n, pairs + k) = s;
          break;
        case Holds::complex:
          table(n, 2 * k) = c;
          table(n, 2 * k + 1) = s;
          break;
      }
    }
  }
  return table;
}

Identification identified(const Tensor<double>& table, const Type& type = kFloat64) {
  return identify_array(table.view(), type.unit_roundoff);
}

double number(const Identification& found, const std::string& name) {
  const auto known = found.parameters.find(name);
  return known == found.parameters.end() ? NAN : parse_double(known->second, name);
}

TEST(IdentifyRotations, PlainCachesInEveryFormAndType) {
  const struct {
    Holds holds;
    const char* form;
  } forms[] = {{Holds::cosines, "cosines"},
               {Holds::sines, "sines"},
               {Holds::concatenated, "cosines, twice side by side"},
               {Holds::repeated, "sines, each twice"}};
  for (const Type& type : {kFloat64, kFloat32, kFloat16, kBfloat16}) {
    for (const auto& [holds, form] : forms) {
      for (const double base : {10000.0, 500000.0}) {
        SCOPED_TRACE(std::string(type.name) + " " + form + " " + shortest(base));
        const Identification found = identified(made({plain(base, 32)}, holds, type), type);
        ASSERT_EQ(found.scheme, "rotary") << found.explanation;
        EXPECT_EQ(found.form, form);
        EXPECT_EQ(found.head_dim, 64);
        EXPECT_EQ(found.first, 0);
        EXPECT_EQ(found.attention_factor, 1);
        EXPECT_EQ(found.parameters.contains("base"), base != 10000);
        EXPECT_EQ(found.parameters.contains("layout"), holds == Holds::repeated);
        EXPECT_FALSE(found.parameters.contains("precision")) << found.explanation;
        // Two roundings of numbers up to one, on two sides of a boundary.
        EXPECT_LE(found.max_deviation, 2 * type.unit_roundoff + 0x1p-44);
      }
    }
  }
}

TEST(IdentifyRotations, ComplexCachesHavePairsOfNumbers) {
  for (const Type& type : {kFloat32, kBfloat16}) {
    Tensor<double> table = made({plain(10000, 16)}, Holds::complex, type);
    const Identification found =
        identify_array(View<const double>(table.data(), {200, 16, 2}), type.unit_roundoff);
    EXPECT_EQ(found.scheme, "rotary") << found.explanation;
    EXPECT_EQ(found.form, "[position, pair, cosine and sine]");
    EXPECT_EQ(found.head_dim, 32);
  }
}

TEST(IdentifyRotations, SideBySideTheyAreAlsoASinusoidalTable) {
  const Identification found =
      identified(made({plain(10000, 16)}, Holds::side_by_side, kFloat32), kFloat32);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.parameters.at("layout"), "cos_first");
  EXPECT_THAT(found.explanation, HasSubstr("rotary, head_dim 32"));
  const Identification scaled = identified(
      made({llama3(500000, 64, 8, 1, 4, 8192)}, Holds::side_by_side, kFloat32), kFloat32);
  EXPECT_EQ(scaled.scheme, "rotary_llama3");
  EXPECT_EQ(scaled.form, "cosines, then sines");
}

TEST(IdentifyRotations, SlicesStartAnywhere) {
  for (const std::int64_t first : {1, 17, 1000, 30000}) {
    for (const Holds holds : {Holds::cosines, Holds::sines}) {
      const Identification found =
          identified(made({plain(10000, 32), 128, first}, holds, kFloat32), kFloat32);
      ASSERT_EQ(found.scheme, "rotary") << first << found.explanation;
      EXPECT_EQ(found.first, first);
    }
  }
  const Identification found =
      identified(made({plain(10000, 32), 128, 100}, Holds::cosines, kFloat16), kFloat16);
  EXPECT_EQ(found.scheme, "rotary") << found.explanation;
  EXPECT_EQ(found.first, 100);
}

TEST(IdentifyRotations, FrameworksAnglesAreNamed) {
  const Identification found = identified(
      made({plain(10000, 64), 4096, 0, 1, true}, Holds::concatenated, kFloat32), kFloat32);
  ASSERT_EQ(found.scheme, "rotary") << found.explanation;
  EXPECT_EQ(found.parameters.at("precision"), "framework");
  EXPECT_THAT(found.explanation, HasSubstr("float32"));
}

TEST(IdentifyRotations, LinearScalingDividesAllFrequencies) {
  for (const double factor : {2.0, 4.0, 8.0}) {
    for (const Type& type : {kFloat64, kFloat32, kBfloat16}) {
      std::vector<double> theta = plain(10000, 32);
      for (double& t : theta) t /= factor;
      const Identification found = identified(made({theta}, Holds::cosines, type), type);
      ASSERT_EQ(found.scheme, "rotary_linear") << type.name << found.explanation;
      EXPECT_EQ(number(found, "factor"), factor);
      EXPECT_FALSE(found.parameters.contains("base")) << found.explanation;
    }
  }
}

TEST(IdentifyRotations, NtkAwareScalingIsAnotherBase) {
  const double base = 10000 * std::pow(4, 128.0 / 126);
  const Identification found = identified(made({plain(base, 64)}, Holds::cosines, kFloat64));
  ASSERT_EQ(found.scheme, "rotary");
  EXPECT_NEAR(number(found, "base"), 40889.942, 0.001);
  EXPECT_THAT(found.explanation, HasSubstr("10000 changed for factor 4"));
}

TEST(IdentifyRotations, Llama3IsKnownByItsBlend) {
  const struct {
    double base, factor;
    std::int64_t pairs;
  } models[] = {{500000, 8, 64}, {500000, 32, 32}};
  for (const auto& [base, factor, pairs] : models) {
    for (const Type& type : {kFloat64, kFloat32}) {
      for (const bool float32 : {false, true}) {
        if (float32 && type.unit_roundoff < 0x1p-24) continue;
        const Cache cache{llama3(base, pairs, factor, 1, 4, 8192), 2048, 0, 1, float32};
        const Identification found = identified(made(cache, Holds::concatenated, type), type);
        ASSERT_EQ(found.scheme, "rotary_llama3") << type.name << " " << found.explanation;
        EXPECT_EQ(number(found, "base"), base);
        EXPECT_EQ(number(found, "factor"), factor);
        EXPECT_EQ(number(found, "low_freq_factor"), 1);
        EXPECT_EQ(number(found, "high_freq_factor"), 4);
        EXPECT_EQ(number(found, "original_length"), 8192);
      }
    }
  }
}

TEST(IdentifyRotations, YarnIsKnownByItsRampAndItsAmplitude) {
  const struct {
    double base, factor, length;
    std::int64_t pairs;
    bool truncate;
    double amplitude;                              // 0: the usual one
  } models[] = {{1e6, 4, 32768, 64, true, 0},      // Qwen2.5
                {1e4, 40, 4096, 32, true, 1},      // DeepSeek
                {1.5e5, 32, 4096, 32, false, 0}};  // gpt-oss
  for (const auto& [base, factor, length, pairs, truncate, amplitude] : models) {
    for (const Type& type : {kFloat64, kFloat32}) {
      const double usual = 0.1 * std::log(factor) + 1;
      const Cache cache{yarn(base, pairs, factor, length, truncate), 2048, 0,
                        amplitude == 0 ? usual : amplitude};
      const Identification found = identified(made(cache, Holds::cosines, type), type);
      ASSERT_EQ(found.scheme, "rotary_yarn") << shortest(base) << type.name << found.explanation;
      EXPECT_EQ(number(found, "base"), base);
      EXPECT_EQ(number(found, "factor"), factor);
      EXPECT_EQ(number(found, "original_length"), length);
      EXPECT_EQ(found.parameters.contains("truncate"), !truncate);
      EXPECT_EQ(found.parameters.contains("attention_factor"), amplitude != 0);
      EXPECT_NEAR(found.attention_factor, cache.amplitude, 1e-6);
    }
  }
}

TEST(IdentifyRotations, ProportionalOnesStandStillAtTheEnd) {
  std::vector<double> theta = plain(10000, 32);
  std::fill(theta.begin() + 8, theta.end(), 0);
  const Identification found = identified(made({theta}, Holds::cosines, kFloat32), kFloat32);
  ASSERT_EQ(found.scheme, "rotary_proportional") << found.explanation;
  EXPECT_EQ(number(found, "proportion"), 0.25);
}

TEST(IdentifyRotations, UnknownRulesAreListed) {
  std::vector<double> theta = plain(10000, 16);
  for (std::size_t k = 0; k < 16; ++k) theta[k] *= 1 - 0.3 * std::sin(static_cast<double>(k));
  const Identification found = identified(made({theta}, Holds::cosines, kFloat64));
  ASSERT_EQ(found.scheme, "rotary_unknown") << found.explanation;
  ASSERT_EQ(found.inv_freq.size(), 16U);
  for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(found.inv_freq[k], theta[k], 1e-7 * theta[k]);
}

TEST(IdentifyRotations, WhatIsNoRotationIsUnknown) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Tensor<double> noise({100, 32});
  for (double& x : noise.span()) x = normal(random);
  EXPECT_EQ(identified(noise).scheme, "unknown");
  Tensor<double> ones({100, 32});
  for (double& x : ones.span()) x = 1;
  EXPECT_EQ(identified(ones).scheme, "unknown");
  Tensor<double> damaged = made({plain(10000, 16)}, Holds::cosines, kFloat64);
  for (std::int64_t n = 0; n < 200; ++n) damaged(n, 5) = normal(random);
  EXPECT_EQ(identified(damaged).scheme, "unknown");
}

TEST(IdentifyAlibi, SlopesOfAnyNumberOfHeads) {
  for (const std::int64_t heads : {2, 3, 8, 12, 20, 32, 71}) {
    for (const double max_bias : {8.0, 16.0}) {
      for (const Type& type : {kFloat64, kFloat32, kBfloat16}) {
        Tensor<double> slopes({heads});
        const std::vector<double> exact = alibi_slopes(heads, max_bias);
        for (std::int64_t h = 0; h < heads; ++h) slopes(h) = type.round(exact[h]);
        const Identification found = identified(slopes, type);
        ASSERT_EQ(found.scheme, "alibi") << heads << type.name;
        EXPECT_EQ(found.heads, heads);
        EXPECT_EQ(found.mistake, "");
        if (max_bias == 8) {
          EXPECT_FALSE(found.parameters.contains("max_bias"));
        } else {
          EXPECT_EQ(number(found, "max_bias"), max_bias);
        }
        const Identification block =
            identify_array(View<const double>(slopes.data(), {heads, 1, 1}), type.unit_roundoff);
        EXPECT_EQ(block.scheme, "alibi");
      }
    }
  }
}

TEST(IdentifyAlibi, MistakenSlopesAreNamed) {
  Tensor<double> plain_rule({12});
  Tensor<double> from_zero({8});
  for (std::int64_t h = 0; h < 12; ++h)
    plain_rule(h) = std::exp2(-8.0 * static_cast<double>(h + 1) / 12);
  for (std::int64_t h = 0; h < 8; ++h) from_zero(h) = std::exp2(-static_cast<double>(h));
  EXPECT_EQ(identified(plain_rule).mistake, "plain_slopes");
  EXPECT_EQ(identified(from_zero).mistake, "slopes_from_exponent_0");
  Tensor<double> random({8});
  for (std::int64_t h = 0; h < 8; ++h) random(h) = 0.3 + 0.01 * static_cast<double>(h * h);
  EXPECT_EQ(identified(random).scheme, "unknown");
}

constexpr double kHidden = -std::numeric_limits<double>::infinity();

TEST(IdentifyAlibi, BiasesInEveryForm) {
  const std::int64_t heads = 6, queries = 9, keys = 9;
  const std::vector<double> slopes = alibi_slopes(heads);
  const auto block = [&](const std::function<double(std::int64_t, std::int64_t)>& of) {
    Tensor<double> bias({heads, queries, keys});
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t q = 0; q < queries; ++q) {
        for (std::int64_t k = 0; k < keys; ++k) bias(h, q, k) = slopes[h] * of(q, k);
      }
    }
    return bias;
  };
  const auto row = [&](std::int64_t length, const std::function<double(std::int64_t)>& of) {
    Tensor<double> bias({heads, length});
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t k = 0; k < length; ++k) bias(h, k) = slopes[h] * of(k);
    }
    return bias;
  };
  const auto number_of = [](std::int64_t x) { return static_cast<double>(x); };
  const Identification symmetric =
      identified(block([&](auto q, auto k) { return -std::fabs(number_of(k - q)); }));
  EXPECT_EQ(symmetric.scheme, "alibi");
  EXPECT_EQ(symmetric.form, "bias [heads, query, key], symmetric");
  const Identification causal =
      identified(block([&](auto q, auto k) { return k > q ? kHidden : -number_of(q - k); }));
  EXPECT_EQ(causal.scheme, "alibi");
  EXPECT_EQ(causal.form, "bias [heads, query, key], the future hidden");
  EXPECT_EQ(causal.parameters.at("direction"), "causal");
  const Identification lines = identified(block([&](auto, auto k) { return number_of(k); }));
  EXPECT_EQ(lines.scheme, "alibi");
  EXPECT_EQ(lines.form, "row-constant bias [heads, key], slope times key");
  const Identification keras = identified(row(20, [&](auto k) { return number_of(k - 19); }));
  EXPECT_EQ(keras.form, "row-constant bias [heads, key], slope times (key - 19)");
  const Identification distances =
      identified(row(21, [&](auto k) { return -std::fabs(number_of(k - 10)); }));
  EXPECT_EQ(distances.form, "bias [heads, distance + 10], symmetric");
  const Identification past =
      identified(row(21, [&](auto k) { return k > 10 ? kHidden : -number_of(10 - k); }));
  EXPECT_EQ(past.form, "bias [heads, distance + 10], the future hidden");
  Tensor<double> broken = block([&](auto q, auto k) { return -std::fabs(number_of(k - q)); });
  broken(2, 3, 4) *= 1.5;
  EXPECT_EQ(identified(broken).scheme, "unknown");
}

Tensor<double> buckets_of(const T5& options, std::int64_t queries, std::int64_t keys,
                          std::int64_t offset = 0, bool transposed = false) {
  const T5Buckets bucket(options);
  Tensor<double> map({queries, keys});
  for (std::int64_t q = 0; q < queries; ++q) {
    for (std::int64_t k = 0; k < keys; ++k) {
      const std::int64_t distance = k - q - offset;
      map(q, k) = static_cast<double>(bucket(transposed ? -distance : distance));
    }
  }
  return map;
}

TEST(IdentifyBuckets, OfEverySetting) {
  for (const T5& options : {T5{32, 128, true}, T5{32, 128, false}, T5{320, 800, true},
                            T5{64, 256, true}, T5{16, 64, false}}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(std::to_string(options.num_buckets) + (transposed ? " transposed" : ""));
      const std::int64_t length = options.max_distance + 20;
      const Identification found = identified(buckets_of(options, length, length, 0, transposed));
      ASSERT_EQ(found.scheme, "t5") << found.explanation;
      EXPECT_EQ(number(found, "num_buckets"), static_cast<double>(options.num_buckets));
      EXPECT_EQ(number(found, "max_distance"), static_cast<double>(options.max_distance));
      EXPECT_EQ(found.parameters.at("bidirectional"), options.bidirectional ? "yes" : "no");
      EXPECT_EQ(found.mistake, transposed ? "transposed" : "");
    }
  }
}

TEST(IdentifyBuckets, AlsoOfRowsAndOfQueriesBehindACache) {
  Tensor<double> line({401});
  for (std::int64_t i = 0; i < 401; ++i) line(i) = static_cast<double>(t5_bucket(i - 200));
  const Identification found = identified(line);
  EXPECT_EQ(found.scheme, "t5") << found.explanation;
  EXPECT_EQ(found.form, "buckets [distance + 200]");
  const Identification cached = identified(buckets_of({}, 8, 300, 292));
  EXPECT_EQ(cached.scheme, "t5") << cached.explanation;
}

TEST(IdentifyBuckets, OtherWholeNumbersAreUnknown) {
  Tensor<double> counting({40, 40});
  for (std::int64_t i = 0; i < 1600; ++i) counting.data()[i] = static_cast<double>(i % 40);
  EXPECT_EQ(identified(counting).scheme, "unknown");
  Tensor<double> wrong = buckets_of({}, 150, 150);
  wrong(140, 3) = 7;
  EXPECT_EQ(identified(wrong).scheme, "unknown");
}

TEST(IdentifyArray, TakesTablesAsBefore) {
  Sinusoidal options;
  options.length = 50;
  options.width = 32;
  options.ladder = Ladder::d_half_minus_1;
  options.first = 3;
  const Tensor<double> table = sinusoidal<double>(options);
  const Identification found =
      identify_array(View<const double>(table.data(), {1, 50, 1, 32}), 0x1p-53);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.options.first, 3);
  EXPECT_EQ(found.parameters.at("ladder"), "d/2-1");
  EXPECT_EQ(found.parameters.size(), 1U);
}

TEST(IdentifyArray, RefusesWhatHoldsNoNumbers) {
  const auto error = [](const Tensor<double>& array, double unit) {
    try {
      identify_array(array.view(), unit);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  Tensor<double> table({4, 4});
  table(1, 1) = NAN;
  EXPECT_THAT(error(table, 0x1p-53), HasSubstr("number 5"));
  EXPECT_THAT(error(Tensor<double>({0, 4}), 0x1p-53), HasSubstr("[identify_array.array]"));
  EXPECT_THAT(error(Tensor<double>({4}), 1), HasSubstr("[identify_array.unit_roundoff]"));
}

}  // namespace
}  // namespace sextant

// Slopes and biases in every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "identify/identified.h"
#include "sextant/schemes/distance/alibi.h"

namespace sextant {
namespace {

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

constexpr double kMasked = -std::numeric_limits<double>::infinity();

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
      identified(block([&](auto q, auto k) { return k > q ? kMasked : -number_of(q - k); }));
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
      identified(row(21, [&](auto k) { return k > 10 ? kMasked : -number_of(10 - k); }));
  EXPECT_EQ(past.form, "bias [heads, distance + 10], the future hidden");
  Tensor<double> broken = block([&](auto q, auto k) { return -std::fabs(number_of(k - q)); });
  broken(2, 3, 4) *= 1.5;
  EXPECT_EQ(identified(broken).scheme, "unknown");
}

}  // namespace
}  // namespace sextant

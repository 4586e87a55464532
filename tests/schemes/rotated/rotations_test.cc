// The laws of every rotation in the list, at their defaults and at p > 0.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sextant/schemes/scheme.h"

namespace sextant::rotations_test {
namespace {

constexpr std::int64_t kPositions[] = {0, 1, 7, 1000, 4095};

SchemeRequest request(std::map<std::string, std::string> parameters = {}) {
  SchemeRequest asked{
      .heads = 2, .head_dim = 24, .positions = kPositions, .parameters = std::move(parameters)};
  return asked;
}

RotationTable<double> table_of(const Scheme& scheme, const SchemeRequest& asked) {
  SchemeTable made = scheme.make(asked);
  return std::move(std::get<RotationTable<double>>(made));
}

// Those whose angles are position times inv_freq, one ladder for all heads.
std::vector<const Scheme*> ladders() {
  std::vector<const Scheme*> found;
  for (const Scheme* scheme : schemes()) {
    if (scheme->kind != SchemeKind::rotated || scheme->name == "temperature" ||
        scheme->name == "xpos" || scheme->name == "rotary_axial" || !scheme->weights.empty())
      continue;
    found.push_back(scheme);
  }
  return found;
}

TEST(Rotations, HaveFrequencies) {
  for (const Scheme* scheme : schemes()) {
    EXPECT_EQ(scheme->frequencies != nullptr, scheme->kind == SchemeKind::rotated) << scheme->name;
  }
}

TEST(Rotations, TurnByPositionTimesFrequencyAndKeepTheNorm) {
  for (const Scheme* scheme : ladders()) {
    for (const char* precision : {"exact", "framework"}) {
      SCOPED_TRACE(std::string(scheme->name) + " " + precision);
      const SchemeRequest asked = request({{"precision", precision}});
      const RotationTable<double> table = table_of(*scheme, asked);
      const RotationFrequencies f = scheme->frequencies(asked);
      ASSERT_EQ(f.inv_freq.size(), 12u);
      ASSERT_EQ(table.cos.shape(), Shape({5, 12}));
      const double m = f.attention_factor;
      // Framework angles are rounded to float32: off by half a unit of 4095, 2^-13.
      const bool exact = std::string(precision) == "exact";
      const double tolerance = (exact ? 4096 * 0x1p-52 : 0x1p-13) * m;
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t k = 0; k < 12; ++k) {
          const double angle =
              static_cast<double>(kPositions[i]) * f.inv_freq[static_cast<std::size_t>(k)];
          EXPECT_NEAR(table.cos(i, k), m * std::cos(angle), tolerance);
          EXPECT_NEAR(table.sin(i, k), m * std::sin(angle), tolerance);
          // Each off by half a unit in the last place, of float32 in frameworks.
          EXPECT_NEAR(std::hypot(table.cos(i, k), table.sin(i, k)), m,
                      (exact ? 0x1p-51 : 0x1p-22) * m);
        }
      }
      for (std::int64_t k = 0; k < 12; ++k) {
        EXPECT_EQ(table.cos(0, k), exact ? m : static_cast<double>(static_cast<float>(m)));
        EXPECT_EQ(table.sin(0, k), 0);
      }
    }
  }
}

// The same angles for both layouts: they differ by which channels make a pair.
TEST(Rotations, LayoutsArePermutationsOfEachOther) {
  for (const Scheme* scheme : ladders()) {
    SCOPED_TRACE(scheme->name);
    const RotationTable<double> split = table_of(*scheme, request({{"layout", "half_split"}}));
    const RotationTable<double> adjacent = table_of(*scheme, request({{"layout", "interleaved"}}));
    Tensor<double> x({1, 2, 5, 24});
    for (std::int64_t i = 0; i < x.count(); ++i) x.data()[i] = std::sin(static_cast<double>(i));
    Tensor<double> permuted(x.shape());
    const auto channel = [](std::int64_t c) { return c % 2 * 12 + c / 2; };  // interleaved to split
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t n = 0; n < 5; ++n) {
        for (std::int64_t c = 0; c < 24; ++c) permuted(0, h, n, c) = x(0, h, n, channel(c));
      }
    }
    rotate<double>(x, x, split);
    rotate<double>(permuted, permuted, adjacent);
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t n = 0; n < 5; ++n) {
        for (std::int64_t c = 0; c < 24; ++c) {
          EXPECT_EQ(permuted(0, h, n, c), x(0, h, n, channel(c)));
        }
      }
    }
  }
}

TEST(Rotations, ScoresDependOnTheDistanceOnly) {
  constexpr std::int64_t kHere[] = {5, 17, 5, 17};
  constexpr std::int64_t kThere[] = {3005, 3017, 3005, 3017};
  for (const Scheme* scheme : ladders()) {
    SCOPED_TRACE(scheme->name);
    double scores[2];
    for (int i = 0; i < 2; ++i) {
      // A length of its own keeps schemes that depend on the longest position the same.
      SchemeRequest asked = request();
      for (const Option& parameter : scheme->parameters()) {
        if (parameter.name == "length") asked.parameters.emplace("length", "5000");
      }
      asked.positions = i == 0 ? kHere : kThere;
      const RotationTable<double> table = table_of(*scheme, asked);
      Tensor<double> x({1, 1, 4, 24});
      for (std::int64_t c = 0; c < x.count(); ++c) x.data()[c] = std::cos(static_cast<double>(c));
      rotate<double>(x, x, table);
      scores[i] = 0;
      for (std::int64_t c = 0; c < 24; ++c) scores[i] += x(0, 0, 0, c) * x(0, 0, 1, c);
    }
    EXPECT_NEAR(scores[0], scores[1], 24 * 16 * 0x1p-53);  // 24 products of a few roundings each
  }
}

TEST(Rotations, TheLastChannelsTurnWhenAsked) {
  for (const Scheme* scheme : ladders()) {
    SCOPED_TRACE(scheme->name);
    const RotationTable<double> table =
        table_of(*scheme, request({{"rotary_dim", "12"}, {"span", "last"}}));
    EXPECT_EQ(table.first_channel, 12);
    EXPECT_EQ(table.cos.size(1), 6);
  }
}

}  // namespace
}  // namespace sextant::rotations_test

// The list of schemes: complete, sorted, and each entry makes the table it promises.
#include "sextant/schemes/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "reference/plain_sinusoidal.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kPositions[] = {0, 1, 7, 1000};

SchemeRequest request(std::map<std::string, std::string> parameters = {}) {
  SchemeRequest asked;
  asked.width = 8;
  asked.heads = 2;
  asked.head_dim = 4;
  asked.positions = kPositions;
  asked.parameters = std::move(parameters);
  return asked;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schemes, AreListedByName) {
  std::vector<std::string> names;
  for (const Scheme* scheme : schemes()) names.emplace_back(scheme->name);
  EXPECT_THAT(names, ElementsAre("learned", "none", "rotary", "sinusoidal"));
}

TEST(Schemes, DescribeThemselves) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    EXPECT_EQ(&find_scheme(scheme->name), scheme);
    EXPECT_FALSE(scheme->idea.empty());
    EXPECT_FALSE(scheme->paper.empty());
    EXPECT_NE(scheme->make, nullptr);
    for (const SchemeParameter& parameter : scheme->parameters) {
      EXPECT_FALSE(parameter.name.empty());
      EXPECT_FALSE(parameter.range.empty()) << parameter.name;
      EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
    }
  }
}

TEST(Schemes, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(message_of([] { find_scheme("sinus"); }),
            "[scheme] must be one of learned, none, rotary, sinusoidal, got 'sinus'");
}

TEST(Schemes, AnUnknownParameterIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(message_of([] {
              find_scheme("rotary").make(request({{"bass", "1"}}));
            }),
            "[rotary] has the parameters base, layout, rotary_dim, precision, got 'bass'");
  EXPECT_EQ(message_of([] {
              find_scheme("none").make(request({{"base", "1"}}));
            }),
            "[none] has no parameters, got 'base'");
}

TEST(Schemes, AParameterWithoutDefaultMustBeGiven) {
  EXPECT_THAT(message_of([] { find_scheme("learned").make(request()); }),
              HasSubstr("[learned.file] must be given"));
}

TEST(Schemes, WrongValuesNameTheirParameter) {
  const auto error = [](std::string_view scheme, std::string name, std::string value) {
    return message_of([&] { find_scheme(scheme).make(request({{name, value}})); });
  };
  EXPECT_THAT(error("sinusoidal", "base", "ten"), HasSubstr("[sinusoidal.base]"));
  EXPECT_THAT(error("sinusoidal", "base", "-1"), HasSubstr("base"));
  EXPECT_THAT(error("sinusoidal", "layout", "rows"), HasSubstr("[sinusoidal.layout]"));
  EXPECT_THAT(error("sinusoidal", "odd_width", "rows"), HasSubstr("[sinusoidal.odd_width]"));
  EXPECT_THAT(error("rotary", "layout", "rows"),
              HasSubstr("half_split or interleaved, got 'rows'"));
  EXPECT_THAT(error("rotary", "rotary_dim", "3.5"), HasSubstr("[rotary.rotary_dim]"));
}

TEST(Schemes, KindsHaveNames) {
  EXPECT_EQ(name_of(SchemeKind::none), "none");
  EXPECT_EQ(name_of(SchemeKind::added), "added");
  EXPECT_EQ(name_of(SchemeKind::rotated), "rotated");
  EXPECT_EQ(name_of(SchemeKind::distance_bias), "distance_bias");
}

TEST(Schemes, NoneMakesNothing) {
  EXPECT_EQ(find_scheme("none").kind, SchemeKind::none);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(find_scheme("none").make(request())));
}

TEST(Schemes, SinusoidalMakesTheTableOfItsParameters) {
  const SchemeTable made = find_scheme("sinusoidal")
                               .make(request({{"base", "100"},
                                              {"layout", "half_split"},
                                              {"ladder", "d/2-1"},
                                              {"exponent", "doubled"},
                                              {"scale", "0.5"}}));
  const Tensor<double>& table = std::get<Tensor<double>>(made);
  Sinusoidal options;
  options.width = 8;
  options.base = 100;
  options.layout = SinusoidalLayout::half_split;
  options.ladder = Ladder::d_half_minus_1;
  options.exponent = Exponent::doubled;
  options.scale = 0.5;
  ASSERT_EQ(table.shape(), Shape({4, 8}));
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 0; column < 8; ++column) {
      // Both are within one rounding of a number below one.
      EXPECT_NEAR(table(row, column), reference::plain_sinusoidal(options, kPositions[row], column),
                  0x1p-52);
    }
  }
}

TEST(Schemes, RotaryMakesTheRotationsOfItsParameters) {
  const SchemeTable made =
      find_scheme("rotary").make(request({{"base", "100"}, {"layout", "interleaved"}}));
  const RotationTable<double>& table = std::get<RotationTable<double>>(made);
  EXPECT_EQ(table.layout, RotaryLayout::interleaved);
  ASSERT_EQ(table.cos.shape(), Shape({4, 2}));
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t pair = 0; pair < 2; ++pair) {
      // base^(-2k/4) is 10^-k; the long double angle is good to 1000 * 2^-63.
      const long double angle =
          static_cast<long double>(kPositions[row]) * (pair == 0 ? 1.0L : 0.1L);
      EXPECT_NEAR(table.cos(row, pair), static_cast<double>(std::cos(angle)), 0x1p-52);
      EXPECT_NEAR(table.sin(row, pair), static_cast<double>(std::sin(angle)), 0x1p-52);
    }
  }
}

}  // namespace
}  // namespace sextant

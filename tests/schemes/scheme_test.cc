// The list of schemes: complete, sorted, and each entry makes the table it promises.
#include "sextant/schemes/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reference/plain_sinusoidal.h"
#include "sextant/core/npy.h"
#include "support/error_of.h"

namespace sextant::scheme_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

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

// What a parameter that must be given is given, by its name.
std::map<std::string, std::string> required_of(const Scheme& scheme) {
  std::map<std::string, std::string> given;
  for (const Option& parameter : scheme.parameters()) {
    if (!parameter.default_text.empty()) continue;
    EXPECT_EQ(parameter.name, "file") << "of " << scheme.name << ": say here what to give";
    const std::string path = ::testing::TempDir() + "sextant-scheme-table.npy";
    Tensor<float> table({1001, 8});
    for (std::int64_t i = 0; i < table.count(); ++i) table.data()[i] = static_cast<float>(i);
    save_npy(path, table);
    given.emplace(parameter.name, path);
  }
  return given;
}

SchemeKind kind_of(const SchemeTable& table) {
  if (std::holds_alternative<Tensor<double>>(table)) return SchemeKind::added;
  if (std::holds_alternative<RotationTable<double>>(table)) return SchemeKind::rotated;
  if (std::holds_alternative<DistanceBias>(table)) return SchemeKind::distance_bias;
  if (const auto* term = std::get_if<std::shared_ptr<const ScoreTerm>>(&table)) {
    return (*term)->needs().before_softcap ? SchemeKind::content : SchemeKind::indexed_bias;
  }
  return SchemeKind::none;
}

// "a, b, c": what refusals list.
std::string listed(std::span<const Option> parameters) {
  std::string names;
  for (const Option& parameter : parameters) {
    names += (names.empty() ? "" : ", ") + std::string(parameter.name);
  }
  return names;
}

TEST(Schemes, AreListedByName) {
  std::vector<std::string> names;
  for (const Scheme* scheme : schemes()) names.emplace_back(scheme->name);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_THAT(names, IsSupersetOf({"learned", "none", "rotary", "sinusoidal"}));
}

TEST(Schemes, DescribeThemselves) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    EXPECT_EQ(&find_scheme(scheme->name), scheme);
    EXPECT_FALSE(scheme->idea.empty());
    EXPECT_FALSE(scheme->paper.empty());
    EXPECT_NE(scheme->make, nullptr);
    for (const Option& parameter : scheme->parameters()) {
      EXPECT_FALSE(parameter.name.empty());
      EXPECT_FALSE(parameter.allowed().empty()) << parameter.name;
      EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
    }
  }
}

// Spelled as people do, and still to be found: letters and digits are those that the name ends in.
TEST(Schemes, HaveTitlesThatTellTheirNames) {
  const auto letters = [](std::string_view text) {
    std::string kept;
    for (const unsigned char c : text) {
      if (std::isalnum(c) != 0) kept += static_cast<char>(std::tolower(c));
    }
    return kept;
  };
  std::set<std::string_view> titles;
  for (const Scheme* scheme : schemes()) {
    EXPECT_TRUE(titles.insert(scheme->title).second) << scheme->title;
    EXPECT_NE(scheme->title, "") << scheme->name;
    EXPECT_EQ(scheme->title.find('_'), std::string_view::npos) << scheme->title;
    if (scheme->kind == SchemeKind::none) continue;
    EXPECT_TRUE(letters(scheme->name).ends_with(letters(scheme->title))) << scheme->title;
  }
  EXPECT_EQ(find_scheme("alibi").title, "ALiBi");
  EXPECT_EQ(find_scheme("swin_v2").title, "Swin v2");
}

TEST(Schemes, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(error_of([] { find_scheme("rotry"); }),
            "[scheme] must be the name of a scheme, got 'rotry'; did you mean 'rotary'?");
  EXPECT_THAT(error_of([] { find_scheme("frequency"); }), HasSubstr("; there are "));
  EXPECT_THAT(error_of([] { find_scheme("\x1b[2J"); }), HasSubstr(", got '\\x1b[2J'"));
}

TEST(Schemes, AnUnknownParameterIsAnsweredWithTheKnownOnes) {
  for (const Scheme* scheme : schemes()) {
    const std::string known = listed(scheme->parameters());
    EXPECT_EQ(error_of([&] {
                scheme->make(request({{"no\nsuch", "1"}}));
              }),
              "[" + std::string(scheme->name) + "] " +
                  (known.empty() ? "has no parameters" : "has the parameters " + known) +
                  ", got 'no\\nsuch'");
  }
}

TEST(Schemes, AParameterWithoutDefaultMustBeGiven) {
  for (const Scheme* scheme : schemes()) {
    for (const Option& parameter : scheme->parameters()) {
      if (!parameter.default_text.empty()) continue;
      std::map<std::string, std::string> others = required_of(*scheme);
      others.erase(std::string(parameter.name));
      EXPECT_THAT(error_of([&] { scheme->make(request(others)); }),
                  HasSubstr("[" + std::string(scheme->name) + "." + std::string(parameter.name) +
                            "] must be given"));
    }
  }
}

TEST(Schemes, MakeTheTableOfTheirKind) {
  constexpr std::int64_t kFirst[] = {0, 1, 2,
                                     3};  // where a table ends before the last of the others
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    const auto request_of = [&](std::map<std::string, std::string> parameters) {
      SchemeRequest asked = request(std::move(parameters));
      const bool ends = scheme->max_length != nullptr && scheme->max_length(asked) <= 1000;
      if (ends) asked.positions = kFirst;
      return asked;
    };
    const SchemeTable made = scheme->make(request_of(required_of(*scheme)));
    EXPECT_EQ(kind_of(made), scheme->kind);
    if (const auto* added = std::get_if<Tensor<double>>(&made)) {
      EXPECT_EQ(added->shape(), Shape({4, 8}));
    } else if (const auto* rotated = std::get_if<RotationTable<double>>(&made)) {
      EXPECT_EQ(rotated->cos.size(rotated->cos.rank() - 2), 4);
      EXPECT_EQ(rotated->sin.shape(), rotated->cos.shape());
    } else if (const auto* bias = std::get_if<DistanceBias>(&made)) {
      ASSERT_EQ(bias->values.rank(), 2);
      EXPECT_TRUE(bias->values.size(0) == 1 || bias->values.size(0) == 2);
    }
    // The defaults as they are listed are the defaults that are taken.
    std::map<std::string, std::string> spelled = required_of(*scheme);
    for (const Option& parameter : scheme->parameters()) {
      spelled.emplace(parameter.name, parameter.default_text);
    }
    EXPECT_NO_THROW(scheme->make(request_of(spelled)));
  }
}

TEST(Schemes, OfOneIdRefuseSeveral) {
  for (const char* name : {"learned", "sinusoidal", "timestep"}) {
    SchemeRequest asked = request();
    asked.axes = 2;
    EXPECT_EQ(error_of([&] { find_scheme(name).make(asked); }),
              "[" + std::string(name) + ".positions] must have one id per token, got 2");
  }
}

TEST(Schemes, WrongValuesNameTheirParameter) {
  const auto error = [](std::string_view scheme, std::string name, std::string value) {
    return error_of([&] { find_scheme(scheme).make(request({{name, value}})); });
  };
  EXPECT_THAT(error("sinusoidal", "base", "ten"), HasSubstr("[sinusoidal.base]"));
  EXPECT_THAT(error("sinusoidal", "base", "-1"), HasSubstr("base"));
  EXPECT_THAT(error("sinusoidal", "layout", "rows"), HasSubstr("[sinusoidal.layout]"));
  EXPECT_THAT(error("sinusoidal", "odd_width", "rows"), HasSubstr("[sinusoidal.odd_width]"));
  EXPECT_THAT(error("rotary", "layout", "rows"),
              HasSubstr("one of interleaved, half_split, got 'rows'"));
  EXPECT_THAT(error("rotary", "rotary_dim", "3.5"), HasSubstr("[rotary.rotary_dim]"));
}

TEST(Schemes, KindsHaveNames) {
  EXPECT_EQ(name_of(SchemeKind::none), "none");
  EXPECT_EQ(name_of(SchemeKind::added), "added");
  EXPECT_EQ(name_of(SchemeKind::rotated), "rotated");
  EXPECT_EQ(name_of(SchemeKind::distance_bias), "distance_bias");
  EXPECT_EQ(name_of(SchemeKind::indexed_bias), "indexed_bias");
  EXPECT_EQ(name_of(SchemeKind::content), "content");
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

TEST(Schemes, ParametersBecomeOptions) {
  const Sinusoidal plain = sinusoidal_from({});
  EXPECT_EQ(plain.base, 10000);
  EXPECT_EQ(plain.width, 0);
  EXPECT_FALSE(plain.odd_width.has_value());
  const Sinusoidal made = sinusoidal_from({{"base", "500"},
                                           {"layout", "cos_first"},
                                           {"ladder", "d/2-1"},
                                           {"exponent", "doubled_unpaired"},
                                           {"odd_width", "round_up"},
                                           {"scale", "-2"},
                                           {"precision", "framework"}});
  EXPECT_EQ(made.base, 500);
  EXPECT_EQ(made.layout, SinusoidalLayout::cos_first);
  EXPECT_EQ(made.ladder, Ladder::d_half_minus_1);
  EXPECT_EQ(made.exponent, Exponent::doubled_unpaired);
  EXPECT_EQ(made.odd_width, OddWidth::round_up);
  EXPECT_EQ(made.scale, -2);
  EXPECT_EQ(made.precision, Precision::framework);
  EXPECT_THAT(error_of([] {
                sinusoidal_from({{"width", "4"}});
              }),
              HasSubstr("[sinusoidal] has the parameters base, layout"));
  EXPECT_THAT(error_of([] {
                sinusoidal_from({{"base", "x"}});
              }),
              HasSubstr("[sinusoidal.base] must be a number"));
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
}  // namespace sextant::scheme_test

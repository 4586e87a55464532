// One list of an options struct: its defaults, ranges, texts, checks and errors.
#include "core/options/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/json/option_json.h"
#include "support/error_of.h"

namespace sextant {

enum class Fruit { apple, pear };
std::string_view name_of(Fruit fruit) noexcept { return enum_name(fruit, {"apple", "pear"}); }

template <>
inline constexpr auto kMeanings<Fruit> = meanings("round", "not round");

struct Basket {
  std::int64_t heads = 1;
  Fruit fruit = Fruit::pear;
  bool washed = true;
  std::int64_t count = 4;
  std::uint32_t seed = 7;
  double weight = 0.5;
  std::optional<double> price{};
  std::optional<std::string> file{};
  std::vector<double> sizes{1, 1.5};
  std::int64_t needed = 0;
};

template <>
inline constexpr auto kFields<Basket> =
    std::tuple{field(&Basket::heads, "heads", IntegerRange{1, 8}, "of the call").of_request(),
               field(&Basket::fruit, "fruit", "which"),
               field(&Basket::washed, "washed", "or not"),
               field(&Basket::count, "count", IntegerRange{2, 1 << 20, 2}, "how many")
                   .with_condition("below 9 when washed"),
               field(&Basket::seed, "seed", kSeeds, "of chance"),
               field(&Basket::weight, "weight", NumberRange{0, 1, false, true}, "of one"),
               field(&Basket::price, "price", kAboveZero, "of all"),
               field(&Basket::file, "file", TextRange{"a file"}, "the list").unset("none"),
               field(&Basket::sizes, "sizes", ListRange{kAboveZero}, "of each"),
               field(&Basket::needed, "needed", at_least(1), "no default").required()};

namespace {

using ::testing::ElementsAre;

TEST(Fields, SayDefaultsAndWhatIsAllowed) {
  std::vector<std::string> names, defaults, allowed;
  for (const Option& option : options_of(Basket{})) {
    names.emplace_back(option.name);
    defaults.push_back(option.default_text);
    allowed.push_back(option.allowed());
  }
  EXPECT_THAT(names, ElementsAre("fruit", "washed", "count", "seed", "weight", "price", "file",
                                 "sizes", "needed"));
  EXPECT_THAT(defaults, ElementsAre("pear", "yes", "4", "7", "0.5", "auto", "none", "1,1.5", ""));
  EXPECT_THAT(allowed,
              ElementsAre("apple | pear", "yes | no", "even, 2 .. 2^20; below 9 when washed",
                          "0 .. 2^32 - 1", ">= 0, < 1", "auto | > 0", "none | a file",
                          "auto | numbers > 0", ">= 1"));
}

// Every text of a default, and of other values, gives the value; every text is that of its value.
TEST(Fields, ReadWhatTheySay) {
  const Basket given{.fruit = Fruit::apple,
                     .washed = false,
                     .count = 6,
                     .seed = 0xffffffff,
                     .weight = 0.1,
                     .price = 2.5,
                     .file = "a.npy",
                     .sizes = {3},
                     .needed = 5};
  for (const Basket& basket : {given, Basket{.needed = 1}, Basket{.sizes = {}, .needed = 1}}) {
    Basket read{.fruit = Fruit::pear, .price = 9, .file = "other", .needed = 3};
    const std::vector<Option> texts = options_of(basket);
    std::size_t next = 0;
    each_field<Basket>([&](const auto& field) {
      if (field.from_request) return;
      const std::string text =
          field.must_be_given ? std::to_string(basket.needed) : texts[next].default_text;
      ++next;
      read_field(read, field, text, "basket");
    });
    EXPECT_EQ(read.fruit, basket.fruit);
    EXPECT_EQ(read.washed, basket.washed);
    EXPECT_EQ(read.count, basket.count);
    EXPECT_EQ(read.seed, basket.seed);
    EXPECT_EQ(read.weight, basket.weight);
    EXPECT_EQ(read.price, basket.price);
    EXPECT_EQ(read.file, basket.file);
    EXPECT_EQ(read.sizes, basket.sizes);
    EXPECT_EQ(read.needed, basket.needed);
  }
}

TEST(Fields, CheckEveryMember) {
  const auto error = [](const auto& change) {
    Basket basket{.needed = 1};
    change(basket);
    return error_of([&] { check_fields("basket", basket); });
  };
  EXPECT_EQ(error([](Basket&) {}), "no error");
  EXPECT_EQ(error([](Basket& b) { b.heads = 9; }), "[basket.heads] must be 1 .. 8, got 9");
  EXPECT_EQ(error([](Basket& b) { b.fruit = Fruit{2}; }),
            "[basket.fruit] must be one of the named values, got 2");
  EXPECT_EQ(error([](Basket& b) { b.count = 5; }),
            "[basket.count] must be even and 2 .. 2^20, got 5");
  EXPECT_EQ(error([](Basket& b) { b.count = 0; }),
            "[basket.count] must be even and 2 .. 2^20, got 0");
  EXPECT_EQ(error([](Basket& b) { b.weight = 1; }),
            "[basket.weight] must be at least 0 and below 1, got 1");
  EXPECT_EQ(error([](Basket& b) { b.price = 0; }),
            "[basket.price] must be finite and above 0, got 0");
  EXPECT_EQ(error([](Basket& b) { b.price = std::numeric_limits<double>::infinity(); }),
            "[basket.price] must be finite and above 0, got inf");
  EXPECT_EQ(error([](Basket& b) { b.weight = std::nan(""); }),
            "[basket.weight] must be at least 0 and below 1, got nan");
  EXPECT_EQ(error([](Basket& b) {
              b.sizes = {1, -1};
            }),
            "[basket.sizes] must be finite and above 0, got -1");
  EXPECT_EQ(error([](Basket& b) { b.needed = 0; }), "[basket.needed] must be at least 1, got 0");
}

TEST(Fields, RefuseTextsThatAreNoValue) {
  const auto error = [](std::string_view name, std::string_view text) {
    Basket basket;
    return error_of([&] {
      each_field<Basket>([&](const auto& field) {
        if (field.name == name) read_field(basket, field, text, "--" + std::string(name));
      });
    });
  };
  EXPECT_EQ(error("fruit", "plum"), "[--fruit] must be one of apple, pear, got 'plum'");
  EXPECT_EQ(error("washed", "true"), "[--washed] must be yes or no, got 'true'");
  EXPECT_EQ(error("seed", "4294967296"), "[--seed] must be 0 .. 2^32 - 1, got 4294967296");
  EXPECT_EQ(error("seed", "-1"), "[--seed] must be 0 .. 2^32 - 1, got -1");
  EXPECT_THAT(error("count", "auto"), ::testing::StartsWith("[--count] must be "));
  EXPECT_THAT(error("price", "none"), ::testing::StartsWith("[--price] must be "));
  EXPECT_THAT(error("sizes", "1,,2"), ::testing::StartsWith("[--sizes] must be "));
}

// What a page of controls or another language checks without the struct.
TEST(Fields, RangesCheckTexts) {
  for (const Option& option : options_of(Basket{})) {
    if (option.default_text.empty() || option.default_text == option.unset) continue;
    EXPECT_EQ(error_of([&] { check_range(option.range, "x", option.default_text); }), "no error");
  }
  EXPECT_EQ(error_of([] {
              check_range(OptionRange(IntegerRange{-3, 3}), "x", "4");
            }),
            "[x] must be -3 .. 3, got 4");
  EXPECT_EQ(error_of([] {
              check_range(OptionRange(ListRange{IntegerRange{1, 3}}), "x", "2,4");
            }),
            "[x] must be 1 .. 3, got 4");
  EXPECT_EQ(error_of([] {
              check_range(OptionRange(ChoiceRange{{"a", "b"}}), "x", "c");
            }),
            "[x] must be one of a, b, got 'c'");
}

TEST(Fields, RangesAreTypedInJson) {
  std::vector<std::string> texts;
  for (const Option& option : options_of(Basket{})) texts.push_back(json_of(option.range).dump());
  EXPECT_THAT(
      texts,
      ElementsAre(R"({"type":"choice","names":["apple","pear"],"meanings":["round","not round"]})",
                  R"({"type":"flag"})",
                  R"({"type":"integer","min":2,"max":1048576,"multiple_of":2})",
                  R"({"type":"integer","min":0,"max":4294967295})",
                  R"({"type":"number","min":0.0,"exclusive_max":1.0})",
                  R"({"type":"number","exclusive_min":0.0})", R"({"type":"text"})",
                  R"({"type":"list","each":{"type":"number","exclusive_min":0.0}})",
                  R"({"type":"integer","min":1})"));
  EXPECT_EQ(json_of(kFinite).dump(), R"({"type":"number"})");
}

}  // namespace
}  // namespace sextant

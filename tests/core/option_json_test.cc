// Values of options in JSON.
#include "core/json/option_json.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace sextant {
namespace {

Json value(const OptionRange& range, std::string_view text, std::string_view unset = "") {
  return value_json({.name = "it", .default_text = "", .range = range, .unset = unset}, text);
}

TEST(OptionJson, HasNumbersTruthsAndLists) {
  EXPECT_EQ(value(IntegerRange{-9, 9}, "-7").dump(), "-7");
  EXPECT_EQ(value(NumberRange{0, 1e9}, "1e+4").dump(), "10000.0");
  EXPECT_EQ(value(NumberRange{0, 1}, "0.1").dump(), "0.1");
  EXPECT_EQ(value(FlagRange{}, "yes").dump(), "true");
  EXPECT_EQ(value(FlagRange{}, "no").dump(), "false");
  EXPECT_EQ(value(ListRange{IntegerRange{0, 9}}, "1,2").dump(), "[1,2]");
  EXPECT_EQ(value(ListRange{NumberRange{0, 9}}, "1,2.5").dump(), "[1.0,2.5]");
}

TEST(OptionJson, NamesAndTextsStayTexts) {
  EXPECT_EQ(value(ChoiceRange{{"a", "b"}}, "b"), "b");
  EXPECT_EQ(value(TextRange{"a file"}, "10"), "10");
}

TEST(OptionJson, TheWordForUnsetAndWhatIsNoValueStayTexts) {
  EXPECT_EQ(value(IntegerRange{0, 9}, "auto", "auto"), "auto");
  EXPECT_EQ(value(IntegerRange{0, 999}, "192; translate 256"), "192; translate 256");
}

TEST(OptionJson, AnObjectHasTheValuesThatAreGiven) {
  const std::vector<Option> options{
      {.name = "base", .default_text = "1", .range = NumberRange{0, 9}},
      {.name = "size", .default_text = "1", .range = IntegerRange{0, 9}}};
  EXPECT_EQ(values_json(options, {{"size", "3"}}).dump(), R"({"size":3})");
  EXPECT_EQ(values_json(options, {}).dump(), "{}");
}

}  // namespace
}  // namespace sextant

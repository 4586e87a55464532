// Numbers to text and back.
#include "sextant/core/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>
#include <locale>
#include <random>
#include <string>
#include <string_view>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// A comma as the decimal point in the C and in the C++ locale, as far as this system can, and back
// at the end.
class CommaLocale {
 public:
  CommaLocale()
      : c_(std::setlocale(LC_ALL, nullptr)),
        cpp_(std::locale::global(std::locale(std::locale(), new Comma))) {
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"}) {
      if (std::setlocale(LC_NUMERIC, name) != nullptr) break;
    }
  }
  ~CommaLocale() {
    std::locale::global(cpp_);
    std::setlocale(LC_ALL, c_.c_str());
  }

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::string c_;
  std::locale cpp_;
};

TEST(Shortest, WritesTheFewestDigits) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(0.1F), "0.1");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(shortest(1.0), "1");
  EXPECT_EQ(shortest(-2.5), "-2.5");
  EXPECT_EQ(shortest(16777216.0F), "16777216");
  EXPECT_EQ(shortest(std::cos(1.0)), "0.5403023058681398");
  EXPECT_EQ(shortest(0.0), "0");
  EXPECT_EQ(shortest(-0.0), "-0");
}

TEST(Shortest, UsesAnExponentForVeryLargeAndVerySmall) {
  EXPECT_EQ(shortest(100000.0), "100000");
  EXPECT_EQ(shortest(1234567890123456.0), "1234567890123456");
  EXPECT_EQ(shortest(1e16), "1e+16");
  EXPECT_EQ(shortest(1.25e300), "1.25e+300");
  EXPECT_EQ(shortest(0.0001), "0.0001");
  EXPECT_EQ(shortest(0.00001), "1e-05");
  EXPECT_EQ(shortest(-6.123233995736766e-17), "-6.123233995736766e-17");
  EXPECT_EQ(shortest(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(shortest(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(shortest(std::numeric_limits<float>::denorm_min()), "1e-45");
}

TEST(Shortest, WritesWhatIsNotFinite) {
  EXPECT_EQ(shortest(kInfinite), "inf");
  EXPECT_EQ(shortest(-kInfinite), "-inf");
  EXPECT_EQ(shortest(std::nan("")), "nan");
  EXPECT_EQ(significant(-kInfinite, 3), "-inf");
  EXPECT_EQ(fixed(std::nan(""), 3), "nan");
}

// How many digits matter: "-0.0120" has 2.
int count_digits(std::string text) {
  text = text.substr(0, text.find('e'));
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; }),
             text.end());
  const std::size_t first = text.find_first_not_of('0');
  return static_cast<int>(text.find_last_not_of('0') - first) + 1;
}

TEST(Shortest, ReadsBackAsTheSameNumberAndWithADigitLessDoesNot) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    const auto small = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value) || !std::isfinite(small)) continue;

    const std::string text = shortest(value);
    ASSERT_EQ(parse_double(text, "value"), value);
    ASSERT_EQ(parse_double(significant(value, 17), "value"), value);
    const int digits = count_digits(text);
    ASSERT_LE(digits, 17);
    if (digits > 1) {
      ASSERT_NE(parse_double(significant(value, digits - 1), "value"), value) << text;
    }

    const std::string small_text = shortest(small);
    ASSERT_EQ(static_cast<float>(parse_double(small_text, "value")), small);
    const int small_digits = count_digits(small_text);
    ASSERT_LE(small_digits, 9);
    if (small_digits > 1) {
      const std::string less = significant(static_cast<double>(small), small_digits - 1);
      ASSERT_NE(static_cast<float>(parse_double(less, "value")), small) << small_text;
    }
  }
}

TEST(Significant, WritesAtMostSoManyDigits) {
  EXPECT_EQ(significant(std::cos(1.0), 17), "0.54030230586813977");
  EXPECT_EQ(significant(0.5, 17), "0.5");
  EXPECT_EQ(significant(1.0, 17), "1");
  EXPECT_EQ(significant(100.0, 17), "100");
  EXPECT_EQ(significant(0.0, 5), "0");
  EXPECT_EQ(significant(3.14159, 3), "3.14");
  EXPECT_EQ(significant(1234567.0, 3), "1.23e+06");
  EXPECT_EQ(significant(999.96, 4), "1000");
  EXPECT_EQ(significant(0.1, 30), "0.100000000000000005551115123126");
}

TEST(Fixed, WritesSoManyDecimals) {
  EXPECT_EQ(fixed(3.14159, 2), "3.14");
  EXPECT_EQ(fixed(2.0, 3), "2.000");
  EXPECT_EQ(fixed(-1.5, 0), "-2");
  EXPECT_EQ(fixed(2.5, 0), "2");
  EXPECT_EQ(fixed(1e21, 1), "1000000000000000000000.0");
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-0.0, 1), "0.0");
  EXPECT_EQ(fixed(-std::numeric_limits<double>::max(), 1000).size(), 1U + 309U + 1U + 1000U);
}

TEST(Fixed, RefusesImpossiblePrecisions) {
  EXPECT_THAT([] { fixed(1, -1); },
              ThrowsMessage<Error>("[fixed.decimals] must be in 0 .. 1000, got -1"));
  EXPECT_THAT([] { significant(1, 0); },
              ThrowsMessage<Error>("[significant.digits] must be in 1 .. 1000, got 0"));
  EXPECT_THROW(fixed(1, 1001), Error);
  EXPECT_THROW(significant(1, 1001), Error);
}

TEST(Numbers, DoNotDependOnTheLocale) {
  const CommaLocale comma;
  EXPECT_EQ(shortest(1234567.5), "1234567.5");
  EXPECT_EQ(shortest(1234.5F), "1234.5");
  EXPECT_EQ(significant(0.25, 17), "0.25");
  EXPECT_EQ(fixed(1234567.25, 1), "1234567.2");
  EXPECT_EQ(parse_double("1.5", "x"), 1.5);
  EXPECT_THROW(parse_double("1,5", "x"), Error);
  EXPECT_EQ(parse_int64("1234567", "x"), 1234567);
}

TEST(ParseDouble, ReadsDecimals) {
  EXPECT_EQ(parse_double("10000", "base"), 10000);
  EXPECT_EQ(parse_double("-1.5e3", "base"), -1500);
  EXPECT_EQ(parse_double("+.5", "base"), 0.5);
  EXPECT_EQ(parse_double("5.", "base"), 5);
  EXPECT_EQ(parse_double("1E-2", "base"), 0.01);
  EXPECT_EQ(parse_double("0e999", "base"), 0);
  EXPECT_EQ(parse_double("4.9406564584124654e-324", "base"),
            std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parse_double("2.2250738585072011e-308", "base"), 0x0.fffffffffffffp-1022);
  EXPECT_EQ(parse_double("1.7976931348623157e308", "base"), std::numeric_limits<double>::max());
  EXPECT_TRUE(std::signbit(parse_double("-0", "base")));
}

TEST(ParseDouble, ReadsWhatShortestWrites) {
  EXPECT_EQ(parse_double("inf", "x"), kInfinite);
  EXPECT_EQ(parse_double("-inf", "x"), -kInfinite);
  EXPECT_TRUE(std::isnan(parse_double("nan", "x")));
}

TEST(ParseDouble, RefusesAnythingElse) {
  for (const char* text :
       {"",    " ",        "1 ",  " 1",     "1x",   "x",     "1,5",  "--1",   "+-1",
        "+",   "-",        ".",   "e5",     "1e",   "1e+",   "0x10", "1e5.0", "1..2",
        "Inf", "infinity", "NaN", "nan(1)", "+inf", "1_000", "१"}) {
    EXPECT_THAT([&] { parse_double(text, "base"); },
                ThrowsMessage<Error>(HasSubstr("[base] must be a number, got '")))
        << text;
  }
  EXPECT_THROW(parse_double(std::string_view("1\0", 2), "base"), Error);
}

TEST(ParseDouble, RefusesWhatIsOutOfRange) {
  for (const char* text : {"1e309", "-1e309", "1e-400", "-1e-400", "1.8e308", "1e99999999999"}) {
    EXPECT_THAT([&] { parse_double(text, "base"); },
                ThrowsMessage<Error>(HasSubstr("in the range of float64")))
        << text;
  }
}

TEST(ParseDouble, ShowsOnlyTheBeginningOfLongText) {
  EXPECT_THAT(
      [] { parse_double(std::string(1000, 'x'), "base"); },
      ThrowsMessage<Error>("[base] must be a number, got '" + std::string(40, 'x') + "...'"));
  EXPECT_THAT([] { parse_double("\x1b[2J", "base"); },
              ThrowsMessage<Error>("[base] must be a number, got '\\x1b[2J'"));
}

TEST(ParseInt64, ReadsTheWholeRange) {
  EXPECT_EQ(parse_int64("0", "n"), 0);
  EXPECT_EQ(parse_int64("+7", "n"), 7);
  EXPECT_EQ(parse_int64("-007", "n"), -7);
  EXPECT_EQ(parse_int64("9223372036854775807", "n"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_int64("-9223372036854775808", "n"), std::numeric_limits<std::int64_t>::min());
}

TEST(ParseInt64, RefusesAnythingElse) {
  for (const char* text : {"", "+", "-", "+-1", "1.0", "1e3", "0x1", "1 ", " 1", "1,2", "one"}) {
    EXPECT_THAT([&] { parse_int64(text, "n"); },
                ThrowsMessage<Error>(HasSubstr("[n] must be an integer, got '")))
        << text;
  }
  EXPECT_THAT([] { parse_int64("9223372036854775808", "n"); },
              ThrowsMessage<Error>(
                  "[n] must be an integer from -2^63 to 2^63 - 1, got '9223372036854775808'"));
  EXPECT_THROW(parse_int64("99999999999999999999x", "n"), Error);
}

TEST(ParseInt64List, ReadsNumbersAndRanges) {
  EXPECT_THAT(parse_int64_list("0,5,1000000", "p"), ElementsAre(0, 5, 1000000));
  EXPECT_THAT(parse_int64_list("7", "p"), ElementsAre(7));
  EXPECT_THAT(parse_int64_list("3..7", "p"), ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(parse_int64_list("0..100..25", "p"), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_THAT(parse_int64_list("0..10..4", "p"), ElementsAre(0, 4, 8));
  EXPECT_THAT(parse_int64_list("-2..1", "p"), ElementsAre(-2, -1, 0, 1));
  EXPECT_THAT(parse_int64_list("7..3..-2", "p"), ElementsAre(7, 5, 3));
  EXPECT_THAT(parse_int64_list("4..4", "p"), ElementsAre(4));
  EXPECT_THAT(parse_int64_list(" 1, 2 .. 4 ,9 ", "p"), ElementsAre(1, 2, 3, 4, 9));
}

TEST(ParseInt64List, ReachesTheEndsOfTheRange) {
  EXPECT_THAT(parse_int64_list("9223372036854775806..9223372036854775807", "p"),
              ElementsAre(std::numeric_limits<std::int64_t>::max() - 1,
                          std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(
      parse_int64_list("-9223372036854775808..9223372036854775807..9223372036854775807", "p"),
      ElementsAre(std::numeric_limits<std::int64_t>::min(), -1,
                  std::numeric_limits<std::int64_t>::max() - 1));
  EXPECT_THAT(
      parse_int64_list("9223372036854775807..-9223372036854775808..-9223372036854775808", "p"),
      ElementsAre(std::numeric_limits<std::int64_t>::max(), -1));
}

TEST(ParseInt64List, RefusesAnythingElse) {
  for (const char* text : {"", " ", ",", "1,", ",1", "1,,2", "1 2", "1..", "..2", "1..2..",
                           "1..2..3..4", "1...2", "a", "1;2", "1.5"}) {
    EXPECT_THROW(parse_int64_list(text, "p"), Error) << text;
  }
  EXPECT_THAT([] { parse_int64_list("1,,2", "p"); },
              ThrowsMessage<Error>(
                  "[p] must be numbers and ranges such as 0,5,10..20 or 0..100..10, got '1,,2'"));
  EXPECT_THAT([] { parse_int64_list("7..3", "p"); },
              ThrowsMessage<Error>(HasSubstr("needs a negative step")));
  EXPECT_THAT([] { parse_int64_list("3..7..-1", "p"); },
              ThrowsMessage<Error>(HasSubstr("towards the end")));
  EXPECT_THAT([] { parse_int64_list("3..7..0", "p"); },
              ThrowsMessage<Error>(HasSubstr("a step that is not 0")));
}

TEST(ParseInt64List, StopsAtTheLimit) {
  EXPECT_EQ(parse_int64_list("0..9", "p", 10).size(), 10U);
  EXPECT_THAT([] { parse_int64_list("0..10", "p", 10); },
              ThrowsMessage<Error>("[p] must be at most 10 numbers, got more at '0..10'"));
  EXPECT_THAT([] { parse_int64_list("1,2,3", "p", 2); },
              ThrowsMessage<Error>(HasSubstr("at most 2 numbers")));
  EXPECT_THROW(parse_int64_list("-9223372036854775808..9223372036854775807", "p"), Error);
  EXPECT_THROW(parse_int64_list("1", "p", 0), Error);
  EXPECT_THROW(parse_int64_list("1", "p", -1), Error);
}

}  // namespace
}  // namespace sextant

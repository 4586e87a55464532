// The calendar by known facts, every format read back by another program, and the two sets.
#include "sextant/training/tasks/dates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(Calendar, LeapYearsAreThoseOfGregory) {
  for (const int year : {1600, 1996, 2000, 2024, 2400}) EXPECT_TRUE(is_leap_year(year)) << year;
  for (const int year : {1700, 1900, 1999, 2100, 2023}) EXPECT_FALSE(is_leap_year(year)) << year;
  EXPECT_EQ(days_in_month(2000, 2), 29);
  EXPECT_EQ(days_in_month(1900, 2), 28);
  EXPECT_EQ(days_in_month(1999, 4), 30);
  EXPECT_EQ(days_in_month(1999, 12), 31);
}

TEST(Calendar, WeekdaysAreThoseOfHistory) {
  EXPECT_EQ(weekday({1969, 7, 20}), "Sunday");  // the first walk on the moon
  EXPECT_EQ(weekday({1815, 6, 18}), "Sunday");  // Waterloo
  EXPECT_EQ(weekday({1999, 3, 3}), "Wednesday");
  EXPECT_EQ(weekday({2000, 2, 29}), "Tuesday");
  EXPECT_EQ(weekday({1582, 10, 15}), "Friday");  // the first day of the calendar
  EXPECT_EQ(weekday({2099, 12, 31}), "Thursday");
}

TEST(Calendar, DaysFollowEachOtherAsInTheSystemsCalendar) {
  const char* names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                         "Thursday", "Friday", "Saturday"};
  const std::int64_t epoch = day_number({1970, 1, 1});
  for (std::time_t day = -30000; day < 60000; ++day) {
    const std::time_t seconds = day * 86400;
    std::tm tm{};
    ASSERT_NE(::gmtime_r(&seconds, &tm), nullptr);
    const Date date{tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday};
    ASSERT_EQ(day_number(date), epoch + day);
    ASSERT_EQ(weekday(date), names[tm.tm_wday]);
  }
  EXPECT_EQ(epoch, 719162);  // the known distance to 0001-01-01
}

TEST(Dates, YearsAreSpokenAsInEnglish) {
  EXPECT_EQ(year_in_words(1999), "nineteen ninety-nine");
  EXPECT_EQ(year_in_words(1905), "nineteen oh five");
  EXPECT_EQ(year_in_words(1900), "nineteen hundred");
  EXPECT_EQ(year_in_words(2000), "two thousand");
  EXPECT_EQ(year_in_words(2005), "two thousand and five");
  EXPECT_EQ(year_in_words(2010), "twenty ten");
  EXPECT_EQ(year_in_words(1066), "ten sixty-six");
  EXPECT_EQ(year_in_words(1100), "eleven hundred");
  EXPECT_EQ(year_in_words(9999), "ninety-nine ninety-nine");
}

TEST(Dates, AreWrittenInManyWays) {
  const Date date{1999, 3, 3};
  const std::vector<std::string> wanted = {
      "the third of march nineteen ninety-nine",
      "march the third, nineteen ninety-nine",
      "wednesday the third of march nineteen ninety-nine",
      "3 March 1999",
      "Wednesday, 3 March 1999",
      "March 3rd, 1999",
      "Wednesday, March 3rd, 1999",
      "3 Mar 1999",
      "Mar 3, 1999",
      "Wed 03.03.1999",
      "03.03.1999",
      "1999 March 3",
  };
  ASSERT_EQ(date_formats(), std::ssize(wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(date_in_words(date, static_cast<std::int64_t>(i)), wanted[i]);
  }
  EXPECT_EQ(iso(date), "1999-03-03");
  EXPECT_EQ(date_in_words({2010, 11, 22}, 5), "November 22nd, 2010");
  EXPECT_EQ(date_in_words({2010, 11, 11}, 5), "November 11th, 2010");
  EXPECT_EQ(date_in_words({2010, 12, 31}, 0), "the thirty-first of december twenty ten");
}

// Reads any of the formats by their words, knowing nothing of how they are made. Returns ISO, and
// "bad ..." when a weekday is not that of Zeller's congruence.
class Reader {
 public:
  Reader() {
    const std::vector<std::string> ones = {
        "one",     "two",     "three",     "four",     "five",    "six",      "seven",
        "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen", "fourteen",
        "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
    const std::vector<std::string> days = {"first",       "second",     "third",      "fourth",
                                           "fifth",       "sixth",      "seventh",    "eighth",
                                           "ninth",       "tenth",      "eleventh",   "twelfth",
                                           "thirteenth",  "fourteenth", "fifteenth",  "sixteenth",
                                           "seventeenth", "eighteenth", "nineteenth", "twentieth"};
    const std::vector<std::string> tens = {"twenty", "thirty",  "forty",  "fifty",
                                           "sixty",  "seventy", "eighty", "ninety"};
    for (std::size_t i = 0; i < ones.size(); ++i) cardinals_[ones[i]] = static_cast<int>(i) + 1;
    for (std::size_t i = 0; i < days.size(); ++i) ordinals_[days[i]] = static_cast<int>(i) + 1;
    ordinals_["thirtieth"] = 30;
    for (std::size_t t = 0; t < tens.size(); ++t) {
      const int value = 10 * (static_cast<int>(t) + 2);
      cardinals_[tens[t]] = value;
      for (std::size_t i = 0; i < 9; ++i) {
        cardinals_[tens[t] + "-" + ones[i]] = value + static_cast<int>(i) + 1;
        if (value <= 30) ordinals_[tens[t] + "-" + days[i]] = value + static_cast<int>(i) + 1;
      }
    }
  }

  std::string operator()(std::string text) const {
    for (char& c : text) c = c == ',' || c == '.' ? ' ' : static_cast<char>(std::tolower(c));
    int year = 0, month = 0, day = 0, wanted_weekday = -1;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (std::isdigit(static_cast<unsigned char>(word[0]))) {
        const int number = std::stoi(word);
        (number >= 1000 ? year : day == 0 ? day : month) = number;
      } else if (ordinals_.contains(word)) {
        day = ordinals_.at(word);
      } else if (cardinals_.contains(word)) {
        year = add(year, cardinals_.at(word));
      } else if (word == "hundred") {
        year *= 100;
      } else if (word == "thousand") {
        year *= 1000;
      } else if (word == "oh") {
        year *= 10;  // and times ten again with the digit
      } else if (const int m = place(word, kMonths); m >= 0) {
        month = m + 1;
      } else if (const int d = place(word, kDays); d >= 0) {
        wanted_weekday = d;
      } else {
        EXPECT_TRUE(word == "the" || word == "of" || word == "and") << word;
      }
    }
    if (wanted_weekday >= 0 && wanted_weekday != zeller(year, month, day)) return "bad weekday";
    char iso[40];
    std::snprintf(iso, sizeof iso, "%04d-%02d-%02d", year, month, day);
    return iso;
  }

 private:
  // "nineteen" "ninety-nine"; "nineteen" "oh" "five"; "two" "thousand" "five".
  static int add(int year, int number) {
    if (year == 0) return number;
    if (year >= 1000) return year + number;
    if (year >= 100) return year * 10 + number;  // behind "oh"
    return year * 100 + number;
  }
  // Where the first three letters stand in the list.
  static constexpr auto kMonths = "jan feb mar apr may jun jul aug sep oct nov dec";
  static constexpr auto kDays = "sat sun mon tue wed thu fri";
  static int place(const std::string& word, const std::string& list) {
    if (word.size() < 3) return -1;
    const std::size_t found = list.find(word.substr(0, 3));
    return found == std::string::npos || found % 4 != 0 ? -1 : static_cast<int>(found / 4);
  }
  static int zeller(int year, int month, int day) {  // 0: Saturday
    if (month < 3) {
      month += 12;
      --year;
    }
    const int k = year % 100;
    const int j = year / 100;
    return (day + 13 * (month + 1) / 5 + k + k / 4 + j / 4 + 5 * j) % 7;
  }

  std::map<std::string, int> cardinals_;
  std::map<std::string, int> ordinals_;
};

TEST(Dates, EveryFormatOfEveryDayReadsBack) {
  const Reader read;
  for (const std::int64_t year :
       {1000, 1066, 1583, 1900, 1905, 1910, 1999, 2000, 2001, 2010, 2024}) {
    for (std::int64_t month = 1; month <= 12; ++month) {
      for (std::int64_t day = 1; day <= days_in_month(year, month); ++day) {
        for (std::int64_t format = 0; format < date_formats(); ++format) {
          const std::string words = date_in_words({year, month, day}, format);
          ASSERT_EQ(read(words), iso({year, month, day})) << words;
        }
      }
    }
  }
}

TEST(Dates, EveryYearReadsBack) {
  const Reader read;
  for (std::int64_t year = 1000; year <= 9999; ++year) {
    ASSERT_EQ(read(date_in_words({year, 6, 15}, 0)), iso({year, 6, 15}));
  }
}

TEST(DatePairs, AreRightAndTheSameForTheSameSeed) {
  const Reader read;
  const SentencePairs pairs = date_pairs({.count = 3000, .seed = 5});
  ASSERT_EQ(pairs.source.size(), 3000u);
  for (std::size_t i = 0; i < 3000; ++i) EXPECT_EQ(read(pairs.source[i]), pairs.target[i]);
  EXPECT_EQ(date_pairs({.count = 3000, .seed = 5}).source, pairs.source);
  EXPECT_NE(date_pairs({.count = 3000, .seed = 6}).source, pairs.source);
  EXPECT_EQ(pairs.target_name, "iso");
}

TEST(DatePairs, NoHeldOutDateIsInTraining) {
  const SentencePairs training = date_pairs({.count = 100000, .seed = 1});
  const SentencePairs check = date_pairs({.count = 5000, .set = DateSet::held_out, .seed = 1});
  const std::set<std::string> seen(training.target.begin(), training.target.end());
  for (const std::string& date : check.target) EXPECT_FALSE(seen.contains(date)) << date;
  EXPECT_GT(std::set<std::string>(check.target.begin(), check.target.end()).size(), 3000u);
}

TEST(DatePairs, AboutOneDateInTenIsHeldOut) {
  std::int64_t held_out = 0;
  std::int64_t all = 0;
  for (std::int64_t year = 1900; year < 2100; ++year) {
    for (std::int64_t month = 1; month <= 12; ++month) {
      for (std::int64_t day = 1; day <= days_in_month(year, month); ++day, ++all) {
        held_out += set_of({year, month, day}) == DateSet::held_out;
      }
    }
  }
  // Five deviations of a binomial of 73049 days at 0.1 are 405.
  EXPECT_EQ(all, 73049);
  EXPECT_NEAR(static_cast<double>(held_out), 7305, 405);
}

TEST(DatePairs, StayInTheirYears) {
  const SentencePairs pairs = date_pairs({.count = 200, .first_year = 1987, .last_year = 1987});
  for (const std::string& date : pairs.target) EXPECT_EQ(date.substr(0, 5), "1987-");
}

TEST(Dates, RefusesWhatDoesNotExist) {
  EXPECT_THAT(error_of([] {
                iso({1999, 2, 29});
              }),
              HasSubstr("[date.day] must be in 1 .. 28, got 29"));
  EXPECT_THAT(error_of([] {
                weekday({1999, 13, 1});
              }),
              HasSubstr("[date.month] must be in 1 .. 12, got 13"));
  EXPECT_THAT(error_of([] {
                day_number({999, 1, 1});
              }),
              HasSubstr("[date.year] must be in 1000 .. 9999, got 999"));
  EXPECT_THROW(year_in_words(10000), Error);
  EXPECT_THAT(error_of([] { date_in_words({}, 12); }),
              HasSubstr("[date.format] must be in 0 .. 11, got 12"));
  EXPECT_THAT(error_of([] { date_pairs({.count = 0}); }), HasSubstr("[dates.count]"));
  EXPECT_THAT(error_of([] { date_pairs({.first_year = 2000, .last_year = 1999}); }),
              HasSubstr("[dates.first_year] must be from 1000 to last_year"));
  EXPECT_THAT(error_of([] { date_pairs({.set = static_cast<DateSet>(4)}); }),
              HasSubstr("[dates.set] must be training or held_out"));
}

}  // namespace
}  // namespace sextant

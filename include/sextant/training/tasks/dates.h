// Makes the pairs of a small translation task: dates in words, and the same dates in ISO 8601.
//   "the third of march nineteen ninety-nine" -> "1999-03-03"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/text/pairs.h"

namespace sextant {

// A day of the Gregorian calendar, also before it was in use.
struct Date {
  std::int64_t year = 2000;  // 1000 .. 9999
  std::int64_t month = 1;    // 1 .. 12
  std::int64_t day = 1;      // 1 .. days_in_month()

  friend bool operator==(const Date&, const Date&) = default;
};

// Functions of a Date throw Error for one that does not exist.
bool is_leap_year(std::int64_t year);
std::int64_t days_in_month(std::int64_t year, std::int64_t month);
std::int64_t day_number(const Date& date);  // days since 0001-01-01, a Monday
std::string weekday(const Date& date);      // "Monday" .. "Sunday"
std::string iso(const Date& date);          // "1999-03-03"

// Returns "nineteen oh five" for 1905, "nineteen hundred" for 1900, "two thousand and five" for
// 2005, "twenty ten" for 2010.
std::string year_in_words(std::int64_t year);

// Returns the date in one of the formats 0 .. date_formats() - 1. Each has day, month and the whole
// year, so each can be read back. Throws Error for another format.
std::int64_t date_formats();
std::string date_in_words(const Date& date, std::int64_t format);

// A hash of the date assigns it to one of two sets: about one in ten is held out. So no held-out
// date is in the training data, in any format or with any seed.
enum class DateSet { training, held_out };
DateSet set_of(const Date& date);

struct DateTask {
  std::int64_t count = 20000;  // 1 .. 10000000 pairs
  DateSet set = DateSet::training;
  std::int64_t first_year = 1900;  // 1000 .. last_year
  std::int64_t last_year = 2099;   // .. 9999
  std::uint32_t seed = 0;
};

// Returns dates and formats drawn at random, the same for the same task. Throws Error for options
// out of range or years without a date of the set.
SentencePairs date_pairs(const DateTask& task = {});

}  // namespace sextant

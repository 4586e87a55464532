// The calendar, English dates, and pairs drawn from both.
#include "sextant/training/tasks/dates.h"

#include <array>

#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

constexpr std::array kWeekdays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                  "Friday", "Saturday", "Sunday"};
constexpr std::array kMonths = {"January",   "February", "March",    "April",
                                "May",       "June",     "July",     "August",
                                "September", "October",  "November", "December"};
constexpr std::array kNumbers = {"",        "one",     "two",       "three",    "four",
                                 "five",    "six",     "seven",     "eight",    "nine",
                                 "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                 "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array kTens = {"",      "",      "twenty",  "thirty", "forty",
                              "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array kOrdinals = {
    "",           "first",     "second",    "third",       "fourth",     "fifth",      "sixth",
    "seventh",    "eighth",    "ninth",     "tenth",       "eleventh",   "twelfth",    "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"};

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::string below_hundred(std::int64_t number) {
  if (number < 20) return kNumbers[at(number)];
  const std::string tens = kTens[at(number / 10)];
  return number % 10 == 0 ? tens : tens + '-' + kNumbers[at(number % 10)];
}

std::string ordinal_in_words(std::int64_t day) {
  if (day <= 20) return kOrdinals[at(day)];
  if (day == 30) return "thirtieth";
  return std::string(kTens[at(day / 10)]) + '-' + kOrdinals[at(day % 10)];
}

std::string with_suffix(std::int64_t day) {
  const bool is_teen = day / 10 == 1;
  const char* suffix = is_teen         ? "th"
                       : day % 10 == 1 ? "st"
                       : day % 10 == 2 ? "nd"
                       : day % 10 == 3 ? "rd"
                                       : "th";
  return std::to_string(day) + suffix;
}

std::string two_digits(std::int64_t number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

// Names are ASCII.
std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

void check_year(std::int64_t year) {
  if (year < 1000 || year > 9999) {
    throw Error("date.year", "must be in 1000 .. 9999, got " + std::to_string(year));
  }
}

void check(const Date& date) {
  const std::int64_t days = days_in_month(date.year, date.month);
  if (date.day < 1 || date.day > days) {
    throw Error("date.day",
                "must be in 1 .. " + std::to_string(days) + ", got " + std::to_string(date.day));
  }
}

// One way to write a date; all that is written is a part of it.
struct Parts {
  std::string weekday;
  std::string month;
  std::string day;
  std::string year;
  std::string ordinal;
  std::string year_words;
  std::string numbers;  // 03.03.1999
};

using Format = std::string (*)(const Parts&);
constexpr Format kFormats[] = {
    [](const Parts& p) {
      return "the " + p.ordinal + " of " + lower(p.month) + " " + p.year_words;
    },
    [](const Parts& p) { return lower(p.month) + " the " + p.ordinal + ", " + p.year_words; },
    [](const Parts& p) {
      return lower(p.weekday) + " the " + p.ordinal + " of " + lower(p.month) + " " + p.year_words;
    },
    [](const Parts& p) { return p.day + " " + p.month + " " + p.year; },
    [](const Parts& p) { return p.weekday + ", " + p.day + " " + p.month + " " + p.year; },
    [](const Parts& p) { return p.month + " " + with_suffix(std::stoll(p.day)) + ", " + p.year; },
    [](const Parts& p) {
      return p.weekday + ", " + p.month + " " + with_suffix(std::stoll(p.day)) + ", " + p.year;
    },
    [](const Parts& p) { return p.day + " " + p.month.substr(0, 3) + " " + p.year; },
    [](const Parts& p) { return p.month.substr(0, 3) + " " + p.day + ", " + p.year; },
    [](const Parts& p) { return p.weekday.substr(0, 3) + " " + p.numbers; },
    [](const Parts& p) { return p.numbers; },
    [](const Parts& p) { return p.year + " " + p.month + " " + p.day; },
};

}  // namespace

bool is_leap_year(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

std::int64_t days_in_month(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  check_year(year);
  if (month < 1 || month > 12) {
    throw Error("date.month", "must be in 1 .. 12, got " + std::to_string(month));
  }
  return month == 2 && is_leap_year(year) ? 29 : kDays[at(month - 1)];
}

std::int64_t day_number(const Date& date) {
  check(date);
  const std::int64_t before = date.year - 1;
  std::int64_t days = 365 * before + before / 4 - before / 100 + before / 400;
  for (std::int64_t month = 1; month < date.month; ++month) days += days_in_month(date.year, month);
  return days + date.day - 1;
}

std::string weekday(const Date& date) { return kWeekdays[at(day_number(date) % 7)]; }

std::string iso(const Date& date) {
  check(date);
  return std::to_string(date.year) + '-' + two_digits(date.month) + '-' + two_digits(date.day);
}

std::string year_in_words(std::int64_t year) {
  check_year(year);
  const std::int64_t rest = year % 100;
  if (year % 1000 < 10) {
    const std::string thousands = below_hundred(year / 1000) + " thousand";
    return rest == 0 ? thousands : thousands + " and " + below_hundred(rest);
  }
  const std::string hundreds = below_hundred(year / 100);
  if (rest == 0) return hundreds + " hundred";
  return hundreds + (rest < 10 ? " oh " : " ") + below_hundred(rest);
}

std::int64_t date_formats() { return std::ssize(kFormats); }

std::string date_in_words(const Date& date, std::int64_t format) {
  if (format < 0 || format >= date_formats()) {
    throw Error("date.format", "must be in 0 .. " + std::to_string(date_formats() - 1) + ", got " +
                                   std::to_string(format));
  }
  check(date);
  const std::string year = std::to_string(date.year);
  return kFormats[format](
      {.weekday = weekday(date),
       .month = kMonths[at(date.month - 1)],
       .day = std::to_string(date.day),
       .year = year,
       .ordinal = ordinal_in_words(date.day),
       .year_words = year_in_words(date.year),
       .numbers = two_digits(date.day) + '.' + two_digits(date.month) + '.' + year});
}

DateSet set_of(const Date& date) {
  // The finalizer of MurmurHash3 spreads neighbouring days.
  auto hash = static_cast<std::uint64_t>(day_number(date));
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDu;
  hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53u;
  return (hash ^ (hash >> 33)) % 10 == 0 ? DateSet::held_out : DateSet::training;
}

SentencePairs date_pairs(const DateTask& task) {
  if (task.count < 1 || task.count > 10'000'000) {
    throw Error("dates.count", "must be in 1 .. 10000000, got " + std::to_string(task.count));
  }
  if (task.first_year < 1000 || task.last_year > 9999 || task.first_year > task.last_year) {
    throw Error("dates.first_year",
                "must be from 1000 to last_year, and last_year at most 9999, got " +
                    std::to_string(task.first_year) + " .. " + std::to_string(task.last_year));
  }
  std::vector<Date> dates;
  for (Date date{task.first_year, 1, 1}; date.year <= task.last_year; ++date.year) {
    for (date.month = 1; date.month <= 12; ++date.month) {
      const std::int64_t days = days_in_month(date.year, date.month);
      for (date.day = 1; date.day <= days; ++date.day) {
        if (set_of(date) == task.set) dates.push_back(date);
      }
    }
  }
  if (dates.empty()) throw Error("dates.set", "must be training or held_out");
  NumpyRandom random(task.seed);
  const auto draw = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random.uniform() * static_cast<double>(count));
  };
  SentencePairs pairs{.source_name = "words", .target_name = "iso"};
  for (std::int64_t i = 0; i < task.count; ++i) {
    const Date& date = dates[at(draw(std::ssize(dates)))];
    pairs.source.push_back(date_in_words(date, draw(date_formats())));
    pairs.target.push_back(iso(date));
  }
  return pairs;
}

}  // namespace sextant

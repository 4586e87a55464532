// How a finding is told.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace sextant::fuzz {

// Numbers around an exact one.
struct Interval {
  double least, most;
};

// Stops the fuzzer with a line that tells what is wrong where.
template <class... Numbers>
void check(bool good, const char* what, Numbers... numbers) {
  if (good) return;
  std::fprintf(stderr, "%s:", what);
  (std::fprintf(stderr, " %.9g", static_cast<double>(numbers)), ...);
  std::fprintf(stderr, "\n");
  std::abort();
}

// Whether a stored element is in an interval, after the rounding to its type.
template <class T>
bool in(T value, Interval interval) {
  const auto x = static_cast<double>(value);
  return x >= static_cast<double>(T(interval.least)) && x <= static_cast<double>(T(interval.most));
}

}  // namespace sextant::fuzz

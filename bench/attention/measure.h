// Measures one case, alternating with those it is compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/cases.h"

namespace sextant::bench {

struct Timing {
  double best = 0, median = 0;  // seconds per call
  double amount = 0;            // what one call does, in operations or bytes
  double rate() const { return amount / best; }
  double median_rate() const { return amount / median; }
};

struct Measured {
  Timing run, yardstick;
  std::string yardstick_name{};
  std::optional<Timing> plain;
  double others = 0;  // share of the cores that other processes used meanwhile
  std::vector<double> check;
};

// Warms up, then takes rounds of yardstick, case, plain case and yardstick again for that long,
// five rounds at least; three where they take more than four times as long. Calls shorter than a
// millisecond are timed several at a time.
Measured measure(const Prepared& prepared, int threads, double seconds);

// Peak growth of memory during the first call of the case in a new process, bytes; negative where
// it cannot be known. Only arrays, threads and code were there before, so scratch that is kept
// counts. `program` and `flags` start this benchmark again.
double growth_in_new_process(const std::string& flags, const std::string& name, int threads);

// The other side of it: prints the bytes.
void print_growth(const Problem& problem, int threads);

}  // namespace sextant::bench

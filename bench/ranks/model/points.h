// Measured points, as `bench/ranks --points` prints them, and the machine fitted to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/ranks/plan.h"

namespace sextant::ranks::model {

struct MessagePoint {
  double bytes, seconds;
};
struct CallPoint {
  int ranks;
  std::int64_t length;
  double seconds;
};

// What was measured over one network.
struct Measured {
  std::string network;
  std::vector<MessagePoint> messages;
  std::vector<CallPoint> calls;
};

// From a file of lines of JSON. Throws Error that names the file.
Measured read_points(const std::string& network, const std::string& path);

// Errors of predictions of points that took no part in a fit: predicted / measured - 1.
struct Errors {
  double median = 0, largest = 0;  // of their magnitudes
  std::size_t count = 0;
};
Errors errors_of(std::vector<double> ratios);

// The prediction of ranks::plan_for() for a causal call of one head of 64 in a ring, as measured.
double predicted(const CallPoint& point, const Machine& machine);

// Multiply-adds per second from every second call of one rank, over all networks.
double fit_arithmetic(const std::vector<Measured>& all);
// Latency from every second small message, bytes per second from every second large one: medians.
Machine fit_network(const Measured& measured, double multiply_adds);

// Of the points that the fits left out: calls of one rank, messages, calls of several ranks (none
// of which is fitted).
Errors held_back_arithmetic(const std::vector<Measured>& all, double multiply_adds);
Errors held_back_messages(const Measured& measured, const Machine& machine);
Errors held_back_calls(const Measured& measured, const Machine& machine);

}  // namespace sextant::ranks::model

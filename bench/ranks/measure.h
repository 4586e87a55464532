// What the programs of bench/ranks share: arrays of any length, and times of one rank and of all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "sextant/ranks.h"

namespace sextant::ranks::bench {

double now();

// Rows of an array of any length, [1, heads, own, 64], the same whichever rank makes them.
Tensor<float> rows_of(std::int64_t heads, const ShardLayout& layout, int rank, std::uint64_t seed);

// One sharding's arrays and results.
struct Arrays {
  Arrays(std::int64_t heads, const ShardLayout& layout, int rank);
  Tensor<float> q, k, v, dout, out, dq, dk, dv, logs;
};

// Rank 0 works, the others sleep, so that it has its core for itself; then all go on together.
void while_others_sleep(const Communicator& comm, const std::function<void()>& work);

struct Times {
  double best = 1e300, waited = 0;
  void add(double seconds, double wait) {
    if (seconds >= best) return;
    best = seconds;
    waited = wait;
  }
};

// The time of all ranks: until the last is done.
void measure(const Communicator& comm, Times& times, const std::function<void()>& work);

// Strong and weak scaling of a causal call, forward and backward.
void scaling(const Communicator& comm, std::int64_t length, std::int64_t heads, int repeat);
// One causal forward call, its memory, and its ends beside one process.
void long_sequence(const Communicator& comm, std::int64_t length);
// Lines of JSON to which a model of time is fitted: messages, and causal forward calls.
void points(const Communicator& comm, std::int64_t longest, int repeat);

}  // namespace sextant::ranks::bench

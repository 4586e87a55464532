// Results of one row over several sets of keys become the result over all of them:
// out = sum of out_n exp(l_n - l), l = log(sum of exp(l_n)), l_n the log-sum-exp of each set.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"

namespace sextant::ranks {

// Sums so far: out [batch, heads, rows, v_dim], logs [batch, heads, rows]; logs of -infinity have
// no keys yet, and their `out` may hold anything.
struct Sums {
  View<float> out;
  View<double> logs;
};

// Adds a result over further keys. A weight that is 0 adds nothing, for any values.
void merge(const Sums& sums, View<const float> out, View<const float> logs, int threads);

// The first result of rows, which `sums.out` holds already.
void begin(const Sums& sums, View<const float> logs);

// Adds the sinks, one logit per head with a value of zeros, and makes rows without keys zeros.
void finish(const Sums& sums, std::span<const double> sinks);

}  // namespace sextant::ranks

// Trains a case, round by round, with the time it takes.
#pragma once

#include <memory>

#include "core/json/json.h"
#include "training/cases.h"

namespace sextant::bench {

class Rounds {
 public:
  virtual ~Rounds() = default;
  virtual std::int64_t parameters() = 0;  // how many numbers are learned
  // Makes so many rounds: {"seconds": of each, "loss": per target, of the last, "parts": {name:
  // seconds}, of all rounds together}.
  virtual Json run(int rounds) = 0;
};

// Weights, gradients and optimiser are made; nothing has run yet.
std::unique_ptr<Rounds> make_rounds(const TrainingCase& test, int threads);

// The multiply-add peak of so many threads: the best of some milliseconds.
double peak_rate(int threads);

}  // namespace sextant::bench

// Declares the thread that asks MPI about pending exchanges while the caller computes. Most MPI
// libraries move long messages only inside calls.
#pragma once

#include <memory>

#include "ranks/mpi/calls.h"

namespace sextant::ranks {

// Has the thread look after an exchange until it is done. With mpi_mutex() not held.
void progress_in_background(std::shared_ptr<Exchange::State> exchange);

// Ends the thread, if it runs: before MPI ends.
void stop_progress();

// Gives the processor to others between two questions to MPI: the first ones in quick succession,
// then with growing pauses, up to 0.1 ms.
class Backoff {
 public:
  void pause();

 private:
  int asked_ = 0;
};

}  // namespace sextant::ranks

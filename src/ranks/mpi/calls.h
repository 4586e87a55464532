// Calls of MPI: one at a time in the process, and an Error where one fails.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

inline constexpr std::size_t kPiece = std::size_t{1} << 30;  // bytes; MPI counts in int

// Held during every call of MPI. Calls that would wait are begun under it and asked about under it
// again and again, so that a thread that waits keeps no other one out.
std::mutex& mpi_mutex();

// Returns MPI's text of an error code.
std::string mpi_text(int code);

// Throws Error("ranks", "rank R: what: MPI's reason") unless the code is MPI_SUCCESS.
void check_mpi(int code, int rank, const std::string& what);

struct Communicator::State {
  MPI_Comm comm = MPI_COMM_NULL;
  double seconds_waited = 0;

  explicit State(MPI_Comm of) : comm(of) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
};

// Requests that belong together.
struct Exchange::State {
  std::vector<MPI_Request> requests;
  std::vector<int> peers;  // the other rank of each request
  int rank = 0;
  bool done = false;  // the three are guarded by mpi_mutex()
  int code = MPI_SUCCESS;
  int failed_peer = -1;
  std::shared_ptr<Communicator::State> of;

  // Asks MPI, with the mutex held. Returns true if nothing is pending any more.
  bool test();
};

// Waits for requests of one collective call; adds to the communicator's seconds.
void wait(Communicator::State& state, MPI_Request request, int rank, const char* what);

}  // namespace sextant::ranks

// Starts and ends MPI.
#pragma once

#include <memory>

#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

// Starts MPI, unless the program has done so, and ends it if it has started it. A program has one
// session, made by the thread that makes all calls on communicators. Throws Error if MPI cannot
// start, and if it does not support calls from several threads, one at a time
// (MPI_THREAD_SERIALIZED).
//
// A rank that ends while another waits for it would leave that one waiting forever. Therefore a
// session that is left by an exception does not report to MPI that this rank is done: when the
// process ends, the launcher ends all others. abort() does that at once.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Returns all ranks that were started together (MPI_COMM_WORLD), duplicated, so that no other
  // messages interfere. Valid until the session ends.
  const Communicator& world() const noexcept { return *world_; }

  // Ends all ranks. The caller must print its message before.
  [[noreturn]] static void abort(int code = 1) noexcept;

 private:
  std::unique_ptr<Communicator> world_;
  bool started_ = false;
  int exceptions_ = 0;  // exceptions being handled when the session began
};

// Whether a launcher (mpirun, srun) started this process as one of several ranks.
bool launched_as_ranks() noexcept;

}  // namespace sextant::ranks

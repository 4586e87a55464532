// Starting and ending MPI.
#pragma once

#include <memory>

#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

// Starts MPI, unless the program has done so itself, and ends what it started. One per program,
// made by the thread that makes all calls on communicators. Throws Error when MPI cannot start, and
// when it has no support for calls from several threads, one at a time (MPI_THREAD_SERIALIZED).
//
// A rank that ends while another still waits for it would leave that one waiting for ever. So a
// session that is left by an exception does not say to MPI that this rank is done: when the process
// ends, the launcher ends all others. abort() does that at once.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // All ranks that were started together (MPI_COMM_WORLD), duplicated: no message of others gets
  // in. Valid until the session ends.
  const Communicator& world() const noexcept { return *world_; }

  // Ends all ranks. What is to be said, the caller has said.
  [[noreturn]] static void abort(int code = 1) noexcept;

 private:
  std::unique_ptr<Communicator> world_;
  bool started_ = false;
  int exceptions_ = 0;  // being handled when the session began
};

// Whether a launcher (mpirun, srun) started this process as one of several ranks.
bool launched_as_ranks() noexcept;

}  // namespace sextant::ranks

// MPI's answers: errors as text, requests that are complete.
#include "ranks/mpi/calls.h"

#include <array>

#include "ranks/mpi/progress.h"
#include "sextant/core/error.h"

namespace sextant::ranks {

std::mutex& mpi_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string mpi_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "unknown MPI error";
  return std::string(text.data(), static_cast<std::size_t>(length));
}

void check_mpi(int code, int rank, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  throw Error("ranks", "rank " + std::to_string(rank) + ": " + what + ": " + mpi_text(code));
}

Communicator::State::~State() {
  const std::lock_guard lock(mpi_mutex());
  int ended = 0;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended) MPI_Comm_free(&comm);
}

bool Exchange::State::test() {
  if (done) return true;
  int flag = 0;
  std::vector<MPI_Status> statuses(requests.size());
  const int problem =
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, statuses.data());
  if (problem != MPI_SUCCESS) {
    code = problem;
    for (std::size_t i = 0; i < statuses.size() && problem == MPI_ERR_IN_STATUS; ++i) {
      const int own = statuses[i].MPI_ERROR;
      if (own == MPI_SUCCESS || own == MPI_ERR_PENDING) continue;
      code = own;
      failed_peer = peers[i];
      break;
    }
  }
  done = flag != 0 || problem != MPI_SUCCESS;
  return done;
}

void wait(Communicator::State& state, MPI_Request request, int rank, const char* what) {
  const double start = MPI_Wtime();
  Backoff backoff;
  int code = MPI_SUCCESS;
  for (int done = 0; done == 0 && code == MPI_SUCCESS;) {
    {
      const std::lock_guard lock(mpi_mutex());
      code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (done == 0) backoff.pause();
  }
  state.seconds_waited += MPI_Wtime() - start;
  check_mpi(code, rank, what);
}

}  // namespace sextant::ranks

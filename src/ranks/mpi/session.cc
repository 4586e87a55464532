// MPI's beginning and end, and groups of ranks.
#include "sextant/ranks/session.h"

#include <cstdlib>
#include <exception>

#include "ranks/mpi/calls.h"
#include "ranks/mpi/progress.h"
#include "sextant/core/error.h"

namespace sextant::ranks {
namespace {

// Failures come back as codes instead of ending the program.
MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), 0, "MPI_Comm_dup");
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

}  // namespace

Session::Session() : exceptions_(std::uncaught_exceptions()) {
  int running = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (ended) throw Error("ranks", "MPI has ended and cannot start a second time");
  if (running) {
    MPI_Query_thread(&level);
  } else {
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), 0, "MPI_Init");
    started_ = true;
  }
  if (level < MPI_THREAD_SERIALIZED) {
    throw Error("ranks", "MPI must allow calls from several threads, one at a time");
  }
  MPI_Comm all = MPI_COMM_WORLD;
  world_ = std::make_unique<Communicator>(Communicator::from(&all));
}

Session::~Session() {
  stop_progress();
  if (std::uncaught_exceptions() > exceptions_) return;
  world_.reset();
  int ended = 0;
  MPI_Finalized(&ended);
  if (started_ && !ended) MPI_Finalize();
}

void Session::abort(int code) noexcept {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

bool launched_as_ranks() noexcept {
  // Open MPI; MPICH and those made of it, Slurm with either interface.
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK"}) {
    if (std::getenv(size) != nullptr) return true;
  }
  return false;
}

Communicator::Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {
  check_mpi(MPI_Comm_rank(state_->comm, &rank_), 0, "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(state_->comm, &size_), rank_, "MPI_Comm_size");
}

Communicator Communicator::from(void* mpi_comm) {
  const std::lock_guard lock(mpi_mutex());
  return Communicator(std::make_shared<State>(duplicate_of(*static_cast<MPI_Comm*>(mpi_comm))));
}

Communicator Communicator::duplicate() const {
  const std::lock_guard lock(mpi_mutex());
  return Communicator(std::make_shared<State>(duplicate_of(state_->comm)));
}

Communicator Communicator::split(int color, int key) const {
  const std::lock_guard lock(mpi_mutex());
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(state_->comm, color, key, &part), rank_, "MPI_Comm_split");
  return Communicator(std::make_shared<State>(part));
}

void* Communicator::handle() const noexcept { return &state_->comm; }

double Communicator::seconds_waited() const noexcept { return state_->seconds_waited; }

}  // namespace sextant::ranks

// Implements pending sends and receives.
#include <algorithm>
#include <string>
#include <utility>

#include "ranks/mpi/calls.h"
#include "ranks/mpi/progress.h"
#include "sextant/core/error.h"

namespace sextant::ranks {
Exchange::Exchange(Exchange&& other) noexcept
    : state_(std::move(other.state_)), waited_(other.waited_) {}

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(waited_, other.waited_);
  return *this;
}

Exchange::~Exchange() {
  try {
    finish();
  } catch (const Error&) {  // finish() was not called, and nothing is pending any more
  }
}

bool Exchange::done() const {
  if (state_ == nullptr) return true;
  const std::lock_guard lock(mpi_mutex());
  return state_->test();
}

void Exchange::finish() {
  if (state_ == nullptr) return;
  const std::shared_ptr<State> state = std::exchange(state_, nullptr);
  const double start = MPI_Wtime();
  Backoff backoff;
  while (true) {
    {
      const std::lock_guard lock(mpi_mutex());
      if (state->test()) break;
    }
    backoff.pause();
  }
  waited_ = MPI_Wtime() - start;
  state->of->seconds_waited += waited_;
  check_mpi(state->code, state->rank,
            "a message from or to rank " + std::to_string(state->failed_peer) + " was lost");
}

Exchange Communicator::start(std::span<const Outgoing> sends,
                             std::span<const Incoming> receives) const {
  Exchange exchange;
  auto state = std::make_shared<Exchange::State>();
  state->rank = rank_;
  state->of = state_;
  const auto begin = [&](auto bytes, int peer, const auto& call) {
    if (peer < 0 || peer >= size_) {
      throw Error("ranks.rank",
                  "must be in 0 .. " + std::to_string(size_ - 1) + ", got " + std::to_string(peer));
    }
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
      state->requests.push_back(MPI_REQUEST_NULL);
      state->peers.push_back(peer);
      const std::lock_guard lock(mpi_mutex());
      check_mpi(call(piece, &state->requests.back()), rank_,
                "a message from or to rank " + std::to_string(peer) + " could not be begun");
    }
  };
  exchange.state_ = state;  // from this line on its destructor waits
  for (const Incoming& in : receives) {
    begin(in.bytes, in.from, [&](std::span<std::byte> piece, MPI_Request* request) {
      return MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, in.from, in.tag,
                       state_->comm, request);
    });
  }
  for (const Outgoing& out : sends) {
    begin(out.bytes, out.to, [&](std::span<const std::byte> piece, MPI_Request* request) {
      return MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, out.to, out.tag,
                       state_->comm, request);
    });
  }
  if (!state->requests.empty()) progress_in_background(state);
  return exchange;
}

void Communicator::send(int to, std::span<const std::byte> bytes, int tag) const {
  const Outgoing out[] = {{to, bytes, tag}};
  start(out, {}).finish();
}

void Communicator::receive(int from, std::span<std::byte> bytes, int tag) const {
  const Incoming in[] = {{from, bytes, tag}};
  start({}, in).finish();
}

int Communicator::probe(int tag) const {
  const std::lock_guard lock(mpi_mutex());
  int found = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, state_->comm, &found, &status), rank_, "probe");
  return found != 0 ? status.MPI_SOURCE : -1;
}

}  // namespace sextant::ranks

// Implements the calls that all ranks of a group make together.
#include <algorithm>

#include "ranks/mpi/calls.h"

namespace sextant::ranks {
namespace {

constexpr int kExchangeTag = 1025, kSumTag = 1026;  // beyond those of callers

}  // namespace

void Communicator::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::lock_guard lock(mpi_mutex());
    check_mpi(MPI_Ibarrier(state_->comm, &request), rank_, "barrier");
  }
  wait(*state_, request, rank_, "barrier");
}

void Communicator::broadcast(int from, std::span<std::byte> bytes) const {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(mpi_mutex());
      check_mpi(MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from,
                           state_->comm, &request),
                rank_, "broadcast");
    }
    wait(*state_, request, rank_, "broadcast");
  }
}

void Communicator::exchange(const std::vector<std::span<const std::byte>>& out,
                            const std::vector<std::span<std::byte>>& in) const {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int step = 1; step < size_; ++step) {  // each rank begins with another neighbour
    const int to = (rank_ + step) % size_, from = (rank_ + size_ - step) % size_;
    sends.push_back({to, out[static_cast<std::size_t>(to)], kExchangeTag});
    receives.push_back({from, in[static_cast<std::size_t>(from)], kExchangeTag});
  }
  Exchange under_way = start(sends, receives);
  const auto own = static_cast<std::size_t>(rank_);
  std::copy(out[own].begin(), out[own].end(), in[own].begin());
  under_way.finish();
}

void Communicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  constexpr std::size_t kShort = 1 << 16;  // of which MPI's own trees take the fewest steps
  if (mine.size() <= kShort) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(mpi_mutex());
      const int count = static_cast<int>(mine.size());
      check_mpi(MPI_Iallgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE,
                               state_->comm, &request),
                rank_, "all_gather");
    }
    wait(*state_, request, rank_, "all_gather");
    return;
  }
  std::vector<std::span<std::byte>> in;
  for (std::size_t r = 0; r < static_cast<std::size_t>(size_); ++r) {
    in.push_back(all.subspan(r * mine.size(), mine.size()));
  }
  exchange(std::vector(in.size(), mine), in);
}

std::vector<std::vector<std::byte>> Communicator::all_gather(
    std::span<const std::byte> mine) const {
  const std::uint64_t size = mine.size();
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size_));
  all_gather(std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(sizes)));
  std::vector<std::vector<std::byte>> all(sizes.size());
  std::vector<std::span<std::byte>> in;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    all[r].resize(sizes[r]);
    in.emplace_back(all[r]);
  }
  exchange(std::vector(in.size(), mine), in);
  return all;
}

// Rank r is a leaf; with step 1, 2, 4, ... a rank that is a multiple of 2 step adds the sum of rank
// r + step. Rank 0 then has the root and sends it to all.
template <class T>
void Communicator::sum(std::span<T> values) const {
  std::vector<T> other(rank_ % 2 == 0 ? values.size() : 0);
  for (int step = 1; step < size_; step *= 2) {
    if (rank_ % (2 * step) != 0) {
      send(rank_ - step, std::as_bytes(values), kSumTag);
      break;
    }
    if (rank_ + step >= size_) continue;
    receive(rank_ + step, std::as_writable_bytes(std::span(other)), kSumTag);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other[i];
  }
  broadcast(0, std::as_writable_bytes(values));
}

void Communicator::all_reduce(std::span<float> values) const { sum(values); }
void Communicator::all_reduce(std::span<double> values) const { sum(values); }
void Communicator::all_reduce(std::span<std::int64_t> values) const { sum(values); }

std::int64_t Communicator::largest(std::int64_t value) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
  all_gather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)));
  return *std::max_element(all.begin(), all.end());
}

double Communicator::largest(double value) const {
  std::vector<double> all(static_cast<std::size_t>(size_));
  all_gather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)));
  return *std::max_element(all.begin(), all.end());
}

}  // namespace sextant::ranks

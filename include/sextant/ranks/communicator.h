// Sends messages between ranks. It has what the library needs of MPI, without MPI's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace sextant::ranks {

// Elements that can be sent as bytes, with the same meaning on all ranks: machines must have the
// same byte order and sizes.
template <class T>
concept Sendable = std::is_trivially_copyable_v<T>;

template <Sendable T>
std::span<const std::byte> bytes_of(std::span<T> values) {
  return std::as_bytes(values);
}

// Pending sends and receives. Until they are complete, sent data must not change and received data
// must not be read; a thread of the communicator advances them while the caller computes.
class Exchange {
 public:
  Exchange() = default;  // nothing is pending
  Exchange(Exchange&& other) noexcept;
  Exchange& operator=(Exchange&& other) noexcept;
  // Waits, so that no freed memory is written.
  ~Exchange();

  // Whether all are complete; does not wait.
  bool done() const;
  // Waits until all are complete. Throws an Error with the rank if one failed.
  void finish();
  // Returns the seconds that finish() waited: 0 if computing has hidden all.
  double waited() const noexcept { return waited_; }

  struct State;  // of MPI's types

 private:
  friend class Communicator;
  std::shared_ptr<State> state_;
  double waited_ = 0;
};

// A group of ranks, 0 .. size() - 1. Except rank() and size(), the other ranks must make the same
// calls in the same order: send() matches receive(), the others match themselves. Calls come from
// one thread and may have any number of bytes. Throws Error("ranks", ...) with the rank if MPI
// reports a failure.
class Communicator {
 public:
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // `tag` 0 .. 1023 distinguishes pending messages between the same ranks.
  void send(int to, std::span<const std::byte> bytes, int tag = 0) const;
  void receive(int from, std::span<std::byte> bytes, int tag = 0) const;

  // Returns a rank whose message with this tag has arrived and was not received yet, or -1.
  int probe(int tag) const;

  // Starts several messages at once, while the caller continues.
  struct Outgoing {
    int to;
    std::span<const std::byte> bytes;
    int tag = 0;
  };
  struct Incoming {
    int from;
    std::span<std::byte> bytes;
    int tag = 0;
  };
  Exchange start(std::span<const Outgoing> sends, std::span<const Incoming> receives) const;

  // Exchanges all-to-all: out[r] goes to rank r, and the data of rank r for this one is written to
  // in[r], which has its length.
  void exchange(const std::vector<std::span<const std::byte>>& out,
                const std::vector<std::span<std::byte>>& in) const;

  void barrier() const;
  void broadcast(int from, std::span<std::byte> bytes) const;
  // Gathers parts of equal length: `all` holds size() parts as long as `mine`, in the order of
  // ranks.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const;
  // Gathers parts of any length: that of rank r is element r.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) const;

  // Returns the element-wise sum over the ranks on every rank. The order is fixed: ranks are the
  // leaves of a binary tree, r + (r + 1), then pairs of those, and so on, so the bits depend only
  // on the number of ranks.
  void all_reduce(std::span<float> values) const;
  void all_reduce(std::span<double> values) const;
  void all_reduce(std::span<std::int64_t> values) const;
  // Returns the largest value over the ranks.
  std::int64_t largest(std::int64_t value) const;
  double largest(double value) const;

  // Returns another group of the same ranks, whose messages are separate from those of this one.
  Communicator duplicate() const;
  // Returns the ranks that give the same `color`, in the order of `key`.
  Communicator split(int color, int key) const;

  // Returns the seconds that this rank has waited for others so far, in all calls.
  double seconds_waited() const noexcept;

  // Returns the address of the MPI_Comm, for programs that use MPI too; the other function makes a
  // group from such an address, duplicated.
  void* handle() const noexcept;
  static Communicator from(void* mpi_comm);

  struct State;  // of MPI's types

 private:
  friend class Session;
  explicit Communicator(std::shared_ptr<State> state);
  template <class T>
  void sum(std::span<T> values) const;

  std::shared_ptr<State> state_;
  int rank_ = 0, size_ = 1;
};

}  // namespace sextant::ranks

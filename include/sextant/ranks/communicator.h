// Messages between ranks: what the library needs of MPI, without MPI's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace sextant::ranks {

// Elements whose bytes are their value, the same on all ranks: machines must have the same byte
// order and sizes.
template <class T>
concept Sendable = std::is_trivially_copyable_v<T>;

template <Sendable T>
std::span<const std::byte> bytes_of(std::span<T> values) {
  return std::as_bytes(values);
}

// Sends and receives under way. While they are, what is sent must not change and what is received
// must not be looked at; a thread of the communicator moves them on while the caller computes.
class Exchange {
 public:
  Exchange() = default;  // nothing is under way
  Exchange(Exchange&& other) noexcept;
  Exchange& operator=(Exchange&& other) noexcept;
  // Waits, so that no memory is written to that is gone.
  ~Exchange();

  // Whether all are complete; does not wait.
  bool done() const;
  // Waits until all are complete. Throws Error that names the rank when one failed.
  void finish();
  // Seconds that finish() waited: 0 where computing has hidden all.
  double waited() const noexcept { return waited_; }

  struct State;  // of MPI's types

 private:
  friend class Communicator;
  std::shared_ptr<State> state_;
  double waited_ = 0;
};

// A group of ranks, 0 .. size() - 1. Every call but rank() and size() is one that the other ranks
// must make too, in the same order: send() meets receive(), the rest meet themselves. Calls come
// from one thread. Any number of bytes. Throws Error("ranks", ...) that names the rank when MPI
// reports a failure.
class Communicator {
 public:
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // `tag` 0 .. 1023 tells messages apart that are under way between the same ranks.
  void send(int to, std::span<const std::byte> bytes, int tag = 0) const;
  void receive(int from, std::span<std::byte> bytes, int tag = 0) const;

  // A rank whose message with this tag has arrived and waits to be received, or -1.
  int probe(int tag) const;

  // Several at once, while the caller goes on.
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

  // All-to-all: out[r] goes to rank r, and what rank r has for this one comes into in[r], which is
  // as long.
  void exchange(const std::vector<std::span<const std::byte>>& out,
                const std::vector<std::span<std::byte>>& in) const;

  void barrier() const;
  void broadcast(int from, std::span<std::byte> bytes) const;
  // `all` holds size() parts as long as `mine`, in the order of ranks.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const;
  // Parts of any length: that of rank r comes back as element r.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) const;

  // The element-wise sum over the ranks, on every rank. Fixed order: ranks are the leaves of a
  // binary tree, r + (r + 1), then pairs of those, and so on, so that the bits depend on the number
  // of ranks alone.
  void all_reduce(std::span<float> values) const;
  void all_reduce(std::span<double> values) const;
  void all_reduce(std::span<std::int64_t> values) const;
  // The largest over the ranks.
  std::int64_t largest(std::int64_t value) const;
  double largest(double value) const;

  // Another group of the same ranks, whose messages do not meet those of this one.
  Communicator duplicate() const;
  // The ranks that give the same `color`, in the order of `key`.
  Communicator split(int color, int key) const;

  // Seconds that this rank has waited for others so far, in all calls.
  double seconds_waited() const noexcept;

  // The address of the MPI_Comm, for programs that use MPI besides; and a group made of what such
  // an address points to, duplicated.
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

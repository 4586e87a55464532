// Defines the interface for processes that train together, one model or several in parallel.
// sextant/ranks implements it with MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

class ContextParallel;

// Ranks 0 .. size() - 1. All ranks make the same calls in the same order, except those that
// describe the group.
class TrainingGroup {
 public:
  virtual ~TrainingGroup() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // Returns the number of ranks that hold a part of each sequence, a divisor of size(). The size()
  // / context_parallel_size() ranks with the same part share the batches: rank r has the (r % that
  // number)-th ones and the (r / that number)-th part.
  virtual int context_parallel_size() const noexcept { return 1; }
  // Returns the ranks that share the sequences of this rank, if sequences are divided; else
  // nullptr.
  virtual ContextParallel* context_parallel() noexcept { return nullptr; }

  // A sent message matches a received one of the same length and tag (0 .. 1023), in the order in
  // which they are started. There is none to the rank itself.
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
  // Pending messages: sent data must not change, and received data is not there yet. The destructor
  // waits for them.
  class Messages {
   public:
    virtual ~Messages() = default;
    virtual bool done() = 0;  // whether all have arrived; does not wait
    virtual void finish() = 0;
  };
  virtual std::unique_ptr<Messages> start(std::span<const Outgoing> sends,
                                          std::span<const Incoming> receives) = 0;

  // Sends the bytes of rank 0 to all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // Returns whether it is true on any rank.
  virtual bool any(bool value) = 0;
  // Runs `work`, which makes no call of the group except start() and done(). If it throws on one
  // rank, all throw the same Error.
  virtual void run_or_fail_on_all(const std::function<void()>& work) = 0;
  // The same for work on context_parallel(). An exception on one rank, while others wait for it in
  // a call of attention, may end all processes.
  virtual void run_collective(const std::function<void()>& work) { run_or_fail_on_all(work); }
  // Takes names of arguments and their values: if a value differs, all throw the same Error, with
  // the first difference.
  virtual void check_same(const std::vector<std::pair<std::string, std::string>>& values) = 0;

  // Pieces of work for one rank each.
  struct Work {
    // Any rank: returns the result of a piece, or nothing if it was stopped. Makes no call of the
    // group except cancelled().
    std::function<std::optional<std::string>(std::int64_t)> run;
    // Rank 0: called with each result as soon as it arrives; one call at a time, perhaps in another
    // thread.
    std::function<void(std::int64_t, const std::string&)> on_result;
  };
  // Distributes pieces 0 .. count - 1, in this order, each to the first free rank. If one stops or
  // throws, no more are distributed, and all throw the same. Returns whether all were run.
  virtual bool distribute(std::int64_t count, const Work& work) = 0;
  // For `run`: returns whether another rank has stopped or thrown, so that this one must stop too.
  virtual bool cancelled() = 0;
};

}  // namespace sextant

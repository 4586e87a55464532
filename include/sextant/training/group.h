// Processes that train together, one model or several side by side. sextant/ranks has one on MPI.
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

// Ranks 0 .. size() - 1. Every call but those that say what the group is, is made by all of them,
// in the same order.
class TrainingGroup {
 public:
  virtual ~TrainingGroup() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // How many ranks hold a part of each sequence, a divisor of size(). Batches are shared out among
  // the size() / context_parallel_size() ranks that hold the same part: those of rank r are the
  // (r % that number)-th ones, its part is the (r / that number)-th.
  virtual int context_parallel_size() const noexcept { return 1; }
  // Of those that share the sequences of this rank, where they are divided; else nullptr.
  virtual ContextParallel* context_parallel() noexcept { return nullptr; }

  // One that is sent meets one of the same length and tag (0 .. 1023) that is received, in the
  // order in which they are started. None to itself.
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
  // Messages under way: what is sent must not change, and what is received is not there yet. The
  // destructor waits for them.
  class Messages {
   public:
    virtual ~Messages() = default;
    virtual bool done() = 0;  // whether all have arrived; does not wait
    virtual void finish() = 0;
  };
  virtual std::unique_ptr<Messages> start(std::span<const Outgoing> sends,
                                          std::span<const Incoming> receives) = 0;

  // Those of rank 0, on all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // Whether it is true on any.
  virtual bool any(bool value) = 0;
  // Runs `work`, which makes no call of the group but start() and done(). Where it throws on one
  // rank, all throw the same Error.
  virtual void run_or_fail_on_all(const std::function<void()>& work) = 0;
  // The same for work on context_parallel(). What one rank alone throws, while others wait for it
  // in a call of attention, may end all processes.
  virtual void run_collective(const std::function<void()>& work) { run_or_fail_on_all(work); }
  // Names of arguments and their values: where a value differs, all throw the same Error, which
  // names the first.
  virtual void check_same(const std::vector<std::pair<std::string, std::string>>& values) = 0;

  // Pieces of work for one rank each.
  struct Work {
    // Any rank: the result of a piece, or nothing where it was stopped. Makes no call of the group
    // but cancelled().
    std::function<std::optional<std::string>(std::int64_t)> run;
    // Rank 0: a result, as soon as it is there; one call at a time, perhaps in another thread.
    std::function<void(std::int64_t, const std::string&)> on_result;
  };
  // Pieces 0 .. count - 1, in this order, each to the first rank that is free. Where one stops or
  // throws, no more are distributed, and all throw what was thrown. Whether all were run.
  virtual bool distribute(std::int64_t count, const Work& work) = 0;
  // For `run`: whether another rank has stopped or thrown, so that this one shall stop too.
  virtual bool cancelled() = 0;
};

}  // namespace sextant

// Processes that train together, one model or several side by side. sextant/ranks has one on MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

// Ranks 0 .. size() - 1. Every call but rank() and size() is made by all of them, in the same
// order.
class TrainingGroup {
 public:
  virtual ~TrainingGroup() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // All messages at once; one that is sent meets one of the same length and tag (0 .. 1023) that is
  // received. None to itself.
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
  virtual void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) = 0;

  // Those of rank 0, on all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // Whether it is true on any.
  virtual bool any(bool value) = 0;
  // Runs `work`, which makes no call of the group. Where it throws on one rank, all throw the same
  // Error.
  virtual void together(const std::function<void()>& work) = 0;
  // Names of arguments and their values: where a value differs, all throw the same Error, which
  // names the first.
  virtual void check_same(const std::vector<std::pair<std::string, std::string>>& values) = 0;

  // Pieces of work for one rank each.
  struct Work {
    // Any rank: the result of a piece, or nothing where it was stopped. Makes no call of the group
    // but others_stop().
    std::function<std::optional<std::string>(std::int64_t)> make;
    // Rank 0: a result, as soon as it is there; one call at a time, perhaps in another thread.
    std::function<void(std::int64_t, const std::string&)> take;
  };
  // Pieces 0 .. count - 1, in this order, each to the first rank that is free. Where one stops or
  // throws, no more are handed out, and all throw what was thrown. Whether all were made.
  virtual bool hand_out(std::int64_t count, const Work& work) = 0;
  // For `make`: whether another rank has stopped or thrown, so that this one shall stop too.
  virtual bool others_stop() = 0;
};

}  // namespace sextant

// The hand-over of a job from a call to a waiting thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/threads/waited_word.h"
#include "sextant/core/parallel.h"

namespace sextant {

// The data that the threads of one call share; it lives in the call. body(i) runs for i in [0,
// count).
struct Job {
  TaskRef body;
  std::int64_t count;
  std::atomic<std::int64_t> next;  // the first index that no thread has

  // A thread begins with the index that is its own, and takes others while there are any.
  void work(std::int64_t own) noexcept {
    for (std::int64_t i = own; i < count; i = next.fetch_add(1, std::memory_order_relaxed)) {
      body(i);
    }
  }
};

// The one job that a thread has, or none. Its state is a phase and, above it, the number of jobs so
// far: the round. A round ends when the thread has left the job, or when the call takes it back, so
// that a call that waits for the end does not wait for other calls' jobs.
class alignas(64) JobSlot {
 public:
  // Without `spins`, for threads that are more than there are processors, all that wait sleep.
  explicit JobSlot(bool spins) : spins_(spins) {}

  // By a call: gives the thread a job, unless it has one. `round` is for the functions below.
  bool try_assign(Job& job, std::int64_t own, std::uint32_t& round) noexcept {
    round = state_.load();
    if (round % kRound != kFree || !state_.exchange(round, round + kClaimed)) return false;
    job_ = &job;
    own_ = own;
    state_.store(round + kAssigned);
    return true;
  }

  // By the call: true when the thread has not begun, which it then will not.
  bool take_back(std::uint32_t round) noexcept {
    return state_.load() == round + kAssigned && state_.exchange(round + kAssigned, round + kRound);
  }

  // By the call: waits until the thread has left the job.
  void wait_for_end(std::uint32_t round) noexcept {
    state_.wait(spins_, [round](std::uint32_t now) { return now - round >= kRound; });
  }

  // By the thread: waits for a job and works for it, unless the call took it back meanwhile.
  void work_once() noexcept {
    const auto assigned = [](std::uint32_t now) { return now % kRound == kAssigned; };
    const std::uint32_t round = state_.wait(spins_, assigned) - kAssigned;
    if (!state_.exchange(round + kAssigned, round + kRunning)) return;
    job_->work(own_);
    state_.store(round + kRound);
  }

 private:
  static constexpr std::uint32_t kFree = 0, kClaimed = 1, kAssigned = 2, kRunning = 3, kRound = 4;

  WaitedWord state_;
  Job* job_ = nullptr;
  std::int64_t own_ = 0;
  const bool spins_;
};

}  // namespace sextant

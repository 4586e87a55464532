// A call of another library that cannot be ended from outside.
#pragma once

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "core/threads/interruption.h"

namespace sextant {

// work(), on a thread of its own where the call may be ended: then the call ends at once, and the
// work, which nothing waits for any more, runs to its end. It must own all that it uses.
template <class Work>
auto or_left_running(Work work) -> decltype(work()) {
  if (Interruption::current() == nullptr) return work();
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  while (result.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    check_interruption();
  }
  return result.get();
}

}  // namespace sextant

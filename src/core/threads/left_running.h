// A call of another library that cannot be ended from outside.
#pragma once

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "core/threads/interruption.h"

namespace sextant {

// Runs work(), on a separate thread if the call may be interrupted: then the call ends at once, and
// the work runs to its end without a waiting thread. It must own all that it uses.
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

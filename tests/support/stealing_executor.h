// An executor as thread pools are: while a call waits for its threads, its own thread runs
// something else.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "sextant/core/parallel.h"

namespace sextant {

// Runs the bodies of every call on threads of its own and on the calling one, which then runs
// `task` and comes back. Calls that the task makes are run the same way, without another task.
// While it lives it is the library's executor.
class StealingExecutor {
 public:
  explicit StealingExecutor(std::function<void()> task) : task_(std::move(task)) {
    set_executor([this](std::int64_t count, int threads, TaskRef body) {
      std::vector<std::thread> team;
      for (int t = 1; t < threads; ++t) {
        team.emplace_back([=] {
          for (std::int64_t i = t; i < count; i += threads) body(i);
        });
      }
      for (std::int64_t i = 0; i < count; i += threads) body(i);
      if (!std::exchange(is_stealing_, true)) {
        task_();
        ++stolen_;
        is_stealing_ = false;
      }
      for (auto& thread : team) thread.join();
    });
  }
  ~StealingExecutor() { set_executor({}); }
  StealingExecutor(const StealingExecutor&) = delete;
  StealingExecutor& operator=(const StealingExecutor&) = delete;

  // How many tasks it has run: one for each time that it was called by others.
  int stolen() const { return stolen_; }

 private:
  std::function<void()> task_;
  bool is_stealing_ = false;
  int stolen_ = 0;
};

}  // namespace sextant

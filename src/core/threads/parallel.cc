// parallel_for over the library's threads or the caller's executor: who runs what, nesting, and
// exceptions.
#include "sextant/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "core/threads/interruption.h"
#include "core/threads/processors.h"
#include "core/threads/thread_pool.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

Executor& installed_executor() {
  static Executor executor;
  return executor;
}

// True on a thread while it runs a body of a call that uses several threads.
thread_local bool inside_parallel_call = false;

// The data that the threads of one call share. Exceptions must not leave a thread of a pool.
class GuardedBody {
 public:
  explicit GuardedBody(TaskRef body) : body_(body) {}

  void operator()(std::int64_t index) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    const bool was_inside = std::exchange(inside_parallel_call, true);
    const Interruption::Adopted adopted(interruption_);
    try {
      check_interruption();
      body_(index);
    } catch (const Interruption::Ended&) {
      failed_ = true;  // the calling thread has the reason
    } catch (...) {
      if (!has_problem_.exchange(true)) problem_ = std::current_exception();
      failed_ = true;
    }
    inside_parallel_call = was_inside;
  }

  // After all threads have finished.
  void rethrow() {
    if (problem_) std::rethrow_exception(std::move(problem_));
  }

 private:
  TaskRef body_;
  Interruption* const interruption_ = Interruption::current();
  std::atomic<bool> failed_{false}, has_problem_{false};
  std::exception_ptr problem_;
};

// OMP_NUM_THREADS, the first of its numbers; 0: not set.
int threads_of_environment() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), threads);
  return threads;
}

}  // namespace

void set_executor(Executor executor) { installed_executor() = std::move(executor); }

int default_threads() noexcept {
  static const int threads = [] {
    const int named = threads_of_environment();
    return std::clamp(named > 0 ? named : usable_processors(), 1, kMaxThreads);
  }();
  return threads;
}

void parallel_for(std::int64_t count, int threads, TaskRef body) {
  if (count < 0) {
    throw Error("parallel_for.count", "must not be negative, got " + std::to_string(count));
  }
  if (threads < 0 || threads > kMaxThreads) {
    throw Error("threads", "must be in 0 (all cores) .. " + std::to_string(kMaxThreads) + ", got " +
                               std::to_string(threads));
  }
  if (threads == 0 && !inside_parallel_call) threads = default_threads();
  const int used = static_cast<int>(std::min<std::int64_t>(count, threads));
  if (used <= 1 || inside_parallel_call) {
    for (std::int64_t i = 0; i < count; ++i) {
      check_interruption();
      body(i);
    }
    return;
  }
  GuardedBody guarded(body);
  if (const Executor& executor = installed_executor()) {
    executor(count, used, guarded);
  } else {
    run_in_pool(count, used, guarded);
  }
  guarded.rethrow();
}

}  // namespace sextant

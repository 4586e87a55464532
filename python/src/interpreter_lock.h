// Manages Python's interpreter lock: released while the library computes, taken to call Python.
//
// If a thread requests the lock after the interpreter has ended, as a daemon thread does, CPython
// before 3.14 ends it with pthread_exit(). That unwinds the stack like an exception, through
// functions that must not throw, and would abort the process. Here such a thread sleeps until the
// process ends, as in CPython 3.14.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/threads/interruption.h"

namespace sextant::python {

// Returns the result of take(); sleeps forever if the interpreter has ended.
template <class Take>
auto take_lock(const Take& take) noexcept {
  try {
    return take();
  } catch (...) {  // pthread_exit() and nothing else
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Runs Python's signal handlers on its main thread, and throws their exceptions, mostly
// KeyboardInterrupt. With or without the interpreter's lock.
void check_signals();

// When a signal ends a call: between two of its tasks, or where the call itself looks.
enum class Signals { between_tasks, where_asked };

// The thread is without the lock while this lives, and the library's calls look at signals.
class Unlocked {
 public:
  explicit Unlocked(Signals signals = Signals::between_tasks) : state_(PyEval_SaveThread()) {
    if (signals == Signals::between_tasks) interruption_.emplace(&check_signals);
  }
  ~Unlocked() {
    take_lock([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
  std::optional<Interruption> interruption_;
};

// What f() gives, computed without the lock.
template <class F>
auto unlocked(const F& f) {
  const Unlocked released;
  return f();
}

// The thread has the lock while this lives, whether it had it before or not.
class Locked {
 public:
  Locked() noexcept : state_(take_lock([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace sextant::python

// Python's interpreter lock: let go while the library computes, taken back to call Python.
//
// A thread that asks for the lock when the interpreter has ended, as a daemon thread does, is ended
// by CPython before 3.14 with pthread_exit(). That unwinds the stack like an exception, through
// functions that must not throw, and the process would be aborted. Here such a thread sleeps until
// the process ends, as CPython 3.14 does itself.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/threads/interruption.h"

namespace sextant::python {

// What take() gives; sleeps for ever where the interpreter has ended.
template <class Take>
auto take_lock(const Take& take) noexcept {
  try {
    return take();
  } catch (...) {  // pthread_exit() and nothing else
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Lets Python's handlers of signals run, on its main thread, and throws what they raise:
// KeyboardInterrupt mostly. With or without the interpreter's lock.
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

// Runs loops in parallel: one parallel_for for the whole library, on threads that are started once.
// The caller chooses the number of threads per call and may supply the threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sextant {

class TaskRef;

// A callable that takes an index.
template <class F>
concept TaskBody =
    !std::is_same_v<std::remove_cvref_t<F>, TaskRef> && std::is_invocable_v<F&, std::int64_t>;

// A body to run for each index; borrows the callable, allocates nothing.
class TaskRef {
 public:
  template <TaskBody F>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  TaskRef(F&& body) noexcept  // a lambda is meant to convert, and TaskBody leaves TaskRef out
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, std::int64_t index) {
          (*static_cast<std::remove_reference_t<F>*>(object))(index);
        }) {}
  void operator()(std::int64_t index) const { call_(object_, index); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t);
};

// Runs body(0) .. body(count - 1), each once, in any order, on up to `threads` threads, and returns
// when all are done. An executor may run any number of bodies on one thread, one after the other.
// Several threads may call it at once. A thread may run other work before, between and after
// bodies, also while it waits for other threads; that work may call this library. An executor must
// not begin a body on a thread that is inside another body, nor continue a body on another thread:
// a body may wait for bodies that began before it, and its thread keeps memory for it. Bodies never
// call the executor: nested calls run on their own thread. An executor that throws must do so after
// all bodies have ended. Bodies do not throw.
using Executor = std::function<void(std::int64_t count, int threads, TaskRef body)>;

// Replaces the library's threads by the caller's for every later call; an empty function restores
// them. Do not call it while calls run.
void set_executor(Executor executor);

// Returns the number of threads of a call with `threads = 0`: OMP_NUM_THREADS, or the number of
// processors that the affinity mask and the container's quota allow. It is determined once.
int default_threads() noexcept;

// The largest number of threads of a call. If the system refuses threads, calls use fewer.
inline constexpr int kMaxThreads = 1024;

// Runs body(i) for i in [0, count), each once, in any order, on up to `threads` threads (0:
// default_threads(); 1: this thread, in order, without the pool). A call from inside a body that
// runs on several threads runs on its own thread alone. The first exception of a body is rethrown
// here after the running bodies have finished; bodies that have not begun are skipped. Throws Error
// if count < 0 or threads is not in 0 .. kMaxThreads.
void parallel_for(std::int64_t count, int threads, TaskRef body);

}  // namespace sextant

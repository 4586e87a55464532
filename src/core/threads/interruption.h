// Ending a call of the library from outside, as Ctrl-C does.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace sextant {

// While it lives, calls of the library on this thread run `look` about twenty times a second, on
// this thread, between two of their tasks. If it throws, the threads of the call begin no further
// task and the exception leaves the call. The results of the call are then undefined. A call
// shorter than a twentieth of a second never calls it; bits do not depend on it.
class Interruption {
 public:
  explicit Interruption(void (*look)()) noexcept;
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // The exception that ends a task on another thread; the call throws the exception of `look`.
  struct Ended {};

  // Returns that of the call that this thread works for; null: none.
  static Interruption* current() noexcept;

  // This thread works for the call of another one while it lives.
  class Adopted {
   public:
    explicit Adopted(Interruption* of_call) noexcept;
    ~Adopted();
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;

   private:
    Interruption* const before_;
  };

 private:
  friend void check_interruption();
  void check();

  void (*const look_)();
  const std::thread::id thread_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_look_;
  std::atomic<bool> ended_{false};
  const Adopted adopted_;
};

// Between two tasks, on any thread of a call: ends the call if this was requested. parallel_for()
// calls it before every body; bodies with many tasks call it themselves, before each task for which
// others wait.
void check_interruption();

// body(begin, end) for parts of [0, count), in order: a long loop over numbers that can be ended.
template <class Body>
void in_parts(std::int64_t count, const Body& body) {
  constexpr std::int64_t kPart = 1 << 16;
  for (std::int64_t begin = 0; begin < count; begin += kPart) {
    check_interruption();
    body(begin, std::min(begin + kPart, count));
  }
}

}  // namespace sextant

// A number that threads wait for: they spin for a while, then sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sextant {

class WaitedWord {
 public:
  // How long a thread spins before it sleeps. With 5 microseconds a training step takes 5 % longer,
  // because threads are woken for every call; with 20 to 200 it takes the same. Longer takes more
  // time from other processes.
  static constexpr std::chrono::microseconds kSpin{50};

  std::uint32_t load() const noexcept { return value_.load(); }

  // Wakes nobody: for values that nobody waits for.
  bool exchange(std::uint32_t expected, std::uint32_t value) noexcept {
    return value_.compare_exchange_strong(expected, value);
  }

  void store(std::uint32_t value) noexcept {
    value_.store(value);  // sequentially consistent, and so before the load of sleepers_
    if (sleepers_.load() > 0) value_.notify_all();
  }

  // Returns a value for which done(value) holds. Without `spins` it sleeps at once.
  template <class Done>
  std::uint32_t wait(bool spins, const Done& done) noexcept {
    std::uint32_t seen = load();
    if (spins) {
      const auto end = std::chrono::steady_clock::now() + kSpin;
      while (!done(seen) && std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 16 && !done(seen); ++i) {
          pause();
          seen = load();
        }
      }
    }
    if (done(seen)) return seen;
    ++sleepers_;
    for (seen = load(); !done(seen); seen = load()) value_.wait(seen);
    --sleepers_;
    return seen;
  }

 private:
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace sextant

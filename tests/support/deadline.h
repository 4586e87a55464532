// A test that hangs fails at once instead of keeping all others waiting.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace sextant {

// While it lives, the clock runs; past `limit` it ends the program, because threads that wait for
// ever cannot be ended alone.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds limit = std::chrono::seconds(60))
      : watch_([this, limit] {
          std::unique_lock lock(mutex_);
          if (ended_.wait_for(lock, limit, [this] { return over_; })) return;
          std::fprintf(stderr, "The test hangs: it has not ended after %lld seconds.\n",
                       static_cast<long long>(limit.count()));
          std::abort();
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    watch_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watch_;
};

}  // namespace sextant

// Runs one thread per process, which sleeps while nothing is pending.
#include "ranks/mpi/progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <vector>

namespace sextant::ranks {
namespace {

class Progress {
 public:
  ~Progress() { stop(); }

  void add(std::shared_ptr<Exchange::State> exchange) {
    const std::lock_guard lock(mutex_);
    under_way_.push_back(std::move(exchange));
    if (!thread_.joinable()) {
      ending_ = false;
      thread_ = std::thread([this] { run(); });
    }
    changed_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      under_way_.clear();
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ending_ || !under_way_.empty(); });
      if (ending_) return;
      const std::vector<std::shared_ptr<Exchange::State>> asked = under_way_;
      lock.unlock();
      {
        const std::lock_guard calls(mpi_mutex());
        for (const auto& exchange : asked) exchange->test();
      }
      // A short message waits at most this long; a long one is copied within one question.
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      const auto is_done = [](const std::shared_ptr<Exchange::State>& exchange) {
        const std::lock_guard calls(mpi_mutex());
        return exchange->done;
      };
      lock.lock();
      std::erase_if(under_way_, is_done);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Exchange::State>> under_way_;
  std::thread thread_;
  bool ending_ = false;
};

Progress& progress() {
  static Progress one;
  return one;
}

}  // namespace

void progress_in_background(std::shared_ptr<Exchange::State> exchange) {
  progress().add(std::move(exchange));
}

void stop_progress() { progress().stop(); }

void Backoff::pause() {
  constexpr int kQuick = 200;
  if (++asked_ <= kQuick) {
    std::this_thread::yield();
    return;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(asked_ - kQuick, 100)));
}

}  // namespace sextant::ranks

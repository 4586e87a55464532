// Threads that wait for jobs, and the calls that hand jobs to them.
#include "core/threads/thread_pool.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/threads/job_slot.h"
#include "core/threads/processors.h"

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <signal.h>
#endif

namespace sextant {
namespace {

class Worker {
 public:
  explicit Worker(bool spins) : slot(spins) {
    std::thread([this] {
      for (;;) slot.work_once();
    }).detach();
  }
  JobSlot slot;
};

// While it lives, threads that are started leave signals to the others.
class SignalsBlocked {
 public:
#if __has_include(<pthread.h>)
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
#endif
};

class Pool {
 public:
  // Never destroyed: threads may still run while a process exits.
  static Pool& instance() {
    static std::once_flag once;
    std::call_once(once, [] {
      pool_ = new Pool;
#if __has_include(<pthread.h>)
      // A forked child has none of the parent's threads.
      pthread_atfork(nullptr, nullptr, [] { pool_ = new Pool; });
#endif
    });
    return *pool_;
  }

  void run(std::int64_t count, int threads, TaskRef body) {
    struct Helper {
      JobSlot* slot;
      std::uint32_t round;
    };
    Helper helpers[kMaxThreads];  // helpers[i] has index i as its own
    Job job{body, count, threads};
    int used = 1;
    const int workers = grow(threads - 1);
    for (int i = 0; i < workers && used < threads; ++i) {
      helpers[used].slot = &workers_[i]->slot;
      if (workers_[i]->slot.try_assign(job, used, helpers[used].round)) ++used;
    }
    job.work(0);
    for (std::int64_t i = used; i < threads; ++i) body(i);  // of threads that others have
    for (int i = 1; i < used; ++i) {
      if (!helpers[i].slot->take_back(helpers[i].round)) continue;
      helpers[i].slot = nullptr;
      body(i);
    }
    for (int i = 1; i < used; ++i) {
      if (helpers[i].slot != nullptr) helpers[i].slot->wait_for_end(helpers[i].round);
    }
  }

 private:
  // The number of workers, `wanted` of them unless the system refuses threads.
  int grow(int wanted) {
    int there = count_.load(std::memory_order_acquire);
    if (there >= wanted) return there;
    const std::lock_guard lock(growing_);
    const SignalsBlocked blocked;
    for (there = count_; there < wanted; count_.store(++there, std::memory_order_release)) {
      try {
        workers_[there] = new Worker(there + 1 < usable_processors());
      } catch (const std::system_error&) {
        break;
      }
    }
    return there;
  }

  static inline Pool* pool_ = nullptr;
  std::mutex growing_;
  std::atomic<int> count_{0};
  Worker* workers_[kMaxThreads] = {};
};

}  // namespace

void run_in_pool(std::int64_t count, int threads, TaskRef body) {
  Pool::instance().run(count, threads, body);
}

}  // namespace sextant

// The library's threads: every index once, calls that share threads, forked processes, and ends of
// a process while threads work.
#include "core/threads/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/deadline.h"

#ifdef __linux__
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#endif

namespace sextant {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

TEST(ThreadPool, RunsEveryIndexOnceInThousandsOfCalls) {
  std::vector<std::atomic<int>> seen(64);
  for (int call = 0; call < 20000; ++call) {
    const std::int64_t count = 2 + call % 60;
    const int threads = static_cast<int>(2 + call % std::min<std::int64_t>(count - 1, 5));
    run_in_pool(count, threads, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(seen[static_cast<std::size_t>(i)].exchange(0), 1) << call << ", index " << i;
    }
  }
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  const Deadline deadline;
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(2ms);  // many times the time that a thread looks for work
    std::latch both(2);
    run_in_pool(2, 2, [&](std::int64_t) { both.arrive_and_wait(); });
  }
}

TEST(ThreadPool, WaitsForBodiesThatSleep) {
  for (int call = 0; call < 20; ++call) {
    std::latch begun(2);
    std::atomic<int> ended{0};
    run_in_pool(2, 2, [&](std::int64_t i) {
      begun.arrive_and_wait();
      if (i == 1) std::this_thread::sleep_for(2ms);
      ++ended;
    });
    ASSERT_EQ(ended, 2);
  }
}

TEST(ThreadPool, GivesEachThreadTheSameIndexInEveryCall) {
  std::vector<std::thread::id> first(3);
  for (int call = 0; call < 100; ++call) {
    std::vector<std::thread::id> now(3);
    std::latch all(3);  // no thread takes two
    run_in_pool(3, 3, [&](std::int64_t i) {
      now[static_cast<std::size_t>(i)] = std::this_thread::get_id();
      all.arrive_and_wait();
    });
    if (call == 0) first = now;
    ASSERT_EQ(now, first) << call;
  }
}

// All threads of the pool are busy, and stay so until the second call is done.
TEST(ThreadPool, ACallDoesNotWaitForThreadsOfAnother) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::latch holds(9);
    std::promise<void> release;
    auto released = release.get_future().share();
    std::thread holder([&] {
      run_in_pool(8, 8, [&](std::int64_t) {
        holds.arrive_and_wait();
        released.wait();
      });
    });
    holds.arrive_and_wait();
    std::set<std::thread::id> used;
    std::mutex lock;
    std::set<std::int64_t> done;
    run_in_pool(100, 2, [&](std::int64_t i) {
      const std::lock_guard guard(lock);
      used.insert(std::this_thread::get_id());
      done.insert(i);
    });
    EXPECT_EQ(done.size(), 100U);
    EXPECT_THAT(used, ElementsAre(std::this_thread::get_id()));
    release.set_value();
    holder.join();
  }
}

TEST(ThreadPool, SharesItsThreadsAmongManyCallers) {
  std::vector<std::atomic<int>> sums(8);
  std::vector<std::jthread> callers;
  for (std::atomic<int>& sum : sums) {
    callers.emplace_back([&sum] {
      for (int call = 0; call < 2000; ++call) {
        run_in_pool(7, 3, [&](std::int64_t i) { sum += static_cast<int>(i); });
      }
    });
  }
  callers.clear();
  EXPECT_THAT(std::vector<int>(sums.begin(), sums.end()), Each(2000 * 21));
}

#ifdef __linux__

std::int64_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(ThreadPool, HasNoMoreThreadsForMoreCallers) {
  run_in_pool(4, 4, [](std::int64_t) {});
  const std::int64_t before = threads_of_process();
  std::vector<std::jthread> callers;
  std::latch together(5);
  std::atomic<std::int64_t> most{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      together.arrive_and_wait();
      for (int call = 0; call < 100; ++call) run_in_pool(4, 4, [](std::int64_t) {});
      most = std::max(most.load(), threads_of_process());
    });
  }
  together.arrive_and_wait();
  callers.clear();
  EXPECT_LE(most, before + 4);
}

// A child process ends with 0 when it could use two threads.
int exit_code_of_child(void (*work)()) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ThreadPool, AForkedProcessStartsThreadsOfItsOwn) {
#ifdef SEXTANT_SANITIZED  // locks of its run-time that are held at the fork stay so
  GTEST_SKIP() << "the sanitizers do not survive threads after fork()";
#endif
  const auto use_two = [] {
    std::latch both(2);
    run_in_pool(2, 2, [&](std::int64_t) { both.arrive_and_wait(); });
  };
  use_two();
  const Deadline deadline;
  EXPECT_EQ(exit_code_of_child(use_two), 0);
  use_two();
}

#endif

// One thread works for ever, the other waits for it.
[[noreturn]] void end_while_threads_work() {
  static std::latch both(3);
  std::thread([] {
    run_in_pool(2, 2, [](std::int64_t i) {
      both.arrive_and_wait();
      while (i == 1) std::this_thread::yield();
    });
  }).detach();
  both.arrive_and_wait();
  std::exit(0);
}

TEST(ThreadPoolDeathTest, AProcessEndsWhileThreadsWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_while_threads_work(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sextant

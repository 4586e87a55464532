// parallel_for: every index once, threads as asked for, exceptions, nesting and the caller's
// executor.
#include "sextant/core/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::Each;
using ::testing::ThrowsMessage;

// Puts the library's threads back even when a test fails.
struct ExecutorForOneTest {
  explicit ExecutorForOneTest(Executor executor) { set_executor(std::move(executor)); }
  ~ExecutorForOneTest() { set_executor({}); }
};

// What a caller might bring: threads of its own, indices in strides.
void run_on_own_threads(std::int64_t count, int threads, TaskRef body) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([=] {
      for (std::int64_t i = t; i < count; i += threads) body(i);
    });
  }
  for (auto& thread : team) thread.join();
}

std::vector<int> visits(std::int64_t count, int threads) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  parallel_for(count, threads, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
  return {seen.begin(), seen.end()};
}

TEST(ParallelFor, RunsEveryIndexOnce) {
  for (const std::int64_t count : {0, 1, 2, 3, 7, 1000}) {
    for (const int threads : {0, 1, 2, 3, 8}) {
      const std::vector<int> seen = visits(count, threads);
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
      EXPECT_THAT(seen, Each(1)) << count << " indices, " << threads << " threads";
    }
  }
}

TEST(ParallelFor, OnOneThreadIsALoopInOrder) {
  std::vector<std::int64_t> order;
  const auto here = std::this_thread::get_id();
  parallel_for(100, 1, [&](std::int64_t i) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    order.push_back(i);
  });
  std::vector<std::int64_t> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(ParallelFor, TakesConstAndMutableBodies) {
  int calls = 0;
  const auto constant = [&](std::int64_t) { ++calls; };
  parallel_for(3, 1, constant);
  int own = 0;
  auto changing = [&calls, own](std::int64_t) mutable { calls += ++own; };
  parallel_for(3, 1, changing);
  EXPECT_EQ(calls, 3 + 1 + 2 + 3);
}

TEST(ParallelFor, UsesNoMoreThreadsThanAskedFor) {
  std::mutex lock;
  std::set<std::thread::id> threads;
  parallel_for(200, 3, [&](std::int64_t) {
    const std::lock_guard guard(lock);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_GE(threads.size(), 1U);
  EXPECT_LE(threads.size(), 3U);
}

TEST(ParallelFor, RethrowsWhatABodyThrows) {
  for (const int threads : {1, 2, 4}) {
    const auto failing = [&] {
      parallel_for(100, threads, [](std::int64_t i) {
        if (i == 42) throw std::runtime_error("index 42");
      });
    };
    EXPECT_THAT(failing, ThrowsMessage<std::runtime_error>("index 42")) << threads;
    EXPECT_THAT(visits(100, threads), Each(1)) << "after a failure";
  }
}

TEST(ParallelFor, RethrowsOneOfMany) {
  EXPECT_THROW(parallel_for(1000, 4, [](std::int64_t) { throw Error("body", "fails"); }), Error);
}

TEST(ParallelFor, ANestedCallStaysOnItsThread) {
  std::vector<std::atomic<int>> seen(6 * 5);
  parallel_for(6, 3, [&](std::int64_t i) {
    const auto here = std::this_thread::get_id();
    parallel_for(5, 4, [&](std::int64_t j) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      ++seen[static_cast<std::size_t>(i * 5 + j)];
    });
  });
  EXPECT_THAT(std::vector<int>(seen.begin(), seen.end()), Each(1));
}

TEST(ParallelFor, RefusesImpossibleNumbers) {
  const auto nothing = [](std::int64_t) {};
  EXPECT_THAT([&] { parallel_for(3, -1, nothing); },
              ThrowsMessage<Error>("[threads] must be in 0 (all cores) .. 1024, got -1"));
  EXPECT_THROW(parallel_for(3, kMaxThreads + 1, nothing), Error);
  EXPECT_THROW(parallel_for(-1, 1, nothing), Error);
}

TEST(DefaultThreads, AreAtLeastOneAndAtMostTheLimit) {
  EXPECT_GE(default_threads(), 1);
  EXPECT_LE(default_threads(), kMaxThreads);
}

TEST(Executor, OfTheCallerRunsTheBodies) {
  std::atomic<int> calls{0};
  const ExecutorForOneTest replaced([&](std::int64_t count, int threads, TaskRef body) {
    ++calls;
    EXPECT_EQ(count, 50);
    EXPECT_EQ(threads, 3);
    run_on_own_threads(count, threads, body);
  });
  EXPECT_THAT(visits(50, 3), Each(1));
  EXPECT_EQ(calls, 1);
}

TEST(Executor, IsNotCalledForOneThreadOrOneIndex) {
  const ExecutorForOneTest replaced(
      [](std::int64_t, int, TaskRef) { FAIL() << "no thread needed"; });
  EXPECT_THAT(visits(50, 1), Each(1));
  EXPECT_THAT(visits(1, 8), Each(1));
  EXPECT_THAT(visits(0, 8), Each(1));
}

TEST(Executor, IsAskedForNoMoreThreadsThanIndices) {
  int asked = 0;
  const ExecutorForOneTest replaced([&](std::int64_t count, int threads, TaskRef body) {
    asked = threads;
    run_on_own_threads(count, threads, body);
  });
  visits(4, 100);
  EXPECT_EQ(asked, 4);
}

TEST(Executor, SeesNoExceptionAndNoNestedCall) {
  std::atomic<int> calls{0};
  const ExecutorForOneTest replaced([&](std::int64_t count, int threads, TaskRef body) {
    ++calls;
    run_on_own_threads(count, threads, body);  // an exception here would end the process
  });
  const auto failing = [] {
    parallel_for(9, 3, [](std::int64_t) {
      parallel_for(2, 2, [](std::int64_t j) {
        if (j == 1) throw std::runtime_error("inside");
      });
    });
  };
  EXPECT_THAT(failing, ThrowsMessage<std::runtime_error>("inside"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sextant

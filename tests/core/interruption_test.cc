// Calls that are ended from outside: what ends, what does not begin, and what is thrown.
#include "core/threads/interruption.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "core/threads/left_running.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Asked : std::runtime_error {
  Asked() : std::runtime_error("asked to end") {}
};

std::atomic<int> looks{0};
std::thread::id looked_on;

void count_look() {
  ++looks;
  looked_on = std::this_thread::get_id();
}
void ask() {
  count_look();
  throw Asked();
}

void pause() { std::this_thread::sleep_for(milliseconds(5)); }

class Interrupted : public ::testing::Test {
 protected:
  void SetUp() override { looks = 0; }

  // A call looks after each 50 ms. How many of these have passed, on a slow machine too.
  int most_looks() const {
    return static_cast<int>((steady_clock::now() - began_) / milliseconds(50));
  }

 private:
  steady_clock::time_point began_ = steady_clock::now();
};

TEST_F(Interrupted, CallsEndEarlyOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 8}) {
    looks = 0;
    std::atomic<int> begun{0};
    const Interruption interruption(&ask);
    EXPECT_THROW(parallel_for(100000, threads, [&](std::int64_t) { ++begun, pause(); }), Asked);
    EXPECT_LT(begun, 1000) << threads;
    EXPECT_EQ(looks, 1) << threads;
    EXPECT_EQ(looked_on, std::this_thread::get_id());
  }
}

TEST_F(Interrupted, LoopsInsideBodiesEndOnEveryThread) {
  std::atomic<int> rounds{0};
  const Interruption interruption(&ask);
  const auto work = [&](std::int64_t) {
    for (int i = 0; i < 100000; ++i) check_interruption(), ++rounds, pause();
  };
  EXPECT_THROW(parallel_for(4, 4, work), Asked);
  EXPECT_LT(rounds, 1000);
}

// The calling thread throws the reason after the other thread has ended.
TEST_F(Interrupted, CallsGiveTheReasonAlsoIfAnotherThreadEndsFirst) {
  std::atomic<int> begun{0};
  std::atomic<bool> other_has_ended{false};
  const auto caller = std::this_thread::get_id();
  const Interruption interruption(&ask);
  const auto work = [&](std::int64_t) {
    for (++begun; begun < 2;) pause();
    try {
      for (;;) check_interruption(), pause();
    } catch (...) {
      const bool is_caller = std::this_thread::get_id() == caller;
      if (!is_caller) other_has_ended = true;
      while (!other_has_ended) pause();
      if (is_caller) std::this_thread::sleep_for(milliseconds(50));
      throw;
    }
  };
  EXPECT_THROW(parallel_for(2, 2, work), Asked);
}

TEST_F(Interrupted, NestedCallsBelongToTheOuterOne) {
  std::atomic<int> begun{0};
  const Interruption interruption(&ask);
  const auto outer = [&](std::int64_t) {
    parallel_for(100000, 4, [&](std::int64_t) { ++begun, pause(); });
  };
  EXPECT_THROW(parallel_for(4, 4, outer), Asked);
  EXPECT_LT(begun, 1000);
}

TEST_F(Interrupted, LoopsOverNumbersEndBetweenParts) {
  std::int64_t done = 0;
  const Interruption interruption(&ask);
  const auto work = [&](std::int64_t begin, std::int64_t end) { done += end - begin, pause(); };
  EXPECT_THROW(in_parts(std::int64_t{1} << 40, work), Asked);
  EXPECT_GT(done, 0);
  EXPECT_LT(done, std::int64_t{1} << 26);
}

TEST_F(Interrupted, WhatCannotEndIsLeftRunningOnItsOwnData) {
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto work = [ended] {
    std::this_thread::sleep_for(milliseconds(300));
    *ended = true;
    return 5;
  };
  EXPECT_EQ(or_left_running(work), 5);
  *ended = false;
  const Interruption interruption(&ask);
  EXPECT_THROW(or_left_running(work), Asked);
  EXPECT_FALSE(*ended);
  while (!*ended) pause();
}

TEST_F(Interrupted, WhatIsLeftRunningGivesItsResultAndItsException) {
  const Interruption interruption(&count_look);
  EXPECT_EQ(or_left_running([] { return 5; }), 5);
  EXPECT_THROW(or_left_running([]() -> int { throw std::range_error(""); }), std::range_error);
}

TEST_F(Interrupted, CallsThatAreNotAskedToEndDoAllOfTheirTasks) {
  std::atomic<int> begun{0};
  const Interruption interruption(&count_look);
  parallel_for(100, 2, [&](std::int64_t) { ++begun, pause(); });
  EXPECT_EQ(begun, 100);
  EXPECT_GE(looks, 1);
  EXPECT_LE(looks, most_looks());
}

TEST_F(Interrupted, ShortCallsDoNotLook) {
  const Interruption interruption(&count_look);
  parallel_for(1000, 2, [](std::int64_t) {});
  EXPECT_LE(looks, most_looks());
}

TEST_F(Interrupted, OtherThreadsAndLaterCallsAreLeftAlone) {
  std::atomic<int> begun{0};
  const auto call = [&] { parallel_for(50, 2, [&](std::int64_t) { ++begun, pause(); }); };
  {
    const Interruption interruption(&ask);
    std::thread(call).join();
  }
  call();
  EXPECT_EQ(begun, 100);
  EXPECT_EQ(looks, 0);
}

TEST_F(Interrupted, ABodysOwnExceptionIsKept) {
  const Interruption interruption(&count_look);
  EXPECT_THROW(parallel_for(100, 2, [](std::int64_t) -> void { throw std::range_error(""); }),
               std::range_error);
}

}  // namespace
}  // namespace sextant

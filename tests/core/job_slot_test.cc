// A job's way from a call to a thread and back, step by step on one thread.
#include "core/threads/job_slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "support/deadline.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;

struct JobSlots : ::testing::Test {
  Deadline deadline;
  std::vector<std::int64_t> done;
  std::function<void(std::int64_t)> note = [this](std::int64_t i) { done.push_back(i); };
  Job job{note, 4, 2};
  JobSlot slot{true};
  std::uint32_t round = 0;
};

TEST_F(JobSlots, AThreadBeginsWithItsOwnIndexAndTakesTheRest) {
  ASSERT_TRUE(slot.try_assign(job, 1, round));
  slot.work_once();
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_FALSE(slot.take_back(round));
  slot.wait_for_end(round);
}

TEST_F(JobSlots, AJobIsTakenBackFromAThreadThatHasNotBegun) {
  ASSERT_TRUE(slot.try_assign(job, 1, round));
  ASSERT_TRUE(slot.take_back(round));
  slot.wait_for_end(round);
  Job next{note, 8, 8};
  std::uint32_t next_round = 0;
  ASSERT_TRUE(slot.try_assign(next, 7, next_round));
  slot.work_once();
  EXPECT_THAT(done, ElementsAre(7));
}

TEST_F(JobSlots, AThreadHasOneJobAtATime) {
  ASSERT_TRUE(slot.try_assign(job, 1, round));
  std::uint32_t other = 0;
  EXPECT_FALSE(slot.try_assign(job, 2, other));
  note = [&](std::int64_t) { EXPECT_FALSE(slot.try_assign(job, 2, other)); };
  slot.work_once();
  EXPECT_TRUE(slot.try_assign(job, 2, other));
}

TEST_F(JobSlots, ARunningJobIsNotTakenBack) {
  ASSERT_TRUE(slot.try_assign(job, 1, round));
  note = [&](std::int64_t) { EXPECT_FALSE(slot.take_back(round)); };
  slot.work_once();
}

TEST_F(JobSlots, ACallDoesNotWaitForTheNextCallsJob) {
  ASSERT_TRUE(slot.try_assign(job, 1, round));
  slot.work_once();
  std::uint32_t next_round = 0;
  ASSERT_TRUE(slot.try_assign(job, 1, next_round));
  slot.wait_for_end(round);  // the next job is assigned and has not begun
  EXPECT_FALSE(slot.take_back(round));
  EXPECT_TRUE(slot.take_back(next_round));
}

TEST_F(JobSlots, WaitsForAThreadThatSleeps) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    bool ended = false;
    note = [&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ended = true;
    };
    Job one{note, 2, 2};
    std::jthread worker([this] { slot.work_once(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(slot.try_assign(one, 1, round));
    slot.wait_for_end(round);
    ASSERT_TRUE(ended);
  }
}

}  // namespace
}  // namespace sextant

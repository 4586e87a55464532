// Tasks that add to the same sums: in their order, and what becomes of the others when one throws.
#include "attention/backward/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sextant/core/parallel.h"
#include "support/deadline.h"

namespace sextant::attention_detail {
namespace {

using Task = BackwardOrder::TaskCursor::Task;
using TurnGuard = BackwardOrder::TurnGuard;

TEST(BackwardOrder, ATaskThatThrowsKeepsNobodyWaiting) {
  const Deadline deadline;
  for (int n = 0; n < 200; ++n) {
    BackwardOrder order(40, true, [](std::int64_t) { return 1; });
    std::vector<std::int64_t> added;  // by one task at a time, says the order
    const auto work = [&](std::int64_t) {
      BackwardOrder::TaskCursor walk(order, 1);
      for (Task task{}; walk.next(task);) {
        const TurnGuard ticket(order, task);
        if (task.slice % 13 == 12) throw std::runtime_error("not enough memory");
        ticket.wait_for_all();
        added.push_back(task.slice);
      }
    };
    EXPECT_THROW(parallel_for(4, 4, work), std::runtime_error);
    EXPECT_TRUE(std::is_sorted(added.begin(), added.end()));
    EXPECT_GE(added.size(), 12U);  // those before the first that threw
    EXPECT_EQ(std::count(added.begin(), added.end(), 12), 0);
  }
}

TEST(BackwardOrder, NobodyPassesATaskAtWorkBecauseOneBetweenThrew) {
  const Deadline deadline;
  BackwardOrder order(1, false, [](std::int64_t) { return 3; });
  BackwardOrder::TaskCursor walk(order, 1);
  Task first{}, second{}, third{};
  ASSERT_TRUE(walk.next(first) && walk.next(second) && walk.next(third));
  std::atomic<bool> first_ended{false}, too_early{false};
  std::optional<TurnGuard> at_work(std::in_place, order, first);
  std::thread throws([&] {
    try {
      const TurnGuard ticket(order, second);
      throw std::runtime_error("not enough memory");
    } catch (const std::runtime_error&) {
    }
  });
  std::thread behind([&] {
    const TurnGuard ticket(order, third);
    ticket.wait_for(5);
    if (!first_ended) too_early = true;
    ticket.wait_for_all();
    if (!first_ended) too_early = true;
  });
  at_work->report(64);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  first_ended = true;
  at_work.reset();
  throws.join();
  behind.join();
  EXPECT_FALSE(too_early);
}

}  // namespace
}  // namespace sextant::attention_detail

// Memory that threads keep: lent to one user at a time, the same again afterwards, given back.
#include "sextant/core/scratch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "core/threads/scratch_lease.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr std::int64_t kBytes = sizeof(float);

TEST(Scratch, IsTheSameMemoryForOneLeaseAfterTheOther) {
  release_scratch();
  const float* first = nullptr;
  {
    const ScratchLease lease(1000);
    first = lease.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kAlignment, 0U);
  }
  const ScratchLease fewer(10);
  EXPECT_EQ(fewer.data(), first);
}

TEST(Scratch, IsLentOnceAtATimeHoweverDeep) {
  release_scratch();
  for (int n = 0; n < 2; ++n) {
    std::optional<ScratchLease> leases[10];
    for (int depth = 0; depth < 10; ++depth) {
      leases[depth].emplace(100);
      for (int i = 0; i < 100; ++i) leases[depth]->data()[i] = static_cast<float>(100 * depth + i);
    }
    for (int depth = 9; depth >= 0; --depth) {
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(leases[depth]->data()[i], static_cast<float>(100 * depth + i));
      }
      leases[depth].reset();
    }
  }
}

TEST(Scratch, IsKeptByDepth) {
  release_scratch();
  const float *outer = nullptr, *inner = nullptr;
  for (int n = 0; n < 3; ++n) {
    const ScratchLease a(500);
    const ScratchLease b(50);
    if (n > 0) {
      EXPECT_EQ(a.data(), outer);
      EXPECT_EQ(b.data(), inner);
    }
    outer = a.data();
    inner = b.data();
  }
}

TEST(Scratch, IsGivenBackButForWhatIsLent) {
  release_scratch();
  EXPECT_EQ(release_scratch(), 0);
  const ScratchLease lent(300);
  lent.data()[299] = 7;
  { const ScratchLease idle(200); }
  EXPECT_EQ(release_scratch(), 200 * kBytes);
  EXPECT_EQ(release_scratch(), 0);
  EXPECT_EQ(lent.data()[299], 7);
}

TEST(Scratch, OfOtherThreadsIsGivenBackToo) {
  release_scratch();
  std::atomic<int> step{0};
  std::thread other([&] {
    { const ScratchLease idle(400); }
    step = 1;
    while (step != 2) std::this_thread::yield();
    const ScratchLease again(400);
    again.data()[399] = 1;
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_EQ(release_scratch(), 400 * kBytes);
  step = 2;
  other.join();
  EXPECT_EQ(release_scratch(), 0) << "a thread that has ended keeps nothing";
}

TEST(Scratch, CanBeGivenBackWhileThreadsTakeIt) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (int n = 0; !stop; ++n) {
      const ScratchLease outer(1 + n % 50), inner(1 + n % 7);
      outer.data()[n % 50] = 1;
      inner.data()[n % 7] = 2;
      ASSERT_EQ(outer.data()[n % 50], 1);
    }
  });
  for (int n = 0; n < 20000; ++n) release_scratch();
  stop = true;
  other.join();
}

TEST(Scratch, ThatIsNotThereThrowsAndLeavesTheRestInOrder) {
  release_scratch();
  const ScratchLease outer(20);
  outer.data()[0] = 5;
  EXPECT_THROW(ScratchLease(std::int64_t{1} << 62), Error);
  const ScratchLease inner(20);
  inner.data()[0] = 6;
  EXPECT_EQ(outer.data()[0], 5);
}

}  // namespace
}  // namespace sextant

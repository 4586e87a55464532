// The table that grows by itself.
#include "sextant/schemes/added/position_table.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "sextant/core/error.h"

namespace sextant {
namespace {

bool starts_with(const Tensor<float>& whole, const Tensor<float>& part) {
  return std::memcmp(whole.data(), part.data(),
                     static_cast<std::size_t>(part.count()) * sizeof(float)) == 0;
}

TEST(PositionTable, GrowsOnDemandAndNeverShrinks) {
  PositionTable<float> table({.length = 10, .width = 6});
  EXPECT_EQ(table.length(), 10);
  const auto small = table.rows(4);
  EXPECT_EQ(small->size(0), 10);
  const auto large = table.rows(11);
  EXPECT_EQ(large->size(0), 20);  // twice as many at least
  EXPECT_EQ(table.rows(1000)->size(0), 1000);
  EXPECT_EQ(table.rows(0)->size(0), 1000);
  EXPECT_EQ(table.length(), 1000);
  EXPECT_EQ(small->size(0), 10);  // what was handed out stays as it was
}

TEST(PositionTable, HoldsTheRowsOfOneTableHoweverItGrew) {
  const Sinusoidal options{
      .length = 0, .width = 10, .first = 3, .layout = SinusoidalLayout::half_split};
  PositionTable<float> table(options);
  for (const std::int64_t length : {1, 2, 70, 71, 400, 5000}) {
    const auto rows = table.rows(length);
    Sinusoidal whole = options;
    whole.length = rows->size(0);
    EXPECT_TRUE(starts_with(*rows, sinusoidal<float>(whole)));
  }
}

TEST(PositionTable, ServesManyThreadsAtOnce) {
  const Tensor<float> expected = sinusoidal<float>({.length = 8192, .width = 16});
  PositionTable<float> table({.width = 16, .threads = 1});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 200; ++i) {
        const std::int64_t length = 1 + random() % 4000;
        const auto rows = table.rows(length);
        const std::int64_t row = random() % length;
        const bool same = std::memcmp(&(*rows)(row, 0), &expected(row, 0), 16 * sizeof(float)) == 0;
        if (rows->size(0) < length || !same) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(PositionTable, DoublesUpToTheLastPositionOnly) {
  const std::int64_t last = std::int64_t{1} << 53;
  PositionTable<float> table({.length = 60, .width = 4, .first = last - 100});
  const auto rows = table.rows(70);
  EXPECT_EQ(rows->size(0), 101);  // up to 2^53 itself
  const Tensor<float> expected = sinusoidal<float>({.length = 1, .width = 4, .first = last});
  EXPECT_EQ(std::memcmp(&(*rows)(100, 0), expected.data(), 4 * sizeof(float)), 0);
  EXPECT_THROW(table.rows(102), Error);
  EXPECT_EQ(table.length(), 101);
}

TEST(PositionTable, TakesTheRowsAskedForWhenTwiceAsManyDoNotFit) {
#ifdef SEXTANT_SANITIZED
  GTEST_SKIP() << "sanitizers need an address space without limit";
#else
  constexpr std::int64_t kRows = 96;
  constexpr std::int64_t kWidth = std::int64_t{1} << 18;  // 96 MiB for the rows
  PositionTable<float> table({.length = kRows, .width = kWidth, .threads = 1});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  std::ifstream sizes("/proc/self/statm");
  std::int64_t pages = 0;
  if (!(sizes >> pages)) GTEST_SKIP() << "needs /proc";
  // Room for 97 rows and for the workings of one, not for 192 rows.
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + 150 * (kWidth * 4));
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  std::shared_ptr<const Tensor<float>> rows;
  try {
    rows = table.rows(kRows + 1);
  } catch (const std::exception& problem) {
    ADD_FAILURE() << problem.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->size(0), kRows + 1);
#endif
}

TEST(PositionTable, RefusesWhatATableRefuses) {
  EXPECT_THROW(PositionTable<float>({.width = 0}), Error);
  PositionTable<float> table({.width = 4});
  EXPECT_THROW(table.rows(-1), Error);
  EXPECT_THROW(table.rows(std::int64_t{1} << 61), Error);
  EXPECT_EQ(table.length(), 0);
}

}  // namespace
}  // namespace sextant

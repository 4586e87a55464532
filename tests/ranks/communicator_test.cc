// Messages between ranks.
#include "sextant/ranks/communicator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "ranks/error_on_ranks.h"
#include "sextant/core/error.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks::communicator_test {
namespace {

std::vector<std::int64_t> numbers(std::int64_t first, std::size_t count) {
  std::vector<std::int64_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

template <class T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <class T>
std::span<std::byte> room(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

TEST(Communicator, PassesMessagesRoundTheRingWhileRanksCompute) {
  for (const std::size_t count : {0U, 1U, 1000U, 1000000U}) {
    const auto mine = numbers(world().rank() * 1000, count);
    std::vector<std::int64_t> from_left(count);
    const int right = (world().rank() + 1) % world().size();
    const int left = (world().rank() + world().size() - 1) % world().size();
    const Communicator::Outgoing out[] = {{right, bytes(mine), 3}};
    const Communicator::Incoming in[] = {{left, room(from_left), 3}};
    Exchange exchange = world().start(out, in);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    exchange.finish();
    EXPECT_EQ(from_left, numbers(left * 1000, count));
  }
}

TEST(Communicator, GathersPartsOfOneLengthAndOfAny) {
  for (const std::size_t count : {0U, 3U, 100000U}) {
    const auto mine = numbers(world().rank(), count);
    std::vector<std::int64_t> all(count * static_cast<std::size_t>(world().size()));
    world().all_gather(bytes(mine), room(all));
    for (int r = 0; r < world().size(); ++r) {
      const auto part = std::span(all).subspan(static_cast<std::size_t>(r) * count, count);
      EXPECT_EQ(std::vector(part.begin(), part.end()), numbers(r, count));
    }
  }
  const auto mine = numbers(7, static_cast<std::size_t>(world().rank()));
  const auto parts = world().all_gather(bytes(mine));
  for (int r = 0; r < world().size(); ++r) {
    EXPECT_EQ(parts[static_cast<std::size_t>(r)].size(),
              sizeof(std::int64_t) * static_cast<std::size_t>(r));
  }
}

// Rank a sends a + 2 b numbers 100 a + b to rank b: also none, and to itself.
TEST(Communicator, ExchangesPartsOfAnyLength) {
  const int me = world().rank();
  const auto part = [](int from, int to) {
    return std::vector<int>(static_cast<std::size_t>(from + 2 * to), 100 * from + to);
  };
  std::vector<std::vector<int>> out, in;
  std::vector<std::span<const std::byte>> sent;
  std::vector<std::span<std::byte>> received;
  for (int r = 0; r < world().size(); ++r) {
    out.push_back(part(me, r));
    in.emplace_back(static_cast<std::size_t>(r + 2 * me));
    sent.push_back(std::as_bytes(std::span(out.back())));
    received.push_back(std::as_writable_bytes(std::span(in.back())));
  }
  world().exchange(sent, received);
  for (int r = 0; r < world().size(); ++r) EXPECT_EQ(in[static_cast<std::size_t>(r)], part(r, me));
}

TEST(Communicator, SumsInTheOrderOfATree) {
  const int size = world().size();
  std::vector<float> terms;  // of which the order shows
  for (int r = 0; r < size; ++r) terms.push_back(r % 2 == 0 ? 1e8F : 1.25F + static_cast<float>(r));
  std::vector<float> tree = terms;
  for (int step = 1; step < size; step *= 2) {
    for (int r = 0; r + step < size; r += 2 * step) {
      tree[static_cast<std::size_t>(r)] += tree[static_cast<std::size_t>(r + step)];
    }
  }
  float sum = terms[static_cast<std::size_t>(world().rank())];
  world().all_reduce(std::span(&sum, 1));
  EXPECT_EQ(sum, tree[0]);
  std::vector<std::int64_t> counts = {1, world().rank()};
  world().all_reduce(std::span(counts));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{size, size * (size - 1) / 2}));
  EXPECT_EQ(world().largest(std::int64_t{world().rank()}), size - 1);
}

TEST(Communicator, TellsWhatOneHas) {
  std::vector<std::int64_t> values = numbers(world().rank(), 5);
  world().broadcast(world().size() - 1, room(values));
  EXPECT_EQ(values, numbers(world().size() - 1, 5));
  world().barrier();
}

TEST(Communicator, SplitsAndDuplicates) {
  const Communicator half = world().split(world().rank() % 2, -world().rank());
  EXPECT_EQ(half.size(), (world().size() + 1 - world().rank() % 2) / 2);
  std::int64_t count = 1;
  half.all_reduce(std::span(&count, 1));
  EXPECT_EQ(count, half.size());
  EXPECT_EQ(world().duplicate().size(), world().size());
}

TEST(Communicator, RefusesARankThatIsNone) {
  EXPECT_THROW(world().send(world().size(), {}), Error);
}

TEST(Agreement, TellsEveryRankWhatDiffers) {
  const std::string last = std::to_string(world().size() - 1);
  const bool is_last = world().rank() == world().size() - 1;
  const auto check = [&](std::string value, std::string where) {
    return error_on_ranks([&] { Agreement().add("same", "1").add(where, value).check(world()); });
  };
  EXPECT_EQ(check("5", "softcap"), "no error");
  if (world().size() == 1) return;
  EXPECT_EQ(check(is_last ? "4" : "5", "softcap"),
            "[softcap] must be the same on all ranks, got 5 on rank 0 and 4 on rank " + last);
  EXPECT_EQ(check("5", is_last ? "other" : "softcap"),
            "[ranks] all ranks must make the same call, but rank " + last +
                " makes another one than rank 0");
  const std::vector<std::int64_t> table = numbers(is_last ? 1 : 0, 1000);
  EXPECT_EQ(error_on_ranks([&] { same_everywhere(world(), "bias", bytes(table)); }),
            "[bias] must be the same on all ranks, got other values on rank " + last);
}

TEST(Agreement, TellsNumbersInTheSameRound) {
  const std::int64_t me = world().rank();
  const auto all = Agreement().add("same", "1").check(world(), [] {}, {me, 10 * me, -1});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world().size()));
  for (std::int64_t r = 0; r < world().size(); ++r) {
    EXPECT_EQ(all[static_cast<std::size_t>(r)], (Agreement::Numbers{r, 10 * r, -1}));
  }
}

TEST(Agreement, TellsProblemsBeforeDifferences) {
  const bool is_last = world().rank() == world().size() - 1;
  const auto refuse = [&] {
    if (is_last) throw Error("q", "is wrong");
  };
  const std::string text = error_on_ranks(
      [&] { Agreement().add("softcap", is_last ? "4" : "5").check(world(), refuse); });
  EXPECT_EQ(text.find("[q] is wrong"), 0U) << text;
}

// One rank is in another call than the others: all hear of it, and nobody waits.
TEST(Agreement, FindsRanksInDifferentCalls) {
  if (world().size() == 1) return;
  const std::string text = error_on_ranks([&] {
    if (world().rank() == world().size() - 1) return run_or_fail_on_all(world(), [] {});
    Agreement().add("softcap", "5").check(world());
  });
  EXPECT_EQ(text.find("[ranks] all ranks must make the same call"), 0U) << text;
}

TEST(Together, ThrowsOnAllRanksWhatOneThrew) {
  EXPECT_EQ(error_on_ranks([] { run_or_fail_on_all(world(), [] {}); }), "no error");
  const std::string last = std::to_string(world().size() - 1);
  EXPECT_EQ(error_on_ranks([&] {
              run_or_fail_on_all(world(), [&] {
                if (world().rank() == world().size() - 1) throw Error("q.npy", "is no array");
              });
            }),
            "[q.npy] is no array" + (world().size() > 1 ? ", on rank " + last : ""));
  EXPECT_EQ(
      error_on_ranks([] { run_or_fail_on_all(world(), [] { throw Error("q", "is wrong"); }); }),
      "[q] is wrong");
}

}  // namespace
}  // namespace sextant::ranks::communicator_test

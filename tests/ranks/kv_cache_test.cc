// A divided cache beside a whole one.
#include "sextant/ranks/kv_cache.h"

#include <gtest/gtest.h>

#include "ranks/results.h"

namespace sextant::ranks {
namespace {

// Generates position by position, some prompts at once, and compares each result with that of a
// cache in one process.
template <class T>
void expect_as_in_one_process(const AttentionOptions<T>& options, double step) {
  const std::int64_t length = 300, prompt = 140;
  const auto q = random_array<T>({2, 4, length, 16}, 1), k = random_array<T>({2, 2, length, 16}, 2);
  const auto v = random_array<T>({2, 2, length, 24}, 3);
  sextant::KvCache<T> whole(2, 2, 16, 24, length);
  KvCache<T> divided(world(), 2, 2, 16, 24, length);
  for (std::int64_t at = 0; at < length;) {
    const std::int64_t count = at == 0 ? prompt : at == prompt ? 5 : 1;
    const auto rows = [&](const Tensor<T>& x) { return x.view().narrow(2, at, count); };
    whole.append(rows(k), rows(v));
    divided.append(rows(k), rows(v));
    at += count;
    if (at > 160 && at < 290) continue;
    const Shape shape{2, 4, count, 24}, log_shape{2, 4, count};
    Tensor<T> wanted(shape), got(shape);
    Tensor<float> log(log_shape), logs(log_shape);
    whole.attend(q.view().narrow(2, at - count, count), wanted, options, log);
    divided.attend(q.view().narrow(2, at - count, count), got, options, logs);
    EXPECT_LE(distance(got, wanted), step * (1 + size_of(wanted))) << at;
    EXPECT_LE(distance(logs, log), 0x1p-20) << at;
    std::vector<T> first(got.data(), got.data() + got.count());
    world().broadcast(0, std::as_writable_bytes(std::span(first)));
    EXPECT_TRUE(std::equal(first.begin(), first.end(), got.data())) << "other bits than on rank 0";
  }
}

// Chains of at most 300 additions and some merging: below 2^-20 of values of about 1.
TEST(RanksKvCache, GivesWhatOneCacheGives) {
  expect_as_in_one_process<float>({}, 0x1p-20);
  expect_as_in_one_process<bfloat16>({}, 0x1p-9);
}

TEST(RanksKvCache, TakesOptionsByThePositionsOfTheWhole) {
  auto rotation = rotary({.head_dim = 16}, 400);
  rotation.first_position = 700;  // rows are taken by index
  const std::vector<double> sinks = {1, 0, -2, 0.5};
  const DistanceBias bias{.slopes = {0.1, 0.2, 0.3, 0.4}};
  AttentionOptions<float> options{.window = {100, -1}, .bias = &bias, .softcap = 3};
  options.sinks = sinks;
  options.rotation = &rotation;
  expect_as_in_one_process(options, 0x1p-20);
  options.causal = Causal::none;
  expect_as_in_one_process(options, 0x1p-20);
}

TEST(RanksKvCache, HasItsShareOfTheMemory) {
  const KvCache<float> cache(world(), 1, 2, 16, 16, 6400 * world().size());
  EXPECT_EQ(cache.bytes(), 6400 * 2 * 32 * std::int64_t{sizeof(float)});
}

TEST(RanksKvCache, RefusesOnAllRanks) {
  KvCache<float> cache(world(), 1, 1, 4, 4, 3);
  const Tensor<float> four({1, 1, 4, 4});
  EXPECT_THROW(cache.append(four, four), Error);
  Tensor<float> out({1, 1, 4, 4});
  EXPECT_THROW(cache.attend(four, out, {.causal = Causal::bottom_right}), Error);
  if (world().size() == 1) return;
  EXPECT_THROW(KvCache<float>(world(), 1, 1, 4, 4, 64 + world().rank()), Error);
}

}  // namespace
}  // namespace sextant::ranks

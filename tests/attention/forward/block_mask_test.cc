// Masks by lists of key blocks: the same bits as the mask of bools that the definition gives.
#include "sextant/schemes/indexed/block_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "attention/same_bits.h"
#include "sextant/attention.h"
#include "sextant/core/random.h"
#include "support/error_of.h"

namespace sextant::block_mask_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kDim = 16;

template <class T>
Tensor<T> drawn(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(random.normal());
  return x;
}

struct Sizes {
  std::int64_t batch, heads, kv_heads, q_len, k_len;
  std::int64_t lists_of_batch, lists_of_heads, listed;
  BlockMask blocks{};
  Causal causal = Causal::none;
};

std::int64_t blocks_of(std::int64_t tokens, std::int64_t block) {
  return (tokens + block - 1) / block;
}

// Lists at random: some blocks twice, some places empty, some queries without a key.
Tensor<std::int64_t> lists_for(const Sizes& s) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> block(-1, blocks_of(s.k_len, s.blocks.key_block) - 1);
  Tensor<std::int64_t> lists(
      {s.lists_of_batch, s.lists_of_heads, blocks_of(s.q_len, s.blocks.query_block), s.listed});
  for (std::int64_t& index : lists.span()) index = block(random);
  return lists;
}

// The definition, pair by pair.
Tensor<bool> pairs_of(const Sizes& s, View<const std::int64_t> lists) {
  Tensor<bool> seen({s.batch, s.heads, s.q_len, s.k_len});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t i = 0; i < s.q_len; ++i) {
        for (std::int64_t j = 0; j < s.k_len; ++j) {
          bool listed = false;
          for (std::int64_t n = 0; n < s.listed; ++n) {
            listed = listed || lists(s.lists_of_batch == 1 ? 0 : b,
                                     s.lists_of_heads == 1 ? 0 : h / s.blocks.group,
                                     i / s.blocks.query_block, n) == j / s.blocks.key_block;
          }
          seen(b, h, i, j) = listed;
        }
      }
    }
  }
  return seen;
}

template <class T>
void expect_the_bits_of_bools(const Sizes& s) {
  const Tensor<std::int64_t> lists = lists_for(s);
  const auto term = block_mask(s.blocks, lists);
  const Tensor<bool> seen = pairs_of(s, lists);
  const auto q = drawn<T>({s.batch, s.heads, s.q_len, kDim}, 1);
  const auto k = drawn<T>({s.batch, s.kv_heads, s.k_len, kDim}, 2);
  const auto v = drawn<T>({s.batch, s.kv_heads, s.k_len, kDim}, 3);
  const auto dout = drawn<T>(q.shape(), 4);
  AttentionOptions<T> by_lists, by_bools;
  by_lists.causal = by_bools.causal = s.causal;
  by_lists.terms = {term.get()};
  by_bools.mask = seen.view();
  const auto all = [&](const AttentionOptions<T>& options) {
    std::array<Tensor<T>, 4> results{Tensor<T>(q.shape()), Tensor<T>(q.shape()),
                                     Tensor<T>(k.shape()), Tensor<T>(v.shape())};
    auto& [out, dq, dk, dv] = results;
    attention<T>(q, k, v, out, options);
    attention_backward<T>(q, k, v, out, dout, {.q = dq, .k = dk, .v = dv}, options);
    return results;
  };
  const auto listed = all(by_lists), expected = all(by_bools);
  for (std::size_t n = 0; n < listed.size(); ++n) {
    EXPECT_TRUE(same_bits<T>(listed[n], expected[n])) << "result " << n;
  }
}

TEST(BlockMask, HasTheBitsOfTheMaskOfItsPairs) {
  const Sizes all[] = {
      {1, 2, 2, 300, 300, 1, 1, 2, {64, 64}},
      {2, 4, 2, 150, 290, 2, 2, 3, {64, 128, 2}},
      {2, 2, 1, 200, 200, 2, 2, 4, {16, 24, 1}, Causal::top_left},
      {1, 4, 4, 1, 500, 1, 4, 2, {64, 64, 1}, Causal::bottom_right},
      {2, 3, 3, 7, 40, 1, 3, 3, {1, 1, 1}},
      {1, 1, 1, 130, 257, 1, 1, 1, {128, 1000}},
  };
  for (const Sizes& s : all) {
    SCOPED_TRACE(s.q_len);
    expect_the_bits_of_bools<float>(s);
    expect_the_bits_of_bools<double>(s);
  }
}

TEST(BlockMask, HidesAllKeysOfQueriesWithoutBlocks) {
  for (const std::int64_t listed : {0, 2}) {
    Tensor<std::int64_t> lists({1, 1, 2, listed});
    for (std::int64_t& index : lists.span()) index = -1;
    const auto term = block_mask({}, lists);
    const auto q = drawn<float>({1, 1, 100, kDim}, 1);
    Tensor<float> out(q.shape());
    AttentionOptions<float> options;
    options.terms = {term.get()};
    attention<float>(q, q, q, out, options);
    for (const float value : out.span()) ASSERT_EQ(value, 0);
  }
}

std::string refusal(const BlockMask& blocks, const Shape& lists, std::int64_t index,
                    const AttentionOptions<float>& options = {}) {
  return error_of([&] {
    Tensor<std::int64_t> indices(lists);
    for (std::int64_t& each : indices.span()) each = index;
    const auto term = block_mask(blocks, indices);
    AttentionOptions<float> with_term = options;
    with_term.terms = {term.get()};
    const Tensor<float> q({2, 4, 100, kDim});
    Tensor<float> out(q.shape());
    attention<float>(q, q, q, out, with_term);
  });
}

TEST(BlockMask, NamesTheArgumentAtFault) {
  EXPECT_EQ(refusal({}, {1, 1, 2, 1}, 1), "no error");
  EXPECT_EQ(refusal({0, 64}, {1, 1, 2, 1}, 0),
            "[block_mask.query_block] must be in 1 .. 1048576, got 0");
  EXPECT_THAT(refusal({64, -1}, {1, 1, 2, 1}, 0), HasSubstr("[block_mask.key_block]"));
  EXPECT_THAT(refusal({64, 64, 0}, {1, 1, 2, 1}, 0), HasSubstr("[block_mask.group]"));
  EXPECT_THAT(refusal({}, {2, 1}, 0), HasSubstr("must be [batch or 1, heads / group or 1"));
  EXPECT_THAT(refusal({}, {0, 1, 2, 1}, 0), HasSubstr("must be [batch or 1, heads / group or 1"));
  EXPECT_EQ(refusal({}, {1, 1, 2, 1}, -2),
            "[block_mask.block_indices] must be in -1 .. 2^31, got -2");
  EXPECT_EQ(refusal({}, {1, 1, 2, 1}, 2),
            "[block_mask.block_indices] must be -1 or a key block of the call, 0 .. 1, got 2");
  EXPECT_EQ(refusal({}, {3, 1, 2, 1}, 0),
            "[block_mask.block_indices] must have a batch of 1 or 2, as the call, got 3");
  EXPECT_EQ(refusal({}, {1, 2, 2, 1}, 0),
            "[block_mask.block_indices] must have 1 head, or 4 / group 1, got 2");
  EXPECT_EQ(refusal({.group = 2}, {1, 2, 2, 1}, 0), "no error");
  EXPECT_EQ(refusal({}, {1, 1, 1, 1}, 0),
            "[block_mask.block_indices] must have 2 query blocks of 64 for q_len 100, got 1");
  const std::vector<std::int64_t> segments{0, 50, 100};
  AttentionOptions<float> packed;
  packed.segments = segments;
  EXPECT_EQ(refusal({}, {1, 1, 2, 1}, 0, packed),
            "[block_mask.block_indices] must not be used in a call with segments");
}

}  // namespace
}  // namespace sextant::block_mask_test

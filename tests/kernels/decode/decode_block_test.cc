// The decode kernel against the forward kernel on every instruction set: the same bits.
#include "kernels/decode/decode_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/attention/block.h"
#include "kernels/rotate/every_target.h"
#include "sextant/core/random.h"

namespace sextant::kernels {
namespace {

constexpr int kQueries = 3;

// The queries of `heads` heads over keys of every storage, with biases that differ from row to row.
template <class T>
struct Problem {
  Problem(int head_count, std::int64_t keys, std::int64_t channels, std::uint32_t seed)
      : heads(head_count),
        k_len(keys),
        dim(channels),
        stride(heads % 2 == 0 ? channels + 24 : channels),
        q(Shape{heads, kQueries, dim}),
        k(Shape{k_len, stride}),
        v(Shape{k_len, stride}),
        bias(Shape{heads, kQueries, k_len}) {
    NumpyRandom random(seed);
    for (T& x : q.span()) x = static_cast<T>(3 * random.normal());
    for (T& x : k.span()) x = static_cast<T>(3 * random.normal());
    for (T& x : v.span()) x = static_cast<T>(random.normal());
    for (float& x : bias.span()) x = static_cast<float>(random.normal());
  }

  DecodeBlock decode(View<T> out, View<float> log_sum) {
    DecodeBlock b;
    b.k = {{k.data(), stride, 1, storage_of<T>}};
    b.v = {{v.data(), stride, 1, storage_of<T>}};
    b.q_storage = b.out_storage = storage_of<T>;
    b.head_dim = b.v_dim = dim;
    b.numbers.scale = 0.3F;
    for (int h = 0; h < heads; ++h) {
      for (int i = 0; i < kQueries; ++i) {
        b.rows[b.count++] = {.q = &q(h, i, 0),
                             .out = &out(h, i, 0),
                             .key_begin = first[i],
                             .key_end = last[i],
                             .sink = -std::numeric_limits<float>::infinity(),
                             .log_sum_exp = &log_sum(h, i)};
      }
    }
    b.fill = [](const void* context, int row, std::int64_t key, std::int64_t count, float* to) {
      const auto& problem = *static_cast<const Problem*>(context);
      std::copy_n(&problem.bias(row / kQueries, row % kQueries, key), count, to);
      biases_to_log2(to, count);
    };
    b.context = this;
    return b;
  }

  void forward(int h, View<T> out, View<float> log_sum) {
    struct Context {
      const Problem* problem;
      int head;
    } context{this, h};
    AttentionBlock b{.q = {&q(h, 0, 0), dim, 1, storage_of<T>},
                     .k = {{k.data(), stride, 1, storage_of<T>}},
                     .v = {{v.data(), stride, 1, storage_of<T>}},
                     .out = {&out(h, 0, 0), dim, 1, storage_of<T>},
                     .queries = kQueries,
                     .head_dim = dim,
                     .v_dim = dim,
                     .numbers = {.scale = 0.3F},
                     .sink = -std::numeric_limits<float>::infinity(),
                     .key_begin = first,
                     .key_end = last,
                     .log_sum_exp = &log_sum(h, 0),
                     .log_sum_exp_stride = 1};
    b.tiles = {[](const void* about, std::int64_t query, std::int64_t queries, std::int64_t key,
                  std::int64_t count, float* tile) {
                 const auto& c = *static_cast<const Context*>(about);
                 std::fill_n(tile, count * kQueryBlock, 0.0F);
                 biases_to_lanes(&c.problem->bias(c.head, query, key), c.problem->k_len, queries,
                                 count, tile);
                 return TileBias::numbers;
               },
               &context};
    auto scratch =
        Tensor<float>::uninitialized(Shape{attention_block_scratch(scratch_shape_of(b))});
    attention_block(b, scratch.data());
  }

  int heads;
  std::int64_t k_len, dim;
  std::int64_t stride;  // between keys: with an even number of heads they lie apart
  Tensor<T> q, k, v;
  Tensor<float> bias;
  std::int32_t first[kQueries] = {}, last[kQueries] = {};
};

template <class T>
void expect_same(const Tensor<T>& got, const Tensor<T>& expected) {
  ASSERT_EQ(
      std::memcmp(got.data(), expected.data(), static_cast<std::size_t>(got.count()) * sizeof(T)),
      0);
}

template <class T>
class DecodeBlockOf : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(DecodeBlockOf, Elements);

// All tiles of rows and channels, and keys that fill blocks, groups and squares or do not.
TYPED_TEST(DecodeBlockOf, HasTheBitsOfTheForwardKernelOnEveryInstructionSet) {
  using T = TypeParam;
  on_every_target([] {
    for (const int heads : {1, 2, 3, 4, 5}) {
      for (const std::int64_t dim : {16, 48, 64, 77, 128}) {
        for (const std::int64_t keys : {1, 15, 32, 128, 129, 300}) {
          SCOPED_TRACE(std::to_string(heads) + " heads, " + std::to_string(dim) + " channels, " +
                       std::to_string(keys) + " keys");
          Problem<T> problem(heads, keys, dim, 17);
          for (std::int32_t i = 0; i < kQueries; ++i) {
            const auto all = static_cast<std::int32_t>(keys);
            problem.last[i] = std::max(0, all - kQueries + 1 + i);
            problem.first[i] = std::min(problem.last[i], (5 * i + all / 3) * (heads % 2));
          }
          const Shape shape{heads, kQueries, dim};
          Tensor<T> expected(shape), whole(shape), staged(shape);
          Tensor<float> expected_log(Shape{heads, kQueries}), whole_log(Shape{heads, kQueries}),
              staged_log(Shape{heads, kQueries});
          for (int h = 0; h < heads; ++h) problem.forward(h, expected, expected_log);

          const DecodeBlock block = problem.decode(whole, whole_log);
          const DecodeScratchShape needs = scratch_shape_of(block);
          auto scratch = Tensor<float>::uninitialized(Shape{decode_block_scratch(needs)});
          ASSERT_EQ(decode_block(block, scratch.data()), 0U);
          ASSERT_NO_FATAL_FAILURE(expect_same(whole, expected));
          ASSERT_NO_FATAL_FAILURE(expect_same(whole_log, expected_log));

          const DecodeBlock parts = problem.decode(staged, staged_log);
          const std::int64_t begin = parts.first_block(), end = parts.end_block();
          auto shared =
              Tensor<float>::uninitialized(Shape{decode_shared_scratch(needs, end - begin)});
          auto own = Tensor<float>::uninitialized(Shape{decode_thread_scratch(needs)});
          decode_begin(parts, shared.data());
          for (std::int64_t n = end; n > begin; --n) {
            decode_scores(parts, n - 1, n, shared.data(), own.data());
          }
          decode_softmax(parts, shared.data());
          for (std::int64_t c = (dim - 1) / 32 * 32; c >= 0; c -= 32) {
            decode_values(parts, c, std::min(c + 32, dim), shared.data(), own.data());
          }
          ASSERT_EQ(decode_finish(parts, shared.data()), 0U);
          ASSERT_NO_FATAL_FAILURE(expect_same(staged, expected));
          ASSERT_NO_FATAL_FAILURE(expect_same(staged_log, expected_log));
        }
      }
    }
  });
}

// Sums of exponentials near 1, whose logarithms are what rounding leaves: another logarithm, or a
// product and a sum in place of one operation, shows in every few rows.
TEST(DecodeBlock, HasTheLogarithmsOfTheForwardKernelForEveryLength) {
  on_every_target([] {
    constexpr int kHeads = 5;
    NumpyRandom random(19);
    for (std::int32_t keys = 1; keys <= 300; ++keys) {
      Problem<float> problem(kHeads, keys, 16, 20);
      std::fill(problem.q.span().begin(), problem.q.span().end(), 0.0F);
      std::fill_n(problem.last, kQueries, keys);
      for (int row = 0; row < kHeads * kQueries; ++row) {
        // One number for all keys of a row: the sum is that many times it.
        const double nearly = -std::log(keys) + 1e-6 * (row % 4) * random.normal();
        const double value = row % 5 == 0 ? 50 * random.normal() : nearly;
        std::fill_n(problem.bias.data() + row * keys, keys, static_cast<float>(value));
      }
      Tensor<float> expected(Shape{kHeads, kQueries, 16}), out(expected.shape());
      Tensor<float> expected_log(Shape{kHeads, kQueries}), log_sum(expected_log.shape());
      for (int h = 0; h < kHeads; ++h) problem.forward(h, expected, expected_log);
      const DecodeBlock block = problem.decode(out, log_sum);
      auto scratch =
          Tensor<float>::uninitialized(Shape{decode_block_scratch(scratch_shape_of(block))});
      ASSERT_EQ(decode_block(block, scratch.data()), 0U);
      SCOPED_TRACE(std::to_string(keys) + " keys");
      ASSERT_NO_FATAL_FAILURE(expect_same(log_sum, expected_log));
    }
  });
}

TEST(DecodeBlock, TellsWhichRowsSeeNanOrInfinity) {
  on_every_target([] {
    Problem<float> problem(2, 40, 32, 18);
    for (std::int32_t i = 0; i < kQueries; ++i) problem.last[i] = 38 + i;
    problem.v(39, 5) = std::numeric_limits<float>::quiet_NaN();  // seen by query 2 alone
    Tensor<float> expected(Shape{2, kQueries, 32}), out(Shape{2, kQueries, 32});
    Tensor<float> expected_log(Shape{2, kQueries}), log_sum(Shape{2, kQueries});
    for (int h = 0; h < 2; ++h) problem.forward(h, expected, expected_log);
    const DecodeBlock block = problem.decode(out, log_sum);
    auto scratch =
        Tensor<float>::uninitialized(Shape{decode_block_scratch(scratch_shape_of(block))});
    EXPECT_EQ(decode_block(block, scratch.data()), 0b100100U);
    for (std::int64_t n = 0; n < out.count(); ++n) {
      const float got = out.data()[n], want = expected.data()[n];
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << n;
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(log_sum, expected_log));
  });
}

}  // namespace
}  // namespace sextant::kernels

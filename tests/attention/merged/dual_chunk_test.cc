// Dual chunk attention against its definition in float64, forward and backward, and what is
// refused.
#include "sextant/attention/dual_chunk.h"

#include <gtest/gtest.h>

#include <limits>

#include "attention/merged/self_extend_cases.h"
#include "support/error_of.h"

namespace sextant::self_extend_test {
namespace {

// The paper's three cases, equations 2 to 8.
std::int64_t chunk_distance(const DualChunk& chunks, std::int64_t i, std::int64_t j) {
  const std::int64_t size = chunks.chunk_size - chunks.local_size, last = chunks.chunk_size - 1;
  if (i / size == j / size) return i - j;
  if (i / size == j / size + 1) return std::min(size + i % size, last) - j % size;
  return last - j % size;
}

struct ChunkCase : Case {
  DualChunk chunks{.chunk_size = 12, .local_size = 4};

  void make_chunks() {
    distances = [this](std::int64_t i, std::int64_t j) { return chunk_distance(chunks, i, j); };
    make();
  }
};

Tensor<float> result_of(const ChunkCase& call, View<float> logs = {}) {
  Tensor<float> out({2, 4, call.q_len, kValueDim});
  dual_chunk_attention(call.q, call.k, call.v, out.view(), call.chunks, call.options, logs);
  return out;
}

void expect_defined(const ChunkCase& call) {
  Tensor<float> logs({3, 2, 4, call.q_len});
  const Tensor<float> got = result_of(call, logs.view());
  const reference::AttentionResult wanted = reference::attend(defined(call, kNothing));
  const double tolerance = relative_error(call) * largest(wide(call.v));
  ASSERT_LT(tolerance, 1e-3);
  for (std::int64_t i = 0; i < got.count(); ++i) {
    ASSERT_NEAR(got.data()[i], wanted.output.data()[i], tolerance) << i;
  }
}

TEST(DualChunk, IsItsDefinition) {
  for (const DualChunk chunks : {DualChunk{12, 4}, {2, 1}, {12, 11}, {17, 1}, {41, 1}, {64, 8}}) {
    SCOPED_TRACE(std::to_string(chunks.chunk_size) + " " + std::to_string(chunks.local_size));
    ChunkCase call;
    call.chunks = chunks;
    call.make_chunks();
    expect_defined(call);
  }
}

TEST(DualChunk, CountsPositionsFromTheDiagonal) {
  ChunkCase call;
  call.q_len = 7;
  call.offsets = {33, 33};
  call.options.causal = Causal::bottom_right;
  call.make_chunks();
  expect_defined(call);

  const std::int64_t offsets[] = {-3, 21};
  call.offsets = {-3, 21};
  call.options.causal = Causal::at_offsets;
  call.options.query_offsets = offsets;
  expect_defined(call);

  const std::int64_t lengths[] = {20, 40};
  call.offsets = {13, 33};
  call.options.causal = Causal::at_lengths;
  call.options.query_offsets = {};
  call.options.key_lengths = lengths;
  call.k(0, 1, 20, 0) = call.v(0, 0, 30, 0) = std::numeric_limits<float>::quiet_NaN();
  const Tensor<float> got = result_of(call);
  call.k(0, 1, 20, 0) = call.v(0, 0, 30, 0) = 0;
  expect_defined(call);
  const Tensor<float> finite = result_of(call);
  for (std::int64_t i = 0; i < got.count(); ++i) EXPECT_EQ(got.data()[i], finite.data()[i]);
}

// In one chunk distances are exact.
TEST(DualChunk, OfOneChunkIsRotaryAttention) {
  ChunkCase call;
  call.chunks = {.chunk_size = 60, .local_size = 20};
  call.make_chunks();
  const double sinks[] = {0.5, -1, 2, 0};
  call.options.sinks = sinks;
  Tensor<float> plain({2, 4, 40, kValueDim});
  attention<float>(call.q, call.k, call.v, plain.view(), call.options);
  const Tensor<float> got = result_of(call);
  for (std::int64_t i = 0; i < plain.count(); ++i) EXPECT_EQ(got.data()[i], plain.data()[i]);
}

// A text of any length needs chunk_size rows of the table.
TEST(DualChunk, NeedsTheRowsOfOneChunkAlone) {
  ChunkCase call;
  call.make_chunks();
  const Tensor<float> all = result_of(call);
  const RotationTable<float> few = rotary<float>({.head_dim = kDim, .base = kBase}, 12);
  call.options.rotation = &few;
  const Tensor<float> got = result_of(call);
  for (std::int64_t i = 0; i < all.count(); ++i) EXPECT_EQ(got.data()[i], all.data()[i]);
  const RotationTable<float> too_few = rotary<float>({.head_dim = kDim, .base = kBase}, 11);
  call.options.rotation = &too_few;
  Tensor<float> out({2, 4, 40, kValueDim});
  expect_error("dual_chunk_attention.rotation", [&] {
    dual_chunk_attention(call.q, call.k, call.v, out.view(), call.chunks, call.options);
  });
  for (const float x : out.span()) EXPECT_EQ(x, 0);  // nothing is written
}

TEST(DualChunk, MakesRowsOfVisibleNanNan) {
  for (const std::int64_t chunk_size : {12, 64}) {
    ChunkCase call;
    call.chunks.chunk_size = chunk_size;
    call.make_chunks();
    call.k(0, 1, 20, 3) = std::numeric_limits<float>::quiet_NaN();
    const Tensor<float> out = result_of(call);
    for (std::int64_t i = 0; i < call.q_len; ++i) {
      EXPECT_EQ(std::isnan(out(0, 2, i, 0)), i >= 20) << chunk_size << ' ' << i;
      EXPECT_FALSE(std::isnan(out(0, 0, i, 0)));  // of another key head
    }
  }
}

TEST(DualChunk, DoesNotDependOnThreads) {
  ChunkCase call;
  call.make_chunks();
  const Tensor<float> one = result_of(call);
  call.options.threads = 3;
  const Tensor<float> three = result_of(call);
  for (std::int64_t i = 0; i < one.count(); ++i) EXPECT_EQ(one.data()[i], three.data()[i]);
}

TEST(DualChunkBackward, IsThatOfTheDefinition) {
  for (const DualChunk chunks : {DualChunk{12, 4}, {2, 1}, {64, 8}}) {
    SCOPED_TRACE(std::to_string(chunks.chunk_size));
    ChunkCase call;
    call.chunks = chunks;
    const double sinks[] = {0.5, -1, 2, 0};
    call.options.sinks = sinks;
    call.make_chunks();
    const Tensor<float> dout = random_array({2, 4, 40, kValueDim}, 4);
    const reference::Attention all = defined(call, kNothing);
    const auto wanted = reference::attention_gradient<double>(
        all, std::vector<double>(sinks, sinks + 4), wide(dout));
    const auto [dq, dk] = of_queries_and_keys(call, wanted.added);
    Tensor<float> logs({3, 2, 4, 40});
    const Tensor<float> out = result_of(call, logs.view());
    Tensor<float> q(call.q.shape()), k(call.k.shape()), v(call.v.shape()), of_sinks({4});
    dual_chunk_backward(call.q, call.k, call.v, out, dout,
                        {.q = q, .k = k, .v = v, .bias = {}, .sinks = of_sinks}, call.chunks,
                        call.options, logs);
    const double off = 4 * relative_error(call);
    const auto expect_near = [&](const Tensor<float>& got, const Tensor<double>& truth) {
      for (std::int64_t i = 0; i < got.count(); ++i) {
        ASSERT_NEAR(got.data()[i], truth.data()[i], off * largest(truth)) << i;
      }
    };
    expect_near(q, dq);
    expect_near(k, dk);
    expect_near(v, wanted.v);
    Tensor<double> sums({4});
    for (std::int64_t h = 0; h < 4; ++h) sums(h) = wanted.sinks(0, h) + wanted.sinks(1, h);
    expect_near(of_sinks, sums);
  }
}

TEST(DualChunk, NamesTheOptionAtFault) {
  const auto refused = [](const char* name, const auto& change) {
    ChunkCase call;
    call.make_chunks();
    change(call);
    expect_error(std::string("dual_chunk_attention.") + name, [&] { result_of(call); });
  };
  refused("chunk_size", [](ChunkCase& call) { call.chunks.chunk_size = 1; });
  refused("local_size", [](ChunkCase& call) { call.chunks.local_size = 0; });
  refused("local_size", [](ChunkCase& call) { call.chunks.local_size = 12; });
  refused("rotation", [](ChunkCase& call) { call.options.rotation = nullptr; });
  refused("causal", [](ChunkCase& call) { call.options.causal = {}; });
  refused("dropout", [](ChunkCase& call) { call.options.dropout = 0.5; });
  const std::int64_t one[] = {40}, beyond[] = {40, 41};
  refused("key_lengths", [&](ChunkCase& call) { call.options.key_lengths = one; });
  refused("key_lengths", [&](ChunkCase& call) { call.options.key_lengths = beyond; });
  const Tensor<bool> mask({40, 40});
  refused("mask", [&](ChunkCase& call) { call.options.mask = mask.view(); });
  ChunkCase call;
  call.make_chunks();
  Tensor<float> logs({2, 2, 4, 40});
  expect_error("dual_chunk_attention.log_sum_exps", [&] { result_of(call, logs.view()); });
  Tensor<float> dq(call.q.shape()), bias({40, 40}), out({2, 4, 40, kValueDim});
  expect_error("dual_chunk_backward.gradients", [&] {
    dual_chunk_backward(call.q, call.k, call.v, out, out, {.q = dq, .bias = {}, .mask = bias},
                        call.chunks, call.options, Tensor<float>({3, 2, 4, 40}));
  });
}

}  // namespace
}  // namespace sextant::self_extend_test

// attention_plan() says what a call will do.
#include "sextant/attention/plan.h"
#include "sextant/schemes/rotated/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/kernels.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AttentionPlan, ALongCallIsCutIntoTasksOfTheFastKernel) {
  const Tensor<float> q(Shape{1, 8, 4096, 64});
  const auto plan = attention_plan(q, q, q, {.causal = Causal::top_left, .threads = 2});
  EXPECT_EQ(plan.kernel, "queries in lanes");
  EXPECT_EQ(plan.arithmetic, "float32");
  EXPECT_EQ(plan.target, chosen_target());
  EXPECT_EQ(plan.threads, 2);
  EXPECT_EQ(plan.query_block, 256);
  EXPECT_EQ(plan.tasks, 8 * 16);
  EXPECT_THAT(plan.notes, IsEmpty());
  EXPECT_THAT(plan.explain(), HasSubstr("threads  2\n"));
}

TEST(AttentionPlan, ScratchStaysBelowTwoMebibytesHoweverLongTheSequence) {
  const Tensor<float> q(Shape{1, 8, 16384, 64});
  const DistanceBias bias{Tensor<float>(Shape{8, 2 * 16384 - 1}), 16383};
  const DistanceBias sloped{.slopes = std::vector<double>(8, 0.5)};
  const std::vector<std::int64_t> segments{0, 100, 16384};
  const auto bytes = [&](const AttentionOptions<float>& options) {
    return attention_plan(q, q, q, options).scratch_bytes;
  };
  EXPECT_LT(bytes({.bias = &bias, .threads = 2}), 2 << 20);
  EXPECT_LT(bytes({.causal = Causal::top_left, .bias = &sloped, .threads = 2}), 2 << 20);
  EXPECT_LT(bytes({.window = {512, 0}, .threads = 2}), 2 << 20);
  EXPECT_LT(bytes({.segments = segments, .threads = 2}), 2 << 20);
}

TEST(AttentionPlan, KeysThatAreTurnedOnceForAllTasksAreCounted) {
  const Tensor<float> q(Shape{1, 8, 1024, 64});
  const auto table = rotary<float>({.head_dim = 64}, 1024);
  const auto with = attention_plan(q, q, q, {.rotation = &table});
  const auto without = attention_plan(q, q, q);
  EXPECT_EQ(with.scratch_bytes - without.scratch_bytes, 8 * 1024 * 64 * 4);
  EXPECT_THAT(with.notes, Contains(HasSubstr("rotated once, into a float32 copy of 2 MiB")));
  const Tensor<float> few(Shape{1, 8, 100, 64});
  EXPECT_THAT(attention_plan(few, q, q, {.causal = Causal::none, .rotation = &table}).notes,
              Contains(HasSubstr("one block of keys at a time")));
}

TEST(AttentionPlan, AShortCallStaysOnOneThread) {
  const Tensor<float> q(Shape{1, 2, 16, 32});
  EXPECT_EQ(attention_plan(q, q, q, {.threads = 8}).threads, 1);
}

TEST(AttentionPlan, WhatIsNotTheFastestHasAReason) {
  const Tensor<double> slow(Shape{1, 2, 16, 32});
  const auto plain = attention_plan(slow, slow, slow);
  EXPECT_EQ(plain.kernel, "plain rows");
  EXPECT_EQ(plain.arithmetic, "float64");
  EXPECT_THAT(plain.notes, Contains(HasSubstr("float64 has no fast kernel")));

  const Tensor<bfloat16> narrow(Shape{1, 2, 16, 32});
  EXPECT_THAT(attention_plan(narrow, narrow, narrow).notes, Contains(HasSubstr("widened")));

  const Tensor<float> q(Shape{1, 2, 16, 32});
  Tensor<bool> mask(Shape{16});
  EXPECT_THAT(attention_plan(q, q, q, {.mask = mask}).notes, Contains(HasSubstr("every pair")));
  const Tensor<float> transposed(Shape{1, 2, 32, 16});
  EXPECT_THAT(attention_plan(q, transposed.view().transpose(2, 3), q).notes,
              Contains(HasSubstr("channels are 16 elements apart")));
}

TEST(AttentionPlan, RefusesWhatAttentionRefuses) {
  const Tensor<float> q(Shape{1, 2, 16, 32}), k(Shape{1, 2, 16, 31});
  EXPECT_THROW(attention_plan(q, k, k), Error);
}

}  // namespace
}  // namespace sextant

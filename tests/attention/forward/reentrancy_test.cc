// Calls that begin on a thread in the middle of another one: a generator of biases that calls the
// operator, an executor whose waiting thread runs other calls. The bits of all of them are those of
// calls by themselves.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/statistics.h"
#include "support/stealing_executor.h"

namespace sextant::reentrancy_test {
namespace {

// Everything that the operator gives for one set of inputs.
template <class T>
struct Results {
  Tensor<T> out, weights, dq, dk, dv;
  Tensor<float> log_sum_exp, entropy, mass;
  Tensor<double> indexed;
};

template <class T>
struct Call {
  Call(std::int64_t heads, std::int64_t q_len, std::int64_t k_len, std::uint32_t seed)
      : random(seed),
        q(normal<T>(Shape{1, heads, q_len, 24}, random)),
        k(normal<T>(Shape{1, heads / 2, k_len, 24}, random)),
        v(normal<T>(Shape{1, heads / 2, k_len, 40}, random)),
        dout(normal<T>(Shape{1, heads, q_len, 40}, random)) {
    options.causal = Causal::bottom_right;
  }

  Results<T> run() const {
    Results<T> all{Tensor<T>(dout.shape()),
                   {},
                   Tensor<T>(q.shape()),
                   Tensor<T>(k.shape()),
                   Tensor<T>(v.shape()),
                   {},
                   {},
                   {},
                   Tensor<double>(Shape{1})};
    all.log_sum_exp = Tensor<float>(Shape{1, q.size(1), q.size(2)});
    attention<T>(q, k, v, all.out, options, all.log_sum_exp);
    all.weights = attention_weights(q, k, options, {.rows = {0, q.size(2) - 1}});
    auto statistics = attention_statistics(q, k, options);
    all.entropy = std::move(statistics.entropy);
    all.mass = std::move(statistics.mass);
    AttentionGradients<T> wanted{.q = all.dq, .k = all.dk, .v = all.dv};
    if (!options.terms.empty()) wanted.terms = {all.indexed};
    attention_backward<T>(q, k, v, all.out, dout, wanted, options);
    return all;
  }

  NumpyRandom random;
  Tensor<T> q, k, v, dout;
  AttentionOptions<T> options;
};

template <class T>
::testing::AssertionResult same(const Results<T>& a, const Results<T>& b) {
  const auto compare = [](const char* name, const auto& x, const auto& y) {
    const auto result = same_bits(x.view(), y.view());
    return result ? result : ::testing::AssertionFailure() << name << ": " << result.message();
  };
  for (const auto& result :
       {compare("out", a.out, b.out), compare("log_sum_exp", a.log_sum_exp, b.log_sum_exp),
        compare("weights", a.weights, b.weights), compare("entropy", a.entropy, b.entropy),
        compare("mass", a.mass, b.mass), compare("dq", a.dq, b.dq), compare("dk", a.dk, b.dk),
        compare("dv", a.dv, b.dv), compare("indexed", a.indexed, b.indexed)}) {
    if (!result) return result;
  }
  return ::testing::AssertionSuccess();
}

// Depends on query, key and head, and learns one number.
class Stripes : public ScoreTerm {
 public:
  TermNeeds needs() const override { return {.parameters = 1}; }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const std::int64_t n = 7 * tile.query_position(i) + 3 * tile.key_position(j) + tile.head;
        tile.add(i, j, 0.125F * static_cast<float>(n % 19));
      }
    }
  }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        tile.parameters[0] +=
            tile.dscores[i * tile.stride + j] * static_cast<double>(tile.key_position(j) % 5);
      }
    }
  }
};

// The same with calls of the operator in the middle of the outer one: not every time, or it would
// take minutes.
class CallsTheOperator final : public Stripes {
 public:
  void add(const ScoreTile<float>& tile) const noexcept override {
    call();
    Stripes::add(tile);
    call();
  }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    call();
    Stripes::backward(tile);
  }
  int calls() const { return calls_; }
  int wrong() const { return wrong_; }

 private:
  void call() const noexcept {
    if (asked_++ % 5 != 0) return;
    ++calls_;
    if (!same(long_call_.run(), long_alone_)) ++wrong_;
    if (!same(short_call_.run(), short_alone_)) ++wrong_;
  }

  Call<float> long_call_{2, 70, 90, 5}, short_call_{2, 1, 200, 6};
  Results<float> long_alone_ = long_call_.run(), short_alone_ = short_call_.run();
  mutable std::atomic<int> asked_{0}, calls_{0}, wrong_{0};
};

template <class T>
class Reentrancy : public ::testing::Test {};
using Types = ::testing::Types<float, bfloat16, double>;
TYPED_TEST_SUITE(Reentrancy, Types);

TYPED_TEST(Reentrancy, OfAGeneratorThatCallsTheOperator) {
  // Plain rows ask row by row.
  const std::int64_t most = std::is_same_v<TypeParam, double> ? 10 : 150;
  for (const std::int64_t q_len : {most, std::int64_t{3}, std::int64_t{1}}) {
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(std::to_string(q_len) + " queries, " + std::to_string(threads) + " threads");
      Call<TypeParam> call(4, q_len, 180, 1);
      const Stripes stripes;
      call.options.terms = {&stripes};
      const auto alone = call.run();
      const CallsTheOperator calls;
      call.options.terms = {&calls};
      call.options.threads = threads;
      EXPECT_TRUE(same(call.run(), alone));
      EXPECT_GE(calls.calls(), 5);
      EXPECT_EQ(calls.wrong(), 0);
    }
  }
}

TYPED_TEST(Reentrancy, OfAThreadThatRunsOtherCallsWhileItWaits) {
  for (const std::int64_t q_len : {200, 1}) {
    SCOPED_TRACE(std::to_string(q_len) + " queries");
    const std::int64_t k_len = q_len > 1 ? q_len : 3000;
    Call<TypeParam> call(4, q_len, k_len, 1), other(2, 130, 150, 2), few(4, 1, 3000, 3);
    const auto alone = call.run(), other_alone = other.run(), few_alone = few.run();
    int wrong = 0;
    StealingExecutor executor([&] {
      if (!same(other.run(), other_alone)) ++wrong;
      if (!same(few.run(), few_alone)) ++wrong;
    });
    for (auto* each : {&call, &other, &few}) each->options.threads = 3;
    EXPECT_TRUE(same(call.run(), alone));
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(executor.stolen(), 4);  // once for each function at least
  }
}

// All threads at one task, in stages that hand on what the thread that waits has in its memory.
TEST(ReentrancyOfDecoding, InStages) {
  Call<float> call(4, 1, 3000, 1);
  Tensor<float> alone(call.dout.shape()), out(alone.shape());
  call.options.threads = 3;
  attention<float>(call.q, call.k, call.v, alone, call.options);
  const Call<float> other(4, 1, 3000, 2);
  StealingExecutor executor([&] { other.run(); });
  attention<float>(call.q, call.k, call.v, out, call.options);
  EXPECT_TRUE(same_bits<float>(out, alone));
  EXPECT_EQ(executor.stolen(), 4) << "two key heads, two stages each";
}

}  // namespace
}  // namespace sextant::reentrancy_test

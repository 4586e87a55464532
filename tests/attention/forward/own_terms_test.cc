// Terms of one's own: lists of them, what is refused, and terms after the softcap that read rows.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/schemes/content/forgetting.h"

namespace sextant::own_terms_test {
namespace {

constexpr std::int64_t kHeads = 4, kKeyHeads = 2, kDim = 8;

// Adds the same number to all pairs.
class Constant final : public ScoreTerm {
 public:
  explicit Constant(float value) : value_(value) {}
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) tile.add(i, j, value_);
    }
  }

 private:
  float value_;
};

template <class T>
struct Results {
  Tensor<T> out, dq, dk, dv;
  Tensor<double> parameters;
  Tensor<T> weights;
};

// Adds 0.5 <q, k> after the softcap: without one it is a larger scale.
class Products final : public ScoreTerm {
 public:
  TermNeeds needs() const override { return {.q = true, .k = true, .parameters = 1}; }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override { add_products(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override { add_products(tile); }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const double ds = tile.dscores[i * tile.stride + j];
        tile.parameters[0] += ds * product(tile, i, j);
        for (std::int64_t c = 0; c < tile.head_dim; ++c) {
          tile.dq[i * tile.head_dim + c] += 0.5 * ds * tile.k[j * tile.k_stride + c];
          tile.dk[j * tile.head_dim + c] += 0.5 * ds * tile.q[i * tile.q_stride + c];
        }
      }
    }
  }

 private:
  template <class Real>
  static Real product(const ScoreInputs<Real>& tile, std::int64_t i, std::int64_t j) noexcept {
    Real sum = 0;
    for (std::int64_t c = 0; c < tile.head_dim; ++c) {
      sum += tile.q[i * tile.q_stride + c] * tile.k[j * tile.k_stride + c];
    }
    return sum;
  }
  template <class Real>
  static void add_products(const ScoreTile<Real>& tile) noexcept {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        tile.add(i, j, static_cast<Real>(0.5) * product<Real>(tile, i, j));
      }
    }
  }
};

// The same with float tiles alone: float64 calls have its numbers.
class FloatProducts final : public ScoreTerm {
 public:
  TermNeeds needs() const override { return products_.needs(); }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override { products_.add(tile); }

 private:
  Products products_;
};

TEST(TermOfRows, OfFloatTilesAloneIsRoundedInFloat64Calls) {
  NumpyRandom random(4);
  const auto q = normal<double>(Shape{1, kHeads, 9, kDim}, random),
             k = normal<double>(Shape{1, kKeyHeads, 300, kDim}, random);
  const Products exact;
  const FloatProducts rounded;
  const auto with = attention_weights<double>(q, k, {.terms = {&exact}}, {.stage = Stage::biased});
  const auto got = attention_weights<double>(q, k, {.terms = {&rounded}}, {.stage = Stage::biased});
  // Eight products of two rounded numbers below 5, and their sum.
  for (std::int64_t n = 0; n < got.count(); ++n) ASSERT_NEAR(got.data()[n], with.data()[n], 1e-4);
}

template <class T>
class TermsOfRows : public ::testing::Test {};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TermsOfRows, Elements);

TYPED_TEST(TermsOfRows, AfterTheSoftcapIsALargerScaleWhereThereIsNone) {
  using T = TypeParam;
  for (const std::int64_t q_len : {150, 3}) {
    NumpyRandom random(3);
    const auto q = normal<T>(Shape{2, kHeads, q_len, kDim}, random),
               k = normal<T>(Shape{2, kKeyHeads, 150, kDim}, random),
               v = normal<T>(k.shape(), random), dout = normal<T>(q.shape(), random);
    const Products term;
    const auto run = [&](const AttentionOptions<T>& options) {
      Results<T> all{Tensor<T>(q.shape()), Tensor<T>(q.shape()),     Tensor<T>(k.shape()),
                     Tensor<T>(v.shape()), Tensor<double>(Shape{1}), {}};
      attention<T>(q, k, v, all.out, options);
      all.weights = attention_weights<T>(q, k, options);
      AttentionGradients<T> wanted{.q = all.dq, .k = all.dk, .v = all.dv};
      if (!options.terms.empty()) wanted.terms = {all.parameters};
      attention_backward<T>(q, k, v, all.out, dout, wanted, options);
      return all;
    };
    const auto with = run({.causal = Causal::bottom_right, .terms = {&term}, .scale = 0.25});
    const auto larger = run({.causal = Causal::bottom_right, .scale = 0.75});
    // Scores below 20 are rounded in another order, gradients are sums of 150 of them.
    const double most = std::is_same_v<T, double> ? 1e-12 : 2e-4;
    const auto near = [&](const Tensor<T>& a, const Tensor<T>& b) {
      for (std::int64_t n = 0; n < a.count(); ++n) ASSERT_NEAR(a.data()[n], b.data()[n], most) << n;
    };
    near(with.out, larger.out);
    near(with.weights, larger.weights);
    near(with.dq, larger.dq);
    near(with.dk, larger.dk);
    near(with.dv, larger.dv);
    // dq = 0.75 sum dS k, so that <q, dq> is 0.75 times the sum of dS <q, k>.
    double products = 0;
    for (std::int64_t n = 0; n < q.count(); ++n)
      products += double(q.data()[n]) * double(with.dq.data()[n]);
    EXPECT_NEAR(with.parameters(0), products / 0.75, 100 * most);
    EXPECT_GT(std::abs(with.parameters(0)), 1e-3);
  }
}

TEST(TermList, AddsUpInAnyNumberAndKeepsHiddenPairsHidden) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  NumpyRandom random(2);
  const auto q = normal<float>(Shape{1, 1, 30, kDim}, random), k = normal<float>(q.shape(), random);
  const Constant one(1), two(2), endless(kInfinity), nothing(-kInfinity);
  const auto biased = [&](std::vector<const ScoreTerm*> terms) {
    return attention_weights<float>(q, k, {.terms = std::move(terms)}, {.stage = Stage::biased});
  };
  const auto plain = biased({}), three = biased({&one, &two}),
             six = biased({&two, &one, &two, &one});
  for (std::int64_t n = 0; n < plain.count(); ++n) {
    ASSERT_NEAR(three.data()[n], plain.data()[n] + 3, 1e-5);
    ASSERT_NEAR(six.data()[n], plain.data()[n] + 6, 1e-5);
  }
  for (const auto& hidden : {biased({&endless, &nothing}), biased({&nothing, &endless})}) {
    for (std::int64_t n = 0; n < hidden.count(); ++n) ASSERT_EQ(hidden.data()[n], -kInfinity);
  }
}

TEST(TermList, RefusesNullPointersAndTwoTermsBeforeTheSoftcap) {
  const Tensor<float> q({1, 1, 4, kDim});
  const auto error = [&](std::vector<const ScoreTerm*> terms) {
    try {
      attention_weights<float>(q, q, {.causal = Causal::top_left, .terms = std::move(terms)});
    } catch (const Error& refused) {
      return std::string(refused.what());
    }
    return std::string("none");
  };
  const auto gates = forgetting(Tensor<double>({1, 1, 4}));
  EXPECT_EQ(error({nullptr}), "[attention_weights.terms] must not hold null pointers");
  EXPECT_EQ(error({gates.get(), gates.get()}),
            "[attention_weights.terms] must have at most one that is added before the softcap, got "
            "two");
  EXPECT_EQ(error({gates.get()}), "none");
}

}  // namespace
}  // namespace sextant::own_terms_test

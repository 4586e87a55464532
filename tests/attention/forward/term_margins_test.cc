// What the operator gives a term, and what a term does with it: every term of the registry works on
// copies with poisoned margins, in every function of the operator.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/schemes.h"

namespace sextant {
namespace {

constexpr std::int64_t kHeads = 4, kKeyHeads = 2, kDim = 8, kMargin = 3;

// An array of [rows, columns] with a margin after each row, all of it NaN at first.
template <class Real>
struct Padded {
  Padded(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count),
        columns(column_count),
        stride(column_count + kMargin),
        all(static_cast<std::size_t>(rows * stride), std::numeric_limits<Real>::quiet_NaN()) {}

  Real* row(std::int64_t i) { return all.data() + i * stride; }
  bool margins_are_untouched() {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = columns; j < stride; ++j) {
        if (!std::isnan(row(i)[j])) return false;
      }
    }
    return true;
  }

  std::int64_t rows, columns, stride;
  std::vector<Real> all;
};

// Asks the term for each tile in arrays of its own. Rows that a term does not say it needs are not
// there, and scratch holds NaN.
class Watched final : public ScoreTerm {
 public:
  explicit Watched(const ScoreTerm& term) : term_(term) {}

  TermNeeds needs() const override { return term_.needs(); }
  void check(const CallExtents& call) const override { term_.check(call); }
  void add(const ScoreTile<float>& tile) const noexcept override { watch(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override { watch(tile); }
  void backward(const ScoreGradient& tile) const noexcept override {
    const TermNeeds needs = term_.needs();
    ScoreGradient own = tile;
    Padded<double> q = rows(tile.q, tile.q_stride, tile.queries, needs.q, own.q, own.q_stride);
    Padded<double> k = rows(tile.k, tile.k_stride, tile.keys, needs.k, own.k, own.k_stride);
    Padded<double> ds(tile.queries, tile.keys);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(tile.dscores + i * tile.stride, tile.keys, ds.row(i));
    }
    own.dscores = ds.row(0);
    own.stride = ds.stride;
    if (needs.tiles != TermTiles::rows) own.scores = nullptr;
    if (!needs.q) own.dq = nullptr;
    if (!needs.k) own.dk = nullptr;
    Padded<double> scratch = scratch_of<double>(tile, own.scratch);
    term_.backward(own);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(ds.row(i), tile.keys, tile.dscores + i * tile.stride);
    }
    wrong_ += !ds.margins_are_untouched() || !scratch.margins_are_untouched();
    ++asked_;
  }
  void add_values(const ScoreRect& row, const double* weights,
                  double* out) const noexcept override {
    term_.add_values(row, weights, out);
  }
  void values_backward(const ScoreRect& row, const double* weights, const double* dout,
                       double* dweights, double* parameters) const noexcept override {
    term_.values_backward(row, weights, dout, dweights, parameters);
  }

  int asked() const { return asked_; }
  int wrong() const { return wrong_; }

 private:
  template <class Real>
  static Padded<Real> rows(const Real* from, std::int64_t from_stride, std::int64_t count,
                           bool needed, const Real*& to, std::int64_t& to_stride) {
    Padded<Real> own(needed ? count : 0, kDim);
    for (std::int64_t i = 0; i < own.rows; ++i)
      std::copy_n(from + i * from_stride, kDim, own.row(i));
    to = needed ? own.row(0) : nullptr;
    to_stride = own.stride;
    return own;
  }
  template <class Real>
  Padded<Real> scratch_of(const ScoreRect& tile, Real*& to) const {
    const TermNeeds needs = term_.needs();
    Padded<Real> own(1, needs.scratch + needs.scratch_per_key * tile.keys);
    to = own.row(0);
    return own;
  }

  template <class Real>
  void watch(const ScoreTile<Real>& tile) const noexcept {
    const TermNeeds needs = term_.needs();
    ScoreTile<Real> own = tile;
    const auto q = rows(tile.q, tile.q_stride, tile.queries, needs.q, own.q, own.q_stride);
    const auto k = rows(tile.k, tile.k_stride, tile.keys, needs.k, own.k, own.k_stride);
    Padded<Real> scores(tile.queries, tile.keys);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(tile.scores + i * tile.stride, tile.keys, scores.row(i));
    }
    own.scores = scores.row(0);
    own.stride = scores.stride;
    Padded<Real> scratch = scratch_of<Real>(tile, own.scratch);
    term_.add(own);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(scores.row(i), tile.keys, tile.scores + i * tile.stride);
    }
    wrong_ += !scores.margins_are_untouched() || !scratch.margins_are_untouched();
    ++asked_;
  }

  const ScoreTerm& term_;
  mutable std::atomic<int> asked_{0}, wrong_{0};
};

struct Sizes {
  std::int64_t q_len, k_len;
  Causal causal;
  std::vector<std::int64_t> segments{}, offsets{}, lengths{};
};
const Sizes kSizes[] = {{140, 140, Causal::top_left},
                        {5, 140, Causal::bottom_right},
                        {140, 140, Causal::top_left, {0, 1, 1, 90, 140}},
                        {20, 140, Causal::at_offsets, {}, {70, 3}},
                        {9, 140, Causal::at_lengths, {}, {}, {140, 12}}};

template <class T>
struct Results {
  Tensor<T> out, dq, dk, dv;
  Tensor<double> parameters;
  std::vector<Tensor<T>> weights;
};

template <class T>
Results<T> results_of(const ScoreTerm& term, const Sizes& sizes, double softcap) {
  NumpyRandom random(1);
  const auto q = normal<T>(Shape{2, kHeads, sizes.q_len, kDim}, random),
             k = normal<T>(Shape{2, kKeyHeads, sizes.k_len, kDim}, random),
             v = normal<T>(Shape{2, kKeyHeads, sizes.k_len, kDim}, random);
  AttentionOptions<T> options{.causal = sizes.causal,
                              .query_offsets = sizes.offsets,
                              .key_lengths = sizes.lengths,
                              .segments = sizes.segments,
                              .terms = {&term},
                              .softcap = softcap};
  Results<T> all{Tensor<T>(q.shape()),
                 Tensor<T>(q.shape()),
                 Tensor<T>(k.shape()),
                 Tensor<T>(v.shape()),
                 Tensor<double>(Shape{term.needs().parameters}),
                 {}};
  attention<T>(q, k, v, all.out, options);
  for (const Stage stage : {Stage::scores, Stage::capped, Stage::biased, Stage::probabilities}) {
    all.weights.push_back(attention_weights<T>(q, k, options, {.stage = stage}));
  }
  AttentionGradients<T> wanted{.q = all.dq, .k = all.dk, .v = all.dv};
  if (all.parameters.count() > 0) wanted.terms = {all.parameters};
  attention_backward<T>(q, k, v, all.out, all.out, wanted, options);
  return all;
}

class TermMargins : public ::testing::TestWithParam<const Scheme*> {};

TEST_P(TermMargins, AreNeitherReadNorWritten) {
  const Scheme& scheme = *GetParam();
  std::vector<std::int64_t> ids(140);
  std::iota(ids.begin(), ids.end(), 0);
  SchemeRequest request;
  request.width = kDim * kHeads;
  request.heads = kHeads;
  request.head_dim = kDim;
  request.positions = ids;
  const auto term = std::get<std::shared_ptr<const ScoreTerm>>(scheme.make(request));
  const auto compare = [&]<class T>(T, const Sizes& sizes, double softcap) {
    const Watched watched(*term);
    const Results<T> got = results_of<T>(watched, sizes, softcap);
    const Results<T> expected = results_of<T>(*term, sizes, softcap);
    EXPECT_GT(watched.asked(), 0);
    EXPECT_EQ(watched.wrong(), 0);
    EXPECT_TRUE(same_bits(got.out.view(), expected.out.view()));
    EXPECT_TRUE(same_bits(got.dq.view(), expected.dq.view()));
    EXPECT_TRUE(same_bits(got.dk.view(), expected.dk.view()));
    EXPECT_TRUE(same_bits(got.dv.view(), expected.dv.view()));
    EXPECT_TRUE(same_bits(got.parameters.view(), expected.parameters.view()));
    for (std::size_t n = 0; n < got.weights.size(); ++n) {
      EXPECT_TRUE(same_bits(got.weights[n].view(), expected.weights[n].view())) << n;
    }
  };
  for (const Sizes& sizes : kSizes) {
    for (const double softcap : {0.0, 3.0}) {
      SCOPED_TRACE(std::string(name_of(sizes.causal)) + ", " + std::to_string(sizes.q_len) +
                   " queries, softcap " + std::to_string(softcap));
      compare(float{}, sizes, softcap);
      compare(double{}, sizes, softcap);
      compare(bfloat16{}, sizes, softcap);
    }
  }
}

std::vector<const Scheme*> schemes_with_terms() {
  std::vector<const Scheme*> found;
  for (const Scheme* scheme : schemes()) {
    if (scheme->kind == SchemeKind::indexed_bias || scheme->kind == SchemeKind::content) {
      found.push_back(scheme);
    }
  }
  return found;
}
INSTANTIATE_TEST_SUITE_P(All, TermMargins, ::testing::ValuesIn(schemes_with_terms()),
                         [](const auto& one) { return std::string(one.param->name); });

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

// Adds 0.5 <q, k> after the softcap: without one it is a larger scale.
class Products final : public ScoreTerm {
 public:
  TermNeeds needs() const override { return {.q = true, .k = true, .parameters = 1}; }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override { add_products(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override { add_products(tile); }
  void backward(const ScoreGradient& tile) const noexcept override {
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
      all.weights.push_back(attention_weights<T>(q, k, options));
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
    near(with.weights[0], larger.weights[0]);
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
  const std::vector<std::int64_t> ids(30);
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
}  // namespace sextant

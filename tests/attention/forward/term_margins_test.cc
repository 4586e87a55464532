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

namespace sextant::term_margins_test {
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
  void backward(const ScoreGradient<float>& tile) const noexcept override { watch_backward(tile); }
  void backward(const ScoreGradient<double>& tile) const noexcept override { watch_backward(tile); }
  ValueVectors value_vectors(std::int64_t head) const noexcept override {
    return term_.value_vectors(head);
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

  template <class Real>
  void watch_backward(const ScoreGradient<Real>& tile) const noexcept {
    const TermNeeds needs = term_.needs();
    ScoreGradient<Real> own = tile;
    Padded<Real> q = rows(tile.q, tile.q_stride, tile.queries, needs.q, own.q, own.q_stride);
    Padded<Real> k = rows(tile.k, tile.k_stride, tile.keys, needs.k, own.k, own.k_stride);
    Padded<Real> ds(tile.queries, tile.keys), scores(tile.queries, tile.keys);
    const bool whole = needs.tiles == TermTiles::rows;
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(tile.dscores + i * tile.stride, tile.keys, ds.row(i));
      if (whole) std::copy_n(tile.scores + i * tile.stride, tile.keys, scores.row(i));
    }
    own.dscores = ds.row(0);
    own.scores = whole ? scores.row(0) : nullptr;
    own.stride = ds.stride;
    if (!needs.q) own.dq = nullptr;
    if (!needs.k) own.dk = nullptr;
    Padded<Real> scratch = scratch_of<Real>(tile, own.scratch);
    term_.backward(own);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(ds.row(i), tile.keys, tile.dscores + i * tile.stride);
    }
    wrong_ += !ds.margins_are_untouched() || !scratch.margins_are_untouched();
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
  SchemeRequest request{
      .width = kDim * kHeads, .heads = kHeads, .head_dim = kDim, .positions = ids};
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

}  // namespace
}  // namespace sextant::term_margins_test

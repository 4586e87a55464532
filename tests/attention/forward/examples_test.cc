// Small cases with known numbers: a toy model with its printed digits, recommendation as attention,
// attention without learned weights.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "attention/strided.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/statistics.h"

namespace sextant::examples_test {
namespace {

// [rows, 3] x [3, 3]
Tensor<double> times(View<const double> x, View<const double> w) {
  Tensor<double> y(Shape{x.size(0), 3});
  for (std::int64_t i = 0; i < x.size(0); ++i)
    for (std::int64_t c = 0; c < 3; ++c)
      for (std::int64_t d = 0; d < 3; ++d) y(i, c) += x(i, d) * w(d, c);
  return y;
}

// [rows, width] -> [1, 1, rows, width]
View<const double> one_head(const Tensor<double>& x) {
  return View<const double>(x.data(), Shape{1, 1, x.size(0), x.size(1)});
}

// Six words of width 3, causal attention, weights from NumPy's legacy generator with seed 2311.
class ToyModel : public ::testing::Test {
 protected:
  ToyModel() {
    NumpyRandom random(2311);
    for (Tensor<double>* tensor : {&embeddings, &w_q, &w_k, &w_v}) {
      for (double& element : tensor->span()) element = random.uniform();
    }
  }

  struct LastToken {
    std::vector<double> weights, output;
  };
  LastToken run(const std::vector<std::int64_t>& words) const {
    const auto length = static_cast<std::int64_t>(words.size());
    Tensor<double> x(Shape{length, 3}), out(Shape{1, 1, length, 3});
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t d = 0; d < 3; ++d)
        x(i, d) = embeddings(words[static_cast<std::size_t>(i)], d);
    const auto q = times(x, w_q), k = times(x, w_k), v = times(x, w_v);
    const AttentionOptions<double> options{.causal = Causal::top_left};
    attention(one_head(q), one_head(k), one_head(v), out, options);
    const auto weights =
        attention_weights(one_head(q), one_head(k), options, {.rows = {length - 1}});
    LastToken last;
    for (const double weight : weights.span()) last.weights.push_back(weight);
    for (std::int64_t c = 0; c < 3; ++c) last.output.push_back(out(0, 0, length - 1, c));
    return last;
  }

  Tensor<double> embeddings{Shape{6, 3}}, w_q{Shape{3, 3}}, w_k{Shape{3, 3}}, w_v{Shape{3, 3}};
};

// Three products of three numbers below 2 in a row (projection, score, output), a softmax and a
// division are some twenty roundings; the printed numbers come from another order of the same sums.
constexpr double kTolerance = 40 * 0x1p-53;

void expect_close(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t n = 0; n < got.size(); ++n) EXPECT_NEAR(got[n], expected[n], kTolerance) << n;
}

TEST_F(ToyModel, PrintsItsPublishedDigits) {
  enum : std::int64_t { kThe = 1, kZebra, kChased, kLion, kDot };
  EXPECT_EQ(embeddings(0, 0), 0.32156467800918354);
  const auto zebra = run({kThe, kZebra, kChased, kThe, kLion, kDot});
  expect_close(zebra.weights, {0.13882247893778413, 0.14117544495019235, 0.10582113241981449,
                               0.13882247893778413, 0.3019840725301271, 0.17337439222429785});
  expect_close(zebra.output, {1.1481937039255188, 1.2013677359003219, 1.0221718176342622});
  const auto lion = run({kThe, kLion, kChased, kThe, kZebra, kDot});
  expect_close(lion.weights, {0.13882247893778413, 0.3019840725301271, 0.10582113241981449,
                              0.13882247893778413, 0.14117544495019235, 0.17337439222429785});
  expect_close(lion.output, zebra.output);
  // Another last word, another output.
  expect_close(run({kLion, kThe, kChased, kDot}).output,
               {1.2899358929089517, 1.341167805849576, 1.129420616468455});
  expect_close(run({kChased, kThe, kDot, kLion}).output,
               {1.359176188648636, 1.421970864833317, 1.2098755525309532});
}

TEST(AttentionExamples, RecommendsMoviesToUsersByTheirAttributes) {
  // Attributes: romance, action, comedy. Two users, three movies.
  Tensor<double> users(Shape{2, 3}), movies(Shape{3, 3});
  const double user_rows[] = {5, 0, 1, 0, 4, 2}, movie_rows[] = {5, 0, 0, 0, 5, 1, 1, 1, 5};
  std::copy_n(user_rows, 6, users.data());
  std::copy_n(movie_rows, 9, movies.data());
  const auto weights = attention_weights(one_head(users), one_head(movies));
  const auto scores =
      attention_weights(one_head(users), one_head(movies), {}, {.stage = Stage::scores});
  // The products by hand: 25, 1, 10 and 0, 22, 14.
  const double products[] = {25, 1, 10, 0, 22, 14};
  for (std::int64_t u = 0; u < 2; ++u) {
    double sum = 0;
    for (std::int64_t m = 0; m < 3; ++m) sum += std::exp(products[u * 3 + m] / std::sqrt(3));
    for (std::int64_t m = 0; m < 3; ++m) {
      EXPECT_NEAR(scores(0, 0, u, m), products[u * 3 + m] / std::sqrt(3), 25 * 0x1p-52);
      // exp turns the error of a score below 16 into a relative one.
      EXPECT_NEAR(weights(0, 0, u, m), std::exp(products[u * 3 + m] / std::sqrt(3)) / sum,
                  64 * 0x1p-53);
    }
  }
}

TEST(AttentionExamples, WithoutLearnedWeightsAWordAttendsMostlyToItself) {
  // Long random vectors: a word's product with itself is about 64, with others about 8.
  NumpyRandom random(1);
  const auto words = normal<double>(Shape{7, 64}, random);
  const auto weights = attention_weights(one_head(words), one_head(words));
  for (std::int64_t i = 0; i < 7; ++i) {
    for (std::int64_t j = 0; j < 7; ++j) {
      if (i != j) {
        EXPECT_GT(weights(0, 0, i, i), 10 * weights(0, 0, i, j));
      }
    }
  }
}

// The code of docs/attention.md, "Reading the weights".
TEST(AttentionExamples, LookAtTheWeights) {
  NumpyRandom random(2);
  const std::int64_t q_len = 40;
  const auto q = normal<float>(Shape{1, 4, q_len, 8}, random);
  auto k = normal<float>(Shape{1, 4, q_len, 8}, random);
  for (std::int64_t d = 0; d < 8; ++d) k(0, 0, 7, d) = 9 * q(0, 0, q_len - 1, d);

  auto rows =
      attention_weights(q, k, {.causal = Causal::top_left}, {.heads = {0, 3}, .rows = {q_len - 1}});
  auto seen = attention_statistics(q, k, {.causal = Causal::top_left}, {.top = 3});
  float spread = std::exp(seen.entropy(0, 0, q_len - 1));
  std::int64_t most = seen.top_keys(0, 0, q_len - 1, 0);
  float weight = seen.top_weights(0, 0, q_len - 1, 0);
  float of_the_first = seen.mass(0, 0, 0) / float(q_len);

  // The last word of head 0 looks at key 7, and at little else; the first word at itself alone.
  EXPECT_EQ(most, 7);
  EXPECT_EQ(weight, rows(0, 0, 0, 7));
  EXPECT_GT(weight, 0.9F);
  EXPECT_LT(spread, 2);
  EXPECT_GT(of_the_first, 1 / float(q_len));
  EXPECT_LT(of_the_first, 1);
}

// The bias of docs/tables.md.
TEST(AttentionExamples, ATableAndSlopesAddUp) {
  DistanceBias bias{.slopes = {0.5, 0.25}};
  bias.values = Tensor<float>({1, 2 * 64 - 1});
  bias.origin = 63;
  bias.values(0, 63) = 1;
  const Tensor<float> q({1, 2, 5, 4});  // zeros: scores are the bias alone
  const auto scores = attention_weights(q, q, {.causal = Causal::top_left, .bias = &bias},
                                        {.stage = Stage::biased});
  EXPECT_EQ(scores(0, 0, 4, 4), 1);
  EXPECT_EQ(scores(0, 0, 4, 1), -1.5F);
  EXPECT_EQ(scores(0, 1, 4, 1), -0.75F);
}

// The class of docs/attention.md, "A term of your own".
class Parity final : public sextant::ScoreTerm {
 public:
  explicit Parity(std::vector<float> of_head) : of_head_(std::move(of_head)) {}
  sextant::TermNeeds needs() const override { return {.parameters = std::ssize(of_head_)}; }
  void check(const sextant::CallExtents& call) const override {
    if (call.heads != std::ssize(of_head_)) {
      throw sextant::Error("parity.of_head", "must have a number for each head");
    }
  }
  void add(const sextant::ScoreTile<float>& tile) const noexcept override {
    each(tile,
         [&](std::int64_t i, std::int64_t j) { tile.add(i, j, of_head_[std::size_t(tile.head)]); });
  }
  void backward(const sextant::ScoreGradient<double>& tile) const noexcept override {
    each(tile, [&](std::int64_t i, std::int64_t j) {
      tile.parameters[tile.head] += tile.dscores[i * tile.stride + j];
    });
  }

 private:
  template <class Use>
  static void each(const sextant::ScoreRect& tile, Use use) {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        if ((tile.query_position(i) - tile.key_position(j)) % 2 == 0) use(i, j);
      }
    }
  }
  std::vector<float> of_head_;
};

TEST(AttentionExamples, ATermOfYourOwn) {
  NumpyRandom random(4);
  const auto q = normal<float>(Shape{1, 2, 9, 4}, random), v = normal<float>(q.shape(), random),
             dout = normal<float>(q.shape(), random);
  Parity parity({1, -2});
  const AttentionOptions<float> options{.causal = Causal::top_left, .terms = {&parity}};
  const auto with = attention_weights<float>(q, q, options, {.stage = Stage::biased});
  const auto without =
      attention_weights<float>(q, q, {.causal = Causal::top_left}, {.stage = Stage::biased});
  EXPECT_NEAR(with(0, 0, 8, 4) - without(0, 0, 8, 4), 1, 1e-6);
  EXPECT_NEAR(with(0, 1, 8, 4) - without(0, 1, 8, 4), -2, 1e-6);
  EXPECT_EQ(with(0, 1, 8, 5), without(0, 1, 8, 5));
  // Its gradient is the slope of the loss.
  const auto loss = [&](const Parity& term) {
    Tensor<double> wide(q.shape()), wide_v(q.shape()), out(q.shape());
    std::copy_n(q.data(), q.count(), wide.data());
    std::copy_n(v.data(), v.count(), wide_v.data());
    attention<double>(wide, wide, wide_v, out, {.causal = Causal::top_left, .terms = {&term}});
    double sum = 0;
    for (std::int64_t n = 0; n < out.count(); ++n) sum += out.data()[n] * double(dout.data()[n]);
    return sum;
  };
  Tensor<float> out(q.shape());
  attention<float>(q, q, v, out, options);
  Tensor<double> slopes({2});
  attention_backward<float>(q, q, v, out, dout, {.terms = {slopes}}, options);
  const double step = 1.0 / 256;  // an error of step^2 / 6 times a third derivative below 10
  EXPECT_NEAR(
      slopes(0),
      (loss(Parity({1 + float(step), -2})) - loss(Parity({1 - float(step), -2}))) / (2 * step),
      1e-4);
  EXPECT_NEAR(
      slopes(1),
      (loss(Parity({1, -2 + float(step)})) - loss(Parity({1, -2 - float(step)}))) / (2 * step),
      1e-4);
}

}  // namespace
}  // namespace sextant::examples_test

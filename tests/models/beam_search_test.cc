// Beam search on Markov chains small enough to enumerate every sequence.
#include "sextant/models/beam_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sextant/core/random.h"
#include "support/error_of.h"

namespace sextant::beam_search_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kVocabulary = 4;
constexpr std::int64_t kBos = 0;
constexpr std::int64_t kEos = 1;

// Log-probabilities of the next token after each token, other ones at each step: so no two
// sequences have the same sum.
class Chain {
 public:
  explicit Chain(std::uint32_t seed) {
    NumpyRandom random(seed);
    for (auto& row : rows_) {
      double sum = 0;
      std::array<double, kVocabulary> weights;
      for (double& weight : weights) sum += weight = std::exp(2 * random.normal());
      for (std::size_t to = 0; to < row.size(); ++to) {
        row[to] = static_cast<float>(std::log(weights[to] / sum));
      }
    }
  }

  double operator()(std::size_t step, std::int64_t from, std::int64_t to) const {
    return rows_[step * kVocabulary + static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }

 private:
  static constexpr std::size_t kSteps = 12;
  std::array<std::array<float, kVocabulary>, kSteps * kVocabulary> rows_;
};

double score_of(double log_probability, std::size_t length, double alpha) {
  return log_probability /
         (std::pow(5.0 + static_cast<double>(length), alpha) / std::pow(6.0, alpha));
}

// Every sequence that ends with eos in at most `steps` tokens.
void enumerate(const Chain& chain, std::int64_t steps, double alpha, Hypothesis prefix,
               std::vector<Hypothesis>& all) {
  const std::int64_t last = prefix.tokens.empty() ? kBos : prefix.tokens.back();
  for (std::int64_t token = 0; token < kVocabulary; ++token) {
    Hypothesis next = prefix;
    next.log_probability += chain(prefix.tokens.size(), last, token);
    if (token == kEos) {
      next.score = score_of(next.log_probability, next.tokens.size() + 1, alpha);
      all.push_back(next);
    } else if (steps > 1) {
      next.tokens.push_back(token);
      enumerate(chain, steps - 1, alpha, next, all);
    }
  }
}

std::vector<Hypothesis> all_sequences(const Chain& chain, std::int64_t steps, double alpha) {
  std::vector<Hypothesis> all;
  enumerate(chain, steps, alpha, {}, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return all;
}

// A model that remembers its hypotheses, so that a wrong order of parents shows.
class Model {
 public:
  explicit Model(std::vector<Chain> chains) : chains_(std::move(chains)) {}

  Tensor<float> operator()(std::span<const std::int64_t> parents,
                           std::span<const std::int64_t> tokens) {
    ++calls;
    std::vector<State> next;
    Tensor<float> table({static_cast<std::int64_t>(parents.size()), kVocabulary});
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const auto parent = static_cast<std::size_t>(parents[i]);
      State state = states_.empty() ? State{parent, {}} : states_[parent];
      if (!states_.empty()) state.tokens.push_back(tokens[i]);
      for (std::int64_t to = 0; to < kVocabulary; ++to) {
        table(static_cast<std::int64_t>(i), to) =
            static_cast<float>(chains_[state.source](state.tokens.size(), tokens[i], to));
      }
      next.push_back(state);
    }
    for (std::size_t i = 1; i < next.size(); ++i) EXPECT_LE(next[i - 1].source, next[i].source);
    states_ = next;
    return table;
  }

  int calls = 0;

 private:
  struct State {
    std::size_t source;
    std::vector<std::int64_t> tokens;
  };
  std::vector<Chain> chains_;
  std::vector<State> states_;
};

std::vector<std::vector<Hypothesis>> search(std::vector<Chain> chains,
                                            const std::vector<std::int64_t>& lengths,
                                            BeamSearchOptions options) {
  options.bos = kBos;
  options.eos = kEos;
  Model model(std::move(chains));
  return beam_search(
      lengths, [&](auto parents, auto tokens) { return model(parents, tokens); }, options);
}

std::vector<Hypothesis> search(const Chain& chain, std::int64_t length,
                               const BeamSearchOptions& options) {
  return search(std::vector<Chain>{chain}, {length}, options).at(0);
}

// Up to 5 steps of 3 tokens that go on: 3^4 hypotheses at most, 1 + 3 + 9 + 27 + 81 ends.
TEST(BeamSearch, WithRoomForAllIsExact) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    for (const double alpha : {0.0, 0.6, 1.0, 2.0}) {
      const Chain chain(seed);
      const auto wanted = all_sequences(chain, 5, alpha);
      const auto got = search(chain, 5, {.beams = 200, .n_best = 10, .length_penalty = alpha});
      ASSERT_EQ(got.size(), 10u);
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].tokens, wanted[i].tokens) << seed << ' ' << alpha << ' ' << i;
        // The same additions in the same order.
        EXPECT_EQ(got[i].log_probability, wanted[i].log_probability);
        // Three roundings of a power and two quotients.
        EXPECT_NEAR(got[i].score, wanted[i].score, 1e-14 * std::abs(wanted[i].score));
        EXPECT_TRUE(got[i].finished);
      }
    }
  }
}

TEST(BeamSearch, WithOneBeamIsGreedy) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const Chain chain(seed);
    std::vector<std::int64_t> greedy;
    double sum = 0;
    bool finished = false;
    for (std::int64_t last = kBos; greedy.size() < 12 && !finished;) {
      std::int64_t best = 0;
      for (std::int64_t to = 1; to < kVocabulary; ++to) {
        if (chain(greedy.size(), last, to) > chain(greedy.size(), last, best)) best = to;
      }
      sum += chain(greedy.size(), last, best);
      finished = best == kEos;
      if (!finished) greedy.push_back(best);
      last = best;
    }
    const auto got = search(chain, 12, {.beams = 1, .length_penalty = 1});
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].tokens, greedy) << seed;
    EXPECT_EQ(got[0].finished, finished);
    EXPECT_EQ(got[0].log_probability, sum);
    EXPECT_EQ(got[0].score, score_of(sum, greedy.size() + (finished ? 1 : 0), 1));
  }
}

TEST(BeamSearch, SourcesDoNotTouchEachOther) {
  const std::vector<Chain> chains = {Chain(1), Chain(2), Chain(3), Chain(4)};
  const std::vector<std::int64_t> lengths = {3, 9, 1, 6};
  const BeamSearchOptions options{.beams = 3, .n_best = 3};
  const auto together = search(chains, lengths, options);
  ASSERT_EQ(together.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto alone = search(chains[i], lengths[i], options);
    ASSERT_EQ(together[i].size(), alone.size());
    for (std::size_t n = 0; n < alone.size(); ++n) {
      EXPECT_EQ(together[i][n].tokens, alone[n].tokens);
      EXPECT_EQ(together[i][n].log_probability, alone[n].log_probability);
      EXPECT_EQ(together[i][n].finished, alone[n].finished);
    }
  }
}

Tensor<float> rows_of(std::span<const std::int64_t> tokens, std::vector<double> probabilities) {
  const auto rows = static_cast<std::int64_t>(tokens.size());
  const auto width = static_cast<std::int64_t>(probabilities.size());
  Tensor<float> table({rows, width});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t to = 0; to < width; ++to) {
      table(row, to) = static_cast<float>(std::log(probabilities[static_cast<std::size_t>(to)]));
    }
  }
  return table;
}

std::vector<Hypothesis> search_constant(const std::vector<double>& probabilities,
                                        std::int64_t length, const BeamSearchOptions& options) {
  const std::vector<std::int64_t> lengths = {length};
  return beam_search(
      lengths, [&](auto, auto tokens) { return rows_of(tokens, probabilities); }, options)[0];
}

TEST(BeamSearch, LongerOnesWinWithAStrongerPenalty) {
  const std::vector<double> half = {0, 0, 0.5, 0.5};
  EXPECT_THAT(search_constant(half, 20, {.beams = 30, .length_penalty = 0})[0].tokens, IsEmpty());
  EXPECT_GT(search_constant(half, 20, {.beams = 30, .length_penalty = 5})[0].tokens.size(), 5u);
}

TEST(BeamSearch, EqualsRankByTheLowerToken) {
  const auto found = search_constant({0, 0, 0, 0.5, 0.5}, 2, {.beams = 4, .n_best = 4});
  ASSERT_EQ(found.size(), 4u);
  EXPECT_THAT(found[0].tokens, ElementsAre(3, 3));
  EXPECT_THAT(found[1].tokens, ElementsAre(3, 4));
  EXPECT_THAT(found[3].tokens, ElementsAre(4, 4));
  EXPECT_FALSE(found[0].finished);
}

TEST(BeamSearch, FinishedOnesComeBeforeThoseThatRanOutOfSteps) {
  // eos is rare: the others would score better.
  const auto found = search_constant({0, 0, 0.2, 0.8}, 3, {.beams = 2, .n_best = 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].finished);
}

TEST(BeamSearch, StopsEarlyWhenNothingCanGetBetter) {
  const std::vector<std::int64_t> lengths = {1000};
  int calls = 0;
  beam_search(lengths, [&](auto, auto tokens) {
    ++calls;
    return rows_of(tokens, {0, 0, 0.999, 0.001});
  });
  EXPECT_LT(calls, 5);
}

TEST(BeamSearch, WhereNothingCanComeTheEndIsReached) {
  EXPECT_THAT(search_constant({0, 0, 0, 0}, 5, {}), IsEmpty());
  EXPECT_THAT(beam_search({}, [](auto, auto) { return Tensor<float>({1, 1}); }), IsEmpty());
}

TEST(BeamSearch, RefusesATableThatIsNone) {
  const auto refused = [](const Tensor<float>& table) {
    const std::vector<std::int64_t> lengths = {3};
    return error_of([&] { beam_search(lengths, [&](auto, auto) { return table.clone(); }); });
  };
  EXPECT_THAT(refused(Tensor<float>({2, 4})), HasSubstr("[beam_search.step] must give [1, voc"));
  EXPECT_THAT(refused(Tensor<float>({1, 2})), HasSubstr("the end token in the vocabulary"));
  EXPECT_THAT(refused(Tensor<float>(Shape{4})), HasSubstr("must give [1, vocabulary]"));
  Tensor<float> table({1, 4});
  table(0, 3) = std::nanf("");
  EXPECT_THAT(refused(table), HasSubstr("must give log-probabilities, got nan for token 3"));
  table(0, 3) = 0.5f;
  EXPECT_THAT(refused(table), HasSubstr("must give log-probabilities, got 0.5 for token 3"));
}

TEST(BeamSearch, RefusesOptionsOutOfRange) {
  const auto refused = [](const BeamSearchOptions& options, std::int64_t length = 3) {
    return error_of([&] { search_constant({0, 0, 0.5, 0.5}, length, options); });
  };
  EXPECT_THAT(refused({.beams = 0}), HasSubstr("[beam_search.beams] must be 1 .. 4096, got 0"));
  EXPECT_THAT(refused({.n_best = 5}),
              HasSubstr("[beam_search.n_best] must be at most beams = 4, got 5"));
  for (const double bad : {-0.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(refused({.length_penalty = bad}), HasSubstr("[beam_search.length_penalty]"));
  }
  EXPECT_THAT(refused({.bos = -2}), HasSubstr("[beam_search.bos]"));
  EXPECT_THAT(refused({.eos = -2}), HasSubstr("[beam_search.eos]"));
  EXPECT_THAT(refused({}, 0), HasSubstr("[beam_search.max_lengths] must be >= 1, got 0"));
  EXPECT_THAT(error_of([] { beam_search(std::vector<std::int64_t>{1}, BeamStep()); }),
              HasSubstr("[beam_search.step] must be a function"));
}

}  // namespace
}  // namespace sextant::beam_search_test

// Every scheme that adds a term to the scores, in every kind of call: what a term was not made for
// is refused by all functions, and what the stages of weights show of it is one thing. Arrays are
// no larger than the calls need, so that sanitizers see what is read outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attention/same_bits.h"
#include "sextant/attention.h"
#include "sextant/core/random.h"
#include "sextant/schemes.h"
#include "support/error_of.h"

namespace sextant::terms_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHeads = 2, kDim = 8;
constexpr Stage kStages[] = {Stage::scores, Stage::capped, Stage::biased, Stage::probabilities};

struct Term {
  std::shared_ptr<const ScoreTerm> term;

  template <class M>
  void add_to(AttentionOptionsOf<M>& options) const {
    options.terms = {term.get()};
  }
};

std::vector<std::int64_t> ids_up_to(std::int64_t tokens) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

Term term_of(const Scheme& scheme, std::int64_t tokens, std::int64_t heads = kHeads) {
  const std::vector<std::int64_t> ids = ids_up_to(tokens);
  SchemeRequest request{.width = kDim * kHeads, .heads = heads, .head_dim = kDim, .positions = ids};
  return {std::get<std::shared_ptr<const ScoreTerm>>(scheme.make(request))};
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

template <class T>
Tensor<T> drawn(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(random.normal());
  return x;
}

// A call of all functions with one batch row; v has kDim channels, as values of terms want.
template <class T>
struct Arrays {
  Arrays(std::int64_t q_len, std::int64_t k_len, std::int64_t batch = 1)
      : q(drawn<T>({batch, kHeads, q_len, kDim}, 1)),
        k(drawn<T>({batch, kHeads, k_len, kDim}, 2)),
        v(drawn<T>({batch, kHeads, k_len, kDim}, 3)),
        out(q.shape()) {}

  std::string attention(const AttentionOptions<T>& options) {
    return error_of([&] { sextant::attention<T>(q, k, v, out, options); });
  }
  // The errors of the other functions.
  std::vector<std::string> others(const AttentionOptions<T>& options) {
    std::vector<std::string> errors{error_of([&] {
                                      Tensor<T> dk(k.shape());
                                      attention_backward<T>(q, k, v, out, out, {.k = dk}, options);
                                    }),
                                    error_of([&] { attention_plan<T>(q, k, v, options); }),
                                    error_of([&] { attention_statistics<T>(q, k, options); })};
    for (const Stage stage : kStages) {
      errors.push_back(error_of([&] { attention_weights<T>(q, k, options, {.stage = stage}); }));
    }
    return errors;
  }

  Tensor<T> q, k, v, out;
};

class Terms : public ::testing::TestWithParam<const Scheme*> {};

// No row is zero in silence: either a call is refused by every function in the same words, or every
// query that sees a key has weights.
TEST_P(Terms, AreRefusedByAllFunctionsOrByNone) {
  const Scheme& scheme = *GetParam();
  struct Sizes {
    std::int64_t q_len, k_len;
    std::vector<std::int64_t> segments, key_segments, offsets, lengths;
  };
  const Sizes all[] = {{7, 7, {}, {}, {}, {}},
                       {3, 7, {}, {}, {}, {}},
                       {9, 7, {}, {}, {}, {}},
                       {7, 7, {0, 3, 3, 7}, {}, {}, {}},
                       {7, 7, {0, 1, 7}, {0, 5, 7}, {}, {}},
                       {4, 9, {0, 1, 4}, {0, 7, 9}, {}, {}},
                       {3, 7, {}, {}, {4}, {}},
                       {3, 7, {}, {}, {6}, {5}},
                       {3, 7, {}, {}, {-2}, {}},
                       {4, 7, {}, {}, {}, {5}},
                       {4, 7, {}, {}, {}, {2}},
                       {4, 7, {}, {}, {}, {0}}};
  int accepted = 0, refused = 0;
  for (const std::int64_t tokens : {5, 7, 9}) {
    const Term term = term_of(scheme, tokens);
    for (const Sizes& sizes : all) {
      for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right,
                                  Causal::at_offsets, Causal::at_lengths}) {
        for (const std::int64_t left : {-1, 1}) {
          AttentionOptions<float> options{.causal = causal,
                                          .query_offsets = sizes.offsets,
                                          .window = {.left = left},
                                          .key_lengths = sizes.lengths,
                                          .segments = sizes.segments,
                                          .key_segments = sizes.key_segments};
          Arrays<float> arrays(sizes.q_len, sizes.k_len);
          if (arrays.attention(options) != "no error")
            continue;  // no such call, with or without a term
          const Tensor<float> plain =
              attention_weights<float>(arrays.q, arrays.k, options, {.stage = Stage::biased});
          term.add_to(options);
          const std::string error = arrays.attention(options);
          SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::string(name_of(causal)) +
                       ", queries " + std::to_string(sizes.q_len) + ", keys " +
                       std::to_string(sizes.k_len) + ", window " + std::to_string(left) + ": " +
                       error);
          for (const std::string& other : arrays.others(options)) EXPECT_EQ(other, error);
          if (error != "no error") {
            EXPECT_THAT(error, ::testing::StartsWith("[" + std::string(scheme.name)));
            ++refused;
            continue;
          }
          ++accepted;
          if (scheme.name.ends_with("mask")) continue;  // may hide a whole row
          const Tensor<float> weights = attention_weights<float>(arrays.q, arrays.k, options);
          for (std::int64_t row = 0; row < kHeads * sizes.q_len; ++row) {
            float sum = 0;
            bool sees = false;
            for (std::int64_t j = 0; j < sizes.k_len; ++j) {
              sum += weights.data()[row * sizes.k_len + j];
              sees = sees || !std::isinf(plain.data()[row * sizes.k_len + j]);
            }
            EXPECT_NEAR(sum, sees ? 1 : 0, 1e-5) << row;
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 0);
  if (scheme.name != "shaw" && scheme.name != "cope" && scheme.name != "transformer_xl") {
    EXPECT_GT(refused, 0);
  }
}

// Lengths that leave every key change nothing at any stage, with and without a rotation.
TEST_P(Terms, AreTheSameWithLengthsThatLeaveAllKeys) {
  constexpr std::int64_t kTokens = 12;
  const Term term = term_of(*GetParam(), kTokens);
  const auto table = rotary<float>({.head_dim = kDim}, kTokens);
  const std::vector<std::int64_t> lengths{kTokens, kTokens};
  const auto check = [&]<class T>(T) {
    const Arrays<T> arrays(kTokens, kTokens, 2);
    for (const bool rotated : {false, true}) {
      for (const double softcap : {0, 2}) {
        AttentionOptions<T> options{.causal = Causal::top_left, .softcap = softcap};
        term.add_to(options);
        if (rotated) options.rotation = &table;
        AttentionOptions<T> padded = options;
        padded.key_lengths = lengths;
        for (const Stage stage : kStages) {
          SCOPED_TRACE(std::string(name_of(stage)) + (rotated ? ", rotated" : "") +
                       (softcap > 0 ? ", capped" : ""));
          EXPECT_TRUE(
              same_bits<T>(attention_weights<T>(arrays.q, arrays.k, padded, {.stage = stage}),
                           attention_weights<T>(arrays.q, arrays.k, options, {.stage = stage})));
        }
      }
    }
  };
  check(float{});
  check(double{});
}

// Every pair that the options hide has the score of no term, before and after the softcap.
void check_hidden_pairs(const Arrays<double>& arrays, const AttentionOptions<double>& options) {
  const auto at = [&](Stage stage) {
    return attention_weights<double>(arrays.q, arrays.k, options, {.stage = stage});
  };
  const bool before_softcap = options.terms.front()->needs().before_softcap;
  const auto scores = at(Stage::scores), capped = at(Stage::capped), biased = at(Stage::biased);
  for (std::int64_t n = 0; n < scores.count(); ++n) {
    ASSERT_TRUE(std::isfinite(scores.data()[n]));
    const double without = options.softcap > 0
                               ? options.softcap * std::tanh(scores.data()[n] / options.softcap)
                               : scores.data()[n];
    if (std::isinf(biased.data()[n]) || !before_softcap) {
      EXPECT_EQ(capped.data()[n], without) << n;
    } else {  // nothing comes after the cap
      EXPECT_EQ(capped.data()[n], biased.data()[n]) << n;
    }
  }
}

// Padding is shown by the stages that hide nothing, without a term, which need not be made for it;
// the pairs that something hides too; and those of other segments have no score.
TEST_P(Terms, AreNotAddedToHiddenPairsAtAnyStage) {
  constexpr std::int64_t kTokens = 6, kPadded = 9;
  const Term term = term_of(*GetParam(), kTokens);
  const std::vector<std::int64_t> lengths{kTokens};
  Tensor<bool> mask({kTokens, kPadded});
  for (std::int64_t n = 0; n < mask.count(); ++n) mask.data()[n] = n % 5 != 3;
  const Arrays<double> arrays(kTokens, kPadded);
  AttentionOptions<double> options{
      .causal = Causal::top_left, .mask = BoolMask(mask.view()), .key_lengths = lengths};
  term.add_to(options);
  options.scale = 0.25;
  const auto table = rotary<float>({.head_dim = kDim}, kPadded);
  for (const bool rotated : {false, true}) {
    if (rotated) options.rotation = &table;
    for (const double softcap : {0, 2}) {
      options.softcap = softcap;
      check_hidden_pairs(arrays, options);
    }
  }
}

TEST_P(Terms, OfOtherHeadsAreRefused) {
  const Scheme& scheme = *GetParam();
  if (scheme.weights.empty() && scheme.name != "alibi_2d") return;  // alike in all heads
  // One table for all heads.
  for (const char* shared : {"cope", "decomposed_2d", "relative_key", "shaw"}) {
    if (scheme.name == shared) return;
  }
  const Term term = term_of(scheme, 7, kHeads + 1);
  AttentionOptions<float> options{.causal = Causal::top_left};
  term.add_to(options);
  Arrays<float> arrays(7, 7);
  const std::string error = arrays.attention(options);
  EXPECT_THAT(error, HasSubstr(std::string(scheme.name)));
  EXPECT_THAT(error, HasSubstr("2"));
  for (const std::string& other : arrays.others(options)) EXPECT_EQ(other, error);
}

INSTANTIATE_TEST_SUITE_P(All, Terms, ::testing::ValuesIn(schemes_with_terms()),
                         [](const auto& one) { return std::string(one.param->name); });

TEST(TermErrors, SayWhatIsNeededAndWhatCame) {
  Arrays<float> arrays(6, 6);
  const auto error = [&](const Term& term, std::optional<Causal> causal = {}) {
    AttentionOptions<float> options{.causal = causal};
    term.add_to(options);
    return arrays.attention(options);
  };
  EXPECT_EQ(error(term_of(find_scheme("swin"), 6, 1)),
            "[swin] must be made for the call's heads, 2, got 1");
  EXPECT_EQ(error(term_of(find_scheme("fire"), 4)),
            "[fire.positions] must have one for each of the tokens 0 .. 5 of the call, got 4");
  EXPECT_EQ(error(term_of(find_scheme("document_mask"), 4)),
            "[document_mask.documents] must have one for each of the tokens 0 .. 5 of the call, "
            "got 4");
  // Ids of the call replace the list, and have to be cells of the grid.
  const Term grid = term_of(find_scheme("swin"), 4);
  Tensor<std::int64_t> ids({1, 6});
  for (std::int64_t n = 0; n < 6; ++n) ids.data()[n] = n / 2 - (n == 0 ? 3 : 0);
  AttentionOptions<float> options{.query_positions = ids, .key_positions = ids};
  grid.add_to(options);
  EXPECT_EQ(arrays.attention(options),
            "[swin] must have a cell for each of the ids -3 .. 2 of the call, got the 4 cells of "
            "2 x 2");
}

TEST(TermErrors, OfGatesThatPackedQueriesLack) {
  Arrays<float> arrays(7, 7);
  const std::vector<std::int64_t> segments{0, 1, 7}, key_segments{0, 4, 7};
  const Term gates = term_of(find_scheme("forgetting"), 7);
  AttentionOptions<float> options{
      .causal = Causal::top_left, .segments = segments, .key_segments = key_segments};
  gates.add_to(options);
  const std::string error = arrays.attention(options);
  EXPECT_EQ(error,
            "[forgetting] must have a key for every query's gate in packed sequences, got one of "
            "3 keys with a query at position 5");
  for (const std::string& other : arrays.others(options)) EXPECT_EQ(other, error);
}

TEST(TermErrors, OfACacheThatOutgrowsItsBias) {
  const Term bias = term_of(find_scheme("fire"), 4);
  AttentionOptions<float> options;
  bias.add_to(options);
  KvCache<float> cache({1, kHeads, kDim, kDim});
  const auto one = drawn<float>({1, kHeads, 1, kDim}, 5);
  Tensor<float> out(one.shape());
  for (int token = 0; token < 4; ++token) {
    cache.append(one, one);
    EXPECT_EQ(error_of([&] { cache.attend(one, out.view(), options); }), "no error") << token;
  }
  cache.append(one, one);
  EXPECT_EQ(error_of([&] { cache.attend(one, out.view(), options); }),
            "[fire.positions] must have one for each of the tokens 0 .. 4 of the call, got 4");
}

}  // namespace
}  // namespace sextant::terms_test

// Content terms by tiles in float32 against the float64 rows, and their bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "sextant/attention.h"
#include "sextant/core/random.h"
#include "sextant/schemes/scheme.h"

namespace sextant::content_tiles_test {
namespace {

constexpr std::int64_t kHeads = 4, kKeyHeads = 2, kQueries = 150, kKeys = 300, kDim = 24;

// Float32 numbers, and the same as float64.
struct Both {
  Both(const Shape& shape, std::uint32_t seed) : narrow(shape), wide(shape) {
    NumpyRandom random(seed);
    for (std::int64_t n = 0; n < narrow.count(); ++n) {
      narrow.data()[n] = static_cast<float>(random.normal());
      wide.data()[n] = static_cast<double>(narrow.data()[n]);
    }
  }
  Tensor<float> narrow;
  Tensor<double> wide;
};

struct TiledCase {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  bool jumps;  // the ids are not 0, 1, 2, ...
};
const TiledCase kCases[] = {
    {"shaw", {{"values", "no"}, {"max_distance", "16"}}, false},
    {"shaw", {{"values", "no"}, {"max_distance", "400"}, {"per_head", "yes"}}, false},
    {"shaw", {{"values", "no"}, {"max_distance", "40"}}, true},
    {"shaw", {}, false},  // with vectors for values
    {"shaw", {{"max_distance", "200"}, {"per_head", "yes"}}, false},
    {"shaw", {{"max_distance", "0"}}, false},
    {"transformer_xl", {}, false},
    {"transformer_xl", {{"clamp_len", "50"}}, true},
    {"deberta", {{"position_buckets", "32"}, {"max_position", "128"}}, true},
    {"deberta", {{"position_buckets", "0"}, {"max_position", "64"}}, false},
    {"forgetting", {}, false},
    {"cope", {}, false},
    {"cope", {{"npos", "3"}, {"scaled", "no"}}, false},
    {"cope", {{"npos", "16"}}, false},   // most positions are the last one
    {"cope", {{"npos", "400"}}, false},  // positions below the last one
};

bool must_be_causal(const std::string& scheme) {
  return scheme == "forgetting" || scheme == "cope";
}

std::shared_ptr<const ScoreTerm> term_of(const TiledCase& tiled) {
  std::vector<std::int64_t> ids(kKeys);
  for (std::int64_t n = 0; n < kKeys; ++n) {
    ids[static_cast<std::size_t>(n)] = tiled.jumps ? n + n / 7 * 3 : n;
  }
  SchemeRequest request;
  request.width = 16;
  request.heads = kHeads;
  request.head_dim = kDim;
  request.positions = ids;
  request.parameters = tiled.parameters;
  return std::get<std::shared_ptr<const ScoreTerm>>(find_scheme(tiled.scheme).make(request));
}

// Causal, or with later keys too.
class ContentTilesOf : public ::testing::TestWithParam<Causal> {};
INSTANTIATE_TEST_SUITE_P(Keys, ContentTilesOf, ::testing::Values(Causal::at_offsets, Causal::none),
                         [](const auto& param) {
                           return param.param == Causal::none ? "all" : "earlier";
                         });

void expect_as_in_float64(Causal causal, double softcap) {
  const Both q({2, kHeads, kQueries, kDim}, 1), k({2, kKeyHeads, kKeys, kDim}, 2),
      few({2, kKeyHeads, kKeys, 20}, 3), as_many({2, kKeyHeads, kKeys, kDim}, 3);
  Tensor<bool> mask({kQueries, kKeys});
  NumpyRandom random(4);
  for (bool& seen : mask.span()) seen = random.uniform() < 0.9;
  const std::vector<std::int64_t> offsets{150, 60};
  const auto fill = [&](auto& options, const ScoreTerm& term) {
    options.causal = causal;
    options.softcap = softcap;
    options.query_offsets = offsets;
    options.mask = BoolMask(mask.view());
    options.window.left = 170;
    options.terms = {&term};
  };
  for (const TiledCase& tiled : kCases) {
    SCOPED_TRACE(tiled.scheme + (tiled.jumps ? " with jumps" : ""));
    if (causal == Causal::none && must_be_causal(tiled.scheme)) continue;
    const auto term = term_of(tiled);
    ASSERT_NE(term->needs().tiles, TermTiles::float64);
    AttentionOptions<float> narrow;
    AttentionOptions<double> wide;
    fill(narrow, *term);
    fill(wide, *term);
    const Both& v = term->needs().value_dim > 0 ? as_many : few;
    Tensor<float> out({2, kHeads, kQueries, v.narrow.size(3)});
    Tensor<double> expected(out.shape());
    attention<float>(q.narrow, k.narrow, v.narrow, out, narrow);
    attention<double>(q.wide, k.wide, v.wide, expected, wide);
    // A score is a sum of three chains of 24 products of numbers up to 4 x 2 and a decay of up to
    // 60, each wrong by at most (24 + 4) 2^-24 of its magnitude, some 70: an error e below 2e-4,
    // and by chance a tenth of it. A weight is wrong by 2 e relative, an output by that times its
    // largest value, 4, which a vector of Shaw's raises to 6.
    for (std::int64_t n = 0; n < out.count(); ++n) {
      ASSERT_NEAR(static_cast<double>(out.data()[n]), expected.data()[n], 2e-4) << n;
    }
    const auto weights = attention_weights<float>(q.narrow.view(), k.narrow, narrow);
    const auto expected_weights = attention_weights<double>(q.wide.view(), k.wide, wide);
    for (std::int64_t n = 0; n < weights.count(); ++n) {
      ASSERT_NEAR(static_cast<double>(weights.data()[n]), expected_weights.data()[n], 2e-4) << n;
    }
  }
}

TEST_P(ContentTilesOf, AgreeWithTheRowsInFloat64) { expect_as_in_float64(GetParam(), 0); }

// The softcap makes errors smaller.
TEST_P(ContentTilesOf, AgreeWithTheRowsInFloat64BeforeASoftcap) {
  expect_as_in_float64(GetParam(), 5);
}

// Sums of weights beyond a span of keys, with a sink, and with weights that dropout left.
TEST(ContentTiles, AddVectorsToTheValuesOfLongRows) {
  constexpr std::int64_t kLong = 5000, kLast = 70;
  const Both q({1, 2, kLast, 8}, 9), k({1, 1, kLong, 8}, 10), v({1, 1, kLong, 8}, 11);
  const std::vector<std::int64_t> offsets{kLong - kLast};
  std::vector<std::int64_t> ids(kLong);
  std::iota(ids.begin(), ids.end(), 0);
  SchemeRequest request;
  request.width = 16;
  request.heads = 2;
  request.head_dim = 8;
  request.positions = ids;
  request.parameters = {{"max_distance", "40"}};
  const auto term = std::get<std::shared_ptr<const ScoreTerm>>(find_scheme("shaw").make(request));
  const std::vector<double> sinks{0.5, 6};
  const auto fill = [&](auto& options) {
    options.causal = Causal::at_offsets;
    options.query_offsets = offsets;
    options.terms = {term.get()};
    options.sinks = sinks;
    options.scale = 0.1;
    options.dropout = 0.25;
    options.dropout_seed = 3;
  };
  AttentionOptions<float> narrow;
  AttentionOptions<double> wide;
  fill(narrow);
  fill(wide);
  Tensor<float> out({1, 2, kLast, 8});
  Tensor<double> expected(out.shape());
  attention<float>(q.narrow, k.narrow, v.narrow, out, narrow);
  attention<double>(q.wide, k.wide, v.wide, expected, wide);
  // Scores are below 8 and wrong by 16 2^-24 of that: 1e-5. Sums of weights are wrong by 128 + 32
  // + 2 roundings at most, another 1e-5; by chance a tenth. Values and vectors are below 5.
  for (std::int64_t n = 0; n < out.count(); ++n) {
    ASSERT_NEAR(static_cast<double>(out.data()[n]), expected.data()[n], 5e-5) << n;
  }
}

TEST(ContentTiles, HaveTheSameBitsWhateverTheThreadsTheChunksAndTheChoice) {
  const Both q({1, kHeads, kQueries, kDim}, 5), k({1, kKeyHeads, kQueries, kDim}, 6);
  for (const double softcap : {0.0, 5.0})
    for (const TiledCase& tiled : kCases) {
      SCOPED_TRACE(tiled.scheme + (tiled.jumps ? " with jumps" : ""));
      const auto term = term_of(tiled);
      AttentionOptions<float> options;
      options.causal = Causal::at_offsets;
      options.softcap = softcap;
      const std::vector<std::int64_t> start{0}, later{70};
      options.query_offsets = start;
      options.terms = {term.get()};
      options.threads = 1;
      Tensor<float> whole({1, kHeads, kQueries, kDim}), other(whole.shape());
      const View<const float> values = k.narrow.view();
      attention<float>(q.narrow, k.narrow, values, whole, options);
      options.threads = 3;
      attention<float>(q.narrow, k.narrow, values, other, options);
      EXPECT_EQ(std::memcmp(whole.data(), other.data(),
                            static_cast<std::size_t>(whole.count()) * sizeof(float)),
                0);
      // Queries from number 70 on, by themselves: many, and so few that they take the path for few.
      options.query_offsets = later;
      for (const std::int64_t count : {kQueries - 70, std::int64_t{6}, std::int64_t{1}}) {
        Tensor<float> chunk({1, kHeads, count, kDim});
        attention<float>(q.narrow.view().narrow(2, 70, count), k.narrow, values, chunk, options);
        for (std::int64_t h = 0; h < kHeads; ++h) {
          EXPECT_EQ(std::memcmp(&whole(0, h, 70, 0), &chunk(0, h, 0, 0),
                                static_cast<std::size_t>(count * kDim) * sizeof(float)),
                    0)
              << count << " queries";
        }
      }
      // A row of weights does not depend on which others are chosen.
      options.query_offsets = start;
      const auto all = attention_weights<float>(q.narrow.view(), k.narrow, options);
      const std::vector<std::int64_t> rows{3, 64, 65, 149};
      const auto some =
          attention_weights<float>(q.narrow.view(), k.narrow, options, {.rows = rows});
      for (std::int64_t h = 0; h < kHeads; ++h) {
        for (std::size_t n = 0; n < rows.size(); ++n) {
          EXPECT_EQ(
              std::memcmp(&all(0, h, rows[n], 0), &some(0, h, static_cast<std::int64_t>(n), 0),
                          static_cast<std::size_t>(kQueries) * sizeof(float)),
              0);
        }
      }
    }
}

TEST(ContentTiles, AreForTermsThatHaveThemAndPlansSaySo) {
  const Both q({1, kHeads, 40, kDim}, 7), k({1, kKeyHeads, 40, kDim}, 8);
  AttentionOptions<float> options;
  options.causal = Causal::top_left;
  const auto kernel = [&](const ScoreTerm& term) {
    options.terms = {&term};
    return attention_plan<float>(q.narrow.view(), k.narrow, k.narrow, options).kernel;
  };
  EXPECT_EQ(kernel(*term_of(kCases[0])), "queries in lanes");
  EXPECT_EQ(kernel(*term_of({"cope", {}, false})), "queries in lanes");
  EXPECT_EQ(kernel(*term_of({"shaw", {}, false})), "queries in lanes");
  EXPECT_EQ(kernel(*term_of({"shaw", {}, true})), "plain rows");  // not distances of indices
  EXPECT_EQ(kernel(*term_of({"shaw", {{"max_distance", "256"}}, false})), "plain rows");
  options.softcap = 5;
  EXPECT_EQ(kernel(*term_of(kCases[0])), "queries in lanes");
}

}  // namespace
}  // namespace sextant::content_tiles_test

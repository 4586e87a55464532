// BERT's relative keys against their formula, and what other schemes make of the same table.
#include "sextant/schemes/content/relative_key.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"
#include "sextant/schemes/content/deberta.h"
#include "sextant/schemes/content/shaw.h"

namespace sextant::relative_key_test {
namespace {

using ::testing::HasSubstr;

// Ids with gaps, as of shifted positions: places 0 .. 7.
constexpr std::int64_t kIds[] = {5, 6, 7, 9, 10, 14, 15, 16};
constexpr std::int64_t kMaxPosition = 12;  // their span

double element(const Tensor<double>& table, std::int64_t head, std::int64_t row, std::int64_t d) {
  return table.rank() == 3 ? table(head, row, d) : table(row, d);
}

// (q + k) E[i - j + max - 1] / sqrt(d), as in modeling_bert.py.
TEST(RelativeKey, AddsProductsOfQueriesAndOfKeysIfAsked) {
  for (const char* with_keys : {"no", "yes"}) {
    for (const char* per_head : {"no", "yes"}) {
      testing::ContentCall call(3, false);
      const SchemeRequest request = testing::content_request(
          kIds, {{"max_position", "12"}, {"with_keys", with_keys}, {"per_head", per_head}});
      const SchemeWeights weights = find_scheme("relative_key").initial_weights(request);
      const auto term = testing::term_of("relative_key", request);
      const double scale = 1 / std::sqrt(3.0);
      testing::expect_forward(
          call, *term, scale, [&](const testing::ContentCall& c, const testing::Pair& p) {
            const std::int64_t row = kIds[p.own] - kIds[p.key] + kMaxPosition - 1;
            double sum = 0;
            for (std::int64_t d = 0; d < 3; ++d) {
              double x = c.q(p.batch, p.head, p.query, d);
              if (*with_keys == 'y') x += c.k(p.batch, p.key_head, p.key, d);
              sum += x * element(weights.at("table"), p.head, row, d);
            }
            return scale * sum;
          });
    }
  }
}

TEST(RelativeKey, HasTheGradientOfItsTable) {
  for (const char* with_keys : {"no", "yes"}) {
    for (const char* per_head : {"no", "yes"}) {
      testing::ContentCall call(4, false);
      const SchemeRequest request = testing::content_request(
          kIds, {{"max_position", "12"}, {"with_keys", with_keys}, {"per_head", per_head}});
      testing::expect_gradients("relative_key", request,
                                find_scheme("relative_key").initial_weights(request), call);
    }
  }
}

// Shaw counts key - query: the same table in reverse, without values.
TEST(RelativeKey, IsShawOfTheReversedTable) {
  NumpyRandom random(5);
  const RelativeKeyWeights weights{testing::normal({23, 3}, random)};
  ShawWeights reversed{Tensor<double>({23, 3})};
  for (std::int64_t row = 0; row < 23; ++row) {
    for (std::int64_t d = 0; d < 3; ++d) reversed.key_table(row, d) = weights.table(22 - row, d);
  }
  testing::ContentCall call(6, false);
  const auto ours = relative_key({.max_position = 12}, weights);
  const auto theirs = shaw({.max_distance = 11}, reversed);
  call.options.terms = {ours.get()};
  const double loss = testing::loss_of(call);
  call.options.terms = {theirs.get()};
  EXPECT_EQ(testing::loss_of(call), loss);
}

// DeBERTa with equal tables and without buckets has both products too; row 0 of its 2s is unused
// here, and its scale is that of three products.
TEST(RelativeKey, WithKeysIsDebertaOfEqualTablesAtTheSameScale) {
  NumpyRandom random(5);
  const RelativeKeyWeights weights{testing::normal({1, 23, 3}, random)};
  Tensor<double> table({4, 24, 3});
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t row = 0; row < 23; ++row) {
      for (std::int64_t d = 0; d < 3; ++d) table(h, row + 1, d) = weights.table(0, row, d);
    }
  }
  testing::ContentCall call(6, false);
  call.options.scale = 0.4;
  const auto ours = relative_key({.max_position = 12, .with_keys = true}, weights);
  const auto theirs =
      deberta({.position_buckets = 0, .max_position = 12}, {table.clone(), table.clone()});
  call.options.terms = {ours.get()};
  const double loss = testing::loss_of(call);
  call.options.terms = {theirs.get()};
  EXPECT_NEAR(testing::loss_of(call), loss, testing::kFloat64Tolerance * (1 + std::abs(loss)));
}

TEST(RelativeKey, NamesTheArgumentAtFault) {
  const auto error = [](std::map<std::string, std::string> parameters) {
    return error_of(
        [&] { testing::term_of("relative_key", testing::content_request({}, parameters)); });
  };
  EXPECT_EQ(error({{"max_position", "0"}}), "[relative_key.max_position] must be 1 .. 2^20, got 0");
  EXPECT_THAT(error({{"with_keys", "perhaps"}}),
              HasSubstr("[relative_key.with_keys] must be yes or no"));
  EXPECT_EQ(error_of([] {
              relative_key({.max_position = 3}, {Tensor<double>({6, 3})});
            }),
            "[relative_key.table] must be [5, head_dim] or [heads, 5, head_dim], got [6, 3]");
  const RelativeKeyWeights weights{Tensor<double>({5, 3})};
  constexpr std::int64_t kFar[] = {0, 3};
  EXPECT_EQ(error_of([&] { relative_key({.max_position = 3}, weights, kFar); }),
            "[relative_key.positions] must be less than max_position, 3, apart, got 0 and 3");
  testing::ContentCall call(8, false);
  EXPECT_EQ(testing::refusal_of(*relative_key({.max_position = 3}, weights), call),
            "[relative_key] must be made for distances up to 6, got 2");
  EXPECT_THAT(error_of([&] {
                relative_key_backward({.max_position = 3, .with_keys = true}, weights,
                                      Tensor<double>({1, 15}));
              }),
              HasSubstr("[relative_key.gradient] must be [1, parameters]"));
  EXPECT_EQ(find_scheme("relative_key").max_length(testing::content_request({})), 512);
}

}  // namespace
}  // namespace sextant::relative_key_test

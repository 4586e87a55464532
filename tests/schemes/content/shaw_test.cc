// Shaw's relative positions against the paper's equations written out.
#include "sextant/schemes/content/shaw.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"

namespace sextant::shaw_test {
namespace {

using ::testing::HasSubstr;

// Ids with gaps, as of shifted positions: places 0 .. 7.
constexpr std::int64_t kIds[] = {5, 6, 7, 9, 10, 14, 15, 16};

double table_dot(const Tensor<double>& table, std::int64_t head, std::int64_t row,
                 const std::function<double(std::int64_t)>& x) {
  double sum = 0;
  for (std::int64_t d = 0; d < 3; ++d) {
    sum += x(d) * (table.rank() == 3 ? table(head, row, d) : table(row, d));
  }
  return sum;
}

TEST(Shaw, AddsWhatThePapersEquationsSay) {
  for (const char* per_head : {"no", "yes"}) {
    for (const bool causal : {false, true}) {
      testing::ContentCall call(3, causal);
      const SchemeRequest request =
          testing::content_request(kIds, {{"max_distance", "3"}, {"per_head", per_head}});
      const SchemeWeights weights = find_scheme("shaw").initial_weights(request);
      const auto term = testing::term_of("shaw", request);
      const double scale = 1 / std::sqrt(3.0);
      const auto row = [](const testing::Pair& p) {
        return std::clamp<std::int64_t>(kIds[p.key] - kIds[p.own], -3, 3) + 3;
      };
      testing::expect_forward(
          call, *term, scale,
          [&](const testing::ContentCall& c, const testing::Pair& p) {
            return scale * table_dot(weights.at("key_table"), p.head, row(p), [&](std::int64_t d) {
                     return c.q(p.batch, p.head, p.query, d);
                   });
          },
          [&](const testing::Pair& p, std::int64_t c) {
            return table_dot(weights.at("value_table"), p.head, row(p),
                             [&](std::int64_t d) { return d == c ? 1.0 : 0.0; });
          });
    }
  }
}

TEST(Shaw, HasTheGradientsOfItsTables) {
  for (const char* per_head : {"no", "yes"}) {
    testing::ContentCall call(4, false);
    const SchemeRequest request =
        testing::content_request(kIds, {{"max_distance", "3"}, {"per_head", per_head}});
    testing::expect_gradients("shaw", request, find_scheme("shaw").initial_weights(request), call);
  }
}

TEST(Shaw, MayLeaveValuesAsTheyAre) {
  testing::ContentCall call(5, false);
  const SchemeRequest request =
      testing::content_request({}, {{"max_distance", "2"}, {"values", "no"}});
  SchemeWeights weights = find_scheme("shaw").initial_weights(request);
  for (double& x : weights.at("key_table").span()) x = 0;
  SchemeRequest zero = request;
  zero.weights = &weights;
  const auto term = testing::term_of("shaw", zero);
  testing::expect_forward(call, *term, 1 / std::sqrt(3.0),
                          [](const auto&, const auto&) { return 0.0; });
  testing::expect_gradients("shaw", request, std::move(weights), call);
}

// Only differences of ids count, so ids moved together change nothing.
TEST(Shaw, DependsOnDistancesOnly) {
  testing::ContentCall call(6, false);
  std::vector<std::int64_t> moved(std::begin(kIds), std::end(kIds));
  for (std::int64_t& id : moved) id += (std::int64_t{1} << 53) - 100;
  const auto here = testing::term_of("shaw", testing::content_request(kIds));
  const auto there = testing::term_of("shaw", testing::content_request(moved));
  call.options.terms = {here.get()};
  const double loss = testing::loss_of(call);
  call.options.terms = {there.get()};
  EXPECT_EQ(testing::loss_of(call), loss);
}

TEST(Shaw, CountsPositionsFromTheStartOfEverySegment) {
  NumpyRandom random(7);
  const Tensor<double> q = testing::normal({1, 4, 7, 3}, random),
                       k = testing::normal({1, 2, 7, 3}, random),
                       v = testing::normal({1, 2, 7, 3}, random);
  const auto term = testing::term_of("shaw", testing::content_request({}, {{"max_distance", "2"}}));
  const std::vector<std::int64_t> segments{0, 3, 7};
  AttentionOptions<double> options{.segments = segments, .terms = {term.get()}};
  Tensor<double> packed(q.shape());
  attention<double>(q, k, v, packed, options);
  options.segments = {};
  for (const auto& [begin, length] : {std::pair{0, 3}, std::pair{3, 4}}) {
    Tensor<double> alone({1, 4, length, 3});
    attention<double>(q.view().narrow(2, begin, length), k.view().narrow(2, begin, length),
                      v.view().narrow(2, begin, length), alone, options);
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t i = 0; i < length; ++i) {
        for (std::int64_t c = 0; c < 3; ++c) {
          EXPECT_EQ(packed(0, h, begin + i, c), alone(0, h, i, c));
        }
      }
    }
  }
}

TEST(Shaw, NamesTheArgumentAtFault) {
  const auto error = [](std::map<std::string, std::string> parameters) {
    return error_of([&] { testing::term_of("shaw", testing::content_request({}, parameters)); });
  };
  EXPECT_EQ(error({{"max_distance", "-1"}}), "[shaw.max_distance] must be 0 .. 2^20, got -1");
  EXPECT_THAT(error({{"values", "perhaps"}}), HasSubstr("[shaw.values] must be yes or no"));
  EXPECT_EQ(error_of([] {
              shaw({.max_distance = 2}, {Tensor<double>({4, 3})});
            }),
            "[shaw.key_table] must be [5, head_dim] or [heads, 5, head_dim], got [4, 3]");
  testing::ContentCall call(8, false);
  EXPECT_EQ(testing::refusal_of(*shaw({.max_distance = 2}, {Tensor<double>({5, 4})}), call),
            "[shaw] must be made for the call's head_dim, 3, got 4");
  EXPECT_EQ(testing::refusal_of(*shaw({.max_distance = 2}, {Tensor<double>({2, 5, 3})}), call),
            "[shaw] must be made for the call's heads, 4, got 2");
  EXPECT_EQ(testing::refusal_of(
                *shaw({.max_distance = 2}, {Tensor<double>({5, 3}), Tensor<double>({5, 2})}), call),
            "[shaw] must be made for the call's v_dim, 3, got 2");
  constexpr std::int64_t kFew[] = {0, 1, 2, 3, 4};
  EXPECT_EQ(
      testing::refusal_of(*shaw({.max_distance = 2}, {Tensor<double>({5, 3})}, kFew), call),
      "[shaw.positions] must have an id for each of the indices 0 .. 6, got 5 ids from place 0");
  EXPECT_THAT(error_of([] {
                find_scheme("shaw").backward(testing::content_request({}), Tensor<double>({1, 4}));
              }),
              HasSubstr("[shaw.gradient] must be [1, parameters]"));
}

}  // namespace
}  // namespace sextant::shaw_test

// DeBERTa's buckets and disentangled scores.
#include "sextant/schemes/content/deberta.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"

namespace sextant::deberta_test {
namespace {

using ::testing::HasSubstr;

// 0, 1, ... with a jump across the log buckets.
constexpr std::int64_t kIds[] = {0, 1, 2, 4, 5, 40, 41, 44};

TEST(DebertaRow, IsThatOfKnownDistances) {
  const std::pair<std::int64_t, std::int64_t> known[] = {
      {0, 0},     {1, 1},     {127, 127}, {128, 128}, {129, 129}, {131, 131}, {150, 143},
      {200, 169}, {255, 192}, {300, 207}, {400, 233}, {500, 254}, {510, 255}, {511, 255}};
  for (const auto& [distance, bucket] : known) {
    EXPECT_EQ(deberta_row(distance), bucket + 256) << distance;
    EXPECT_EQ(deberta_row(-distance), 256 - bucket) << distance;
  }
  // Bucket 256 is clamped to the table.
  EXPECT_EQ(deberta_row(512), 511);
  EXPECT_EQ(deberta_row(-512), 0);
  EXPECT_EQ(deberta_row(std::int64_t{1} << 60), 511);
  EXPECT_EQ(deberta_row(-(std::int64_t{1} << 60)), 0);
}

TEST(DebertaRow, OfTheFirstVersionIsTheDistance) {
  const Deberta options{.position_buckets = 0, .max_position = 8};
  EXPECT_EQ(deberta_span(options), 8);
  for (std::int64_t d = -20; d <= 20; ++d) {
    EXPECT_EQ(deberta_row(d, options), std::clamp<std::int64_t>(d + 8, 0, 15));
  }
}

TEST(Deberta, AddsBothProductsByTheRowOfQueryMinusKey) {
  testing::ContentCall call(3, false);
  const SchemeRequest request =
      testing::content_request(kIds, {{"position_buckets", "8"}, {"max_position", "32"}});
  const Deberta options{.position_buckets = 8, .max_position = 32};
  const SchemeWeights weights = find_scheme("deberta").initial_weights(request);
  const auto term = testing::term_of("deberta", request);
  const double scale = 1 / std::sqrt(9.0);  // three terms, head_dim 3
  testing::expect_forward(
      call, *term, scale, [&](const testing::ContentCall& c, const testing::Pair& p) {
        const std::int64_t row = deberta_row(kIds[p.own] - kIds[p.key], options);
        double sum = 0;
        for (std::int64_t d = 0; d < 3; ++d) {
          sum += c.q(p.batch, p.head, p.query, d) * weights.at("key_table")(p.head, row, d);
          sum += c.k(p.batch, p.key_head, p.key, d) * weights.at("query_table")(p.head, row, d);
        }
        return scale * sum;
      });
}

TEST(Deberta, HasTheGradientsOfItsTables) {
  testing::ContentCall call(4, false);
  const SchemeRequest request =
      testing::content_request(kIds, {{"position_buckets", "4"}, {"max_position", "32"}});
  testing::expect_gradients("deberta", request, find_scheme("deberta").initial_weights(request),
                            call);
}

TEST(Deberta, TakesAScaleThatIsGiven) {
  testing::ContentCall call(5, false);
  const SchemeRequest request = testing::content_request({});
  const auto term = testing::term_of("deberta", request);
  call.options.terms = {term.get()};
  const double unset = testing::loss_of(call);
  call.options.scale = 1 / std::sqrt(9.0);
  EXPECT_EQ(testing::loss_of(call), unset);
  call.options.scale = 1 / std::sqrt(3.0);
  EXPECT_NE(testing::loss_of(call), unset);
}

TEST(Deberta, NamesTheArgumentAtFault) {
  EXPECT_EQ(error_of([] { deberta_row(1, {.position_buckets = 7}); }),
            "[deberta.position_buckets] must be even and 0 .. 2^20, got 7");
  EXPECT_EQ(error_of([] { deberta_row(1, {.position_buckets = 8, .max_position = 5}); }),
            "[deberta.max_position] must be 6 .. 2^20 with 8 buckets, got 5");
  EXPECT_THAT(error_of([] {
                deberta({.position_buckets = 4}, {Tensor<double>({8, 3}), Tensor<double>({7, 3})});
              }),
              HasSubstr("[deberta.key_table] must be [8, head_dim]"));
  EXPECT_THAT(error_of([] {
                deberta({.position_buckets = 4}, {Tensor<double>({8, 2}), Tensor<double>({8, 3})});
              }),
              HasSubstr("[deberta.query_table] must have the channels of key_table, 3"));
}

}  // namespace
}  // namespace sextant::deberta_test

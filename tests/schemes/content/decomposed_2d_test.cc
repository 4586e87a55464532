// Decomposed relative positions against their formula.
#include "sextant/schemes/content/decomposed_2d.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"

namespace sextant::decomposed_2d_test {
namespace {

using ::testing::HasSubstr;

// Tokens 0 .. 7 of an image of 3 x 4 patches, with a class token and a jump.
constexpr std::int64_t kIds[] = {-1, 2, 3, 4, 5, 0, 11, 8};
constexpr std::int64_t kRows = 3, kColumns = 4;

double element(const Tensor<double>& table, std::int64_t head, std::int64_t row, std::int64_t d) {
  return table.rank() == 3 ? table(head, row, d) : table(row, d);
}

SchemeRequest request(const char* per_head) {
  return testing::content_request(kIds, {{"rows", "3"}, {"columns", "4"}, {"per_head", per_head}});
}

// q R_h[y - y' + rows - 1] + q R_w[x - x' + columns - 1], not scaled, as in Segment Anything's
// add_decomposed_rel_pos().
TEST(Decomposed2d, AddsProductsOfQueriesByRowAndByColumn) {
  for (const char* per_head : {"no", "yes"}) {
    testing::ContentCall call(3, false);
    const SchemeWeights weights = find_scheme("decomposed_2d").initial_weights(request(per_head));
    const auto term = testing::term_of("decomposed_2d", request(per_head));
    testing::expect_forward(
        call, *term, 1 / std::sqrt(3.0),
        [&](const testing::ContentCall& c, const testing::Pair& p) {
          const std::int64_t query = kIds[p.own], key = kIds[p.key];
          if (query < 0 || key < 0) return 0.0;
          const std::int64_t row = query / kColumns - key / kColumns + kRows - 1;
          const std::int64_t column = query % kColumns - key % kColumns + kColumns - 1;
          double sum = 0;
          for (std::int64_t d = 0; d < 3; ++d) {
            sum += c.q(p.batch, p.head, p.query, d) *
                   (element(weights.at("row_table"), p.head, row, d) +
                    element(weights.at("column_table"), p.head, column, d));
          }
          return sum;
        });
  }
}

TEST(Decomposed2d, HasTheGradientsOfItsTables) {
  for (const char* per_head : {"no", "yes"}) {
    testing::ContentCall call(4, false);
    testing::expect_gradients("decomposed_2d", request(per_head),
                              find_scheme("decomposed_2d").initial_weights(request(per_head)),
                              call);
  }
}

// The float32 tiles of a whole image, several blocks of keys, against float64.
TEST(Decomposed2d, IsTheSameInTiles) {
  constexpr std::int64_t kSide = 15, kPatches = kSide * kSide;
  NumpyRandom random(5);
  const Tensor<double> q = testing::normal({1, 2, kPatches, 8}, random),
                       k = testing::normal({1, 2, kPatches, 8}, random);
  SchemeRequest image = testing::content_request({});
  std::vector<std::int64_t> ids(kPatches);
  for (std::int64_t n = 0; n < kPatches; ++n) ids[static_cast<std::size_t>(n)] = n;
  image.heads = 2;
  image.head_dim = 8;
  image.positions = ids;
  const auto term = testing::term_of("decomposed_2d", image);
  Tensor<double> wide(q.shape());
  attention<double>(q, k, k, wide, {.terms = {term.get()}});
  Tensor<float> narrow_q(q.shape()), narrow_k(q.shape()), out(q.shape());
  for (std::int64_t n = 0; n < q.count(); ++n) {
    narrow_q.data()[n] = static_cast<float>(q.data()[n]);
    narrow_k.data()[n] = static_cast<float>(k.data()[n]);
  }
  attention<float>(narrow_q, narrow_k, narrow_k, out, {.terms = {term.get()}});
  // Scores up to 30 of some thirty roundings of 2^-24.
  for (std::int64_t n = 0; n < q.count(); ++n) {
    ASSERT_NEAR(static_cast<double>(out.data()[n]), wide.data()[n], 3e-5) << n;
  }
}

TEST(Decomposed2d, NamesTheArgumentAtFault) {
  const Decomposed2dWeights weights{Tensor<double>({5, 3}), Tensor<double>({7, 3})};
  constexpr std::int64_t kOutside[] = {0, 12}, kNegative[] = {-2};
  EXPECT_THAT(error_of([&] {
                decomposed_2d({3, 4}, weights, kOutside);
              }),
              HasSubstr("[decomposed_2d.positions] must be 0 .. 11, the cells of 3 x 4, got 12"));
  EXPECT_EQ(error_of([&] {
              decomposed_2d({3, 4}, weights, kNegative);
            }),
            "[decomposed_2d.positions] must be patches of an image, 0, 1, ..., or -1, got -2");
  EXPECT_THAT(error_of([&] {
                decomposed_2d({4, 4}, weights, kIds);
              }),
              HasSubstr("[decomposed_2d.row_table] must be [7, head_dim]"));
  EXPECT_THAT(error_of([&] {
                decomposed_2d({1 << 13, 1}, weights, kIds);
              }),
              HasSubstr("[decomposed_2d.rows] must be 1 .. 4096, got 8192"));
  testing::ContentCall call(8, false);
  constexpr std::int64_t kShort[] = {0, 1, 2};
  EXPECT_THAT(testing::refusal_of(*decomposed_2d({3, 4}, weights, kShort), call),
              HasSubstr("[decomposed_2d.positions] must"));
  const Decomposed2dWeights wide{Tensor<double>({5, 4}), Tensor<double>({7, 4})};
  EXPECT_EQ(testing::refusal_of(*decomposed_2d({3, 4}, wide, kIds), call),
            "[decomposed_2d] must have tables for 4 heads of 3 channels, got [1, 5, 4]");
  EXPECT_THAT(error_of([&] {
                decomposed_2d_backward(weights, Tensor<double>({1, 15}));
              }),
              HasSubstr("[decomposed_2d.gradient] must be [1, parameters]"));
}

}  // namespace
}  // namespace sextant::decomposed_2d_test

// One head and many heads against the formulas in long double.
#include "sextant/lessons/heads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "layers/naive.h"
#include "layers/rounding.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// What float64 may lose, to first order in u = 2^-53, on the way that naive.h goes in long double.
constexpr double kUnit = 0x1p-53;

double largest(const naive::Matrix& x) {
  long double largest = 0;
  for (const auto& row : x) {
    for (const long double value : row) largest = std::max(largest, std::abs(value));
  }
  return static_cast<double>(largest);
}

// Numbers of a matrix, and how far computed ones may be from them.
struct Known {
  double largest;
  double error;
};

Known known(const Linear<double>& map, const naive::Matrix& x, double error) {
  return {largest(naive::apply(map, x)), linear_rounding(map, largest(x), error)};
}

struct Tolerance {
  double weight;
  double output;
};

// Of heads of `channels` over `keys` keys: a score is a sum of products of q and k with errors of
// their own, then channels + 3 roundings; two scores enter an exponential, two exponentials a
// weight (<= 1), with keys + 8 roundings; an output is a mean of values, with `keys` more.
Tolerance tolerance_of(Known q, Known k, Known v, double channels, double keys) {
  const double scale = 1 / std::sqrt(channels);
  const double score =
      scale * channels *
      (q.largest * k.error + k.largest * q.error + (channels + 3) * kUnit * q.largest * k.largest);
  const double weight = 4 * score + (keys + 8) * kUnit;
  return {weight, (weight + keys * kUnit) * v.largest + v.error};
}

Tensor<double> normal(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<double> x(shape);
  for (double& value : x.span()) value = random.normal();
  return x;
}

naive::Matrix embedded(SingleHead<double>& head, const std::vector<std::int64_t>& indices) {
  const std::int64_t width = head.embedding.width();
  naive::Matrix x;
  for (std::size_t row = 0; row < indices.size(); ++row) {
    x.emplace_back();
    for (std::int64_t i = 0; i < width; ++i) {
      const long double angle =
          static_cast<long double>(row) /
          std::pow(10000.0L, static_cast<long double>(i / 2 * 2) / static_cast<long double>(width));
      const long double scale =
          head.options.scale_embedding ? std::sqrt(static_cast<long double>(width)) : 1.0L;
      x.back().push_back(head.embedding.table()(indices[row], i) * scale +
                         (i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return x;
}

TEST(SingleHead, ComputesTheFormulaWithFreelyChosenWidths) {
  for (const bool scaled : {false, true}) {
    SingleHead<double> head(
        {.tokens = 10, .width = 8, .qk_dim = 5, .v_dim = 3, .scale_embedding = scaled, .seed = 1});
    const std::vector<std::int64_t> indices{4, 0, 9, 4};
    const naive::Matrix x = embedded(head, indices);
    // The root, the product, the position (sine and frequency) and the sum are rounded once each.
    const double inputs = 4 * kUnit * (largest(x) + 2);
    const Tolerance close = tolerance_of(known(head.to_q, x, inputs), known(head.to_k, x, inputs),
                                         known(head.to_v, x, inputs), 5, 4);
    ASSERT_LT(close.output, 1e-11);  // far below any mistake of a formula
    for (const bool causal : {false, true}) {
      const HeadsResult<double> result = head(indices, causal);
      ASSERT_EQ(result.weights.shape(), Shape({1, 4, 4}));
      ASSERT_EQ(result.output.shape(), Shape({4, 3}));
      const naive::Matrix map =
          naive::weights(naive::apply(head.to_q, x), naive::apply(head.to_k, x), causal);
      EXPECT_LE(naive::distance<double>(result.weights.view().select(0, 0), map), close.weight);
      EXPECT_LE(naive::distance<double>(result.output, naive::mix(map, naive::apply(head.to_v, x))),
                close.output);
    }
  }
}

TEST(SingleHead, TakesVectorsAndProjects) {
  const SingleHeadOptions options{.tokens = 4, .width = 6, .qk_dim = 4, .v_dim = 3, .seed = 3};
  SingleHeadOptions projected = options;
  projected.output_projection = true;
  SingleHead<double> plain(options), with_output(projected);
  Tensor<double> x(Shape{5, 6});
  NumpyRandom random(1);
  for (double& value : x.span()) value = random.normal();
  const HeadsResult<double> first = plain.of_vectors(x, true),
                            second = with_output.of_vectors(x, true);
  EXPECT_TRUE(std::ranges::equal(first.weights.span(), second.weights.span()));
  const Tensor<double> wanted = (*with_output.to_out)(first.output);
  EXPECT_EQ(second.output.shape(), Shape({5, 6}));
  EXPECT_TRUE(std::ranges::equal(second.output.span(), wanted.span()));
  // Tokens are vectors after the embedding and the positions.
  const std::vector<std::int64_t> tokens{2, 0};
  Tensor<double> rows = plain.embedding(tokens);
  const auto table = plain.positions.rows(2);
  for (std::int64_t i = 0; i < rows.count(); ++i) rows.data()[i] += table->data()[i];
  const HeadsResult<double> of_rows = plain.of_vectors(rows), of_tokens = plain(tokens);
  EXPECT_TRUE(std::ranges::equal(of_rows.output.span(), of_tokens.output.span()));
  EXPECT_THROW(plain.of_vectors(Tensor<double>(Shape{5, 7})), Error);
  EXPECT_THROW(plain.of_vectors(Tensor<double>(Shape{0, 6})), Error);
}

TEST(SingleHead, RowsSumToOneWithAndWithoutAMask) {
  SingleHead<float> head({.tokens = 20, .width = 16, .qk_dim = 8, .v_dim = 8, .seed = 2});
  std::vector<std::int64_t> indices(20);
  std::iota(indices.begin(), indices.end(), 0);
  for (const bool causal : {false, true}) {
    const HeadsResult<float> result = head(indices, causal);
    for (std::int64_t query = 0; query < 20; ++query) {
      double sum = 0;
      for (std::int64_t key = 0; key < 20; ++key)
        sum += static_cast<double>(result.weights(0, query, key));
      EXPECT_NEAR(sum, 1, 20 * 0x1p-24);  // one float32 rounding of each of 20 weights <= 1
    }
  }
}

TEST(SingleHead, LetsNothingFlowFromLaterWords) {
  SingleHead<float> head({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 3});
  const std::vector<std::int64_t> one{1, 2, 3, 4}, other{1, 2, 3, 9};
  const HeadsResult<float> first = head(one, true), second = head(other, true);
  for (std::int64_t query = 0; query < 3; ++query) {
    for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(first.output(query, i), second.output(query, i));
    for (std::int64_t key = query + 1; key < 4; ++key) EXPECT_EQ(first.weights(0, query, key), 0);
  }
  EXPECT_NE(first.output(3, 0), second.output(3, 0));
  EXPECT_NE(head(one).output(0, 0), head(other).output(0, 0));  // without the mask it does flow
}

TEST(SingleHead, TakesALongerSentenceThanAnyBefore) {
  SingleHead<float> head({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 4}),
      fresh({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 4});
  const std::vector<std::int64_t> few{1, 2, 3}, many(300, 5);
  const HeadsResult<float> before = head(few);
  const HeadsResult<float> grown = head(many), at_once = fresh(many);
  EXPECT_GE(head.positions.length(), 300);
  EXPECT_TRUE(std::ranges::equal(grown.output.span(), at_once.output.span()));
  const HeadsResult<float> after = head(few);
  EXPECT_TRUE(std::ranges::equal(before.output.span(), after.output.span()));
}

TEST(SingleHead, IsTheSameForTheSameSeedOnly) {
  SingleHead<float> one({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 5}),
      same({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 5}),
      other({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 6});
  const std::vector<std::int64_t> indices{1, 2, 3};
  const HeadsResult<float> result = one(indices), again = same(indices), another = other(indices);
  EXPECT_TRUE(std::ranges::equal(result.output.span(), again.output.span()));
  EXPECT_FALSE(std::ranges::equal(result.output.span(), another.output.span()));
}

TEST(SingleHead, RefusesUnknownTokensAndEmptySentences) {
  SingleHead<float> head({.tokens = 10, .width = 8, .qk_dim = 4, .v_dim = 4, .seed = 7});
  EXPECT_THROW(head(std::vector<std::int64_t>{10}), Error);
  EXPECT_THROW(head({}), Error);
  EXPECT_THROW(SingleHead<float>({.tokens = 0, .width = 8}), Error);
  EXPECT_THROW(SingleHead<float>({.tokens = 10, .width = 8, .qk_dim = -1}), Error);
}

// Each head sees its own columns of q, k and v; their outputs stand side by side before the last
// map.
std::pair<std::vector<naive::Matrix>, naive::Matrix> by_formula(const MultiHead<double>& model,
                                                                const naive::Matrix& q,
                                                                const naive::Matrix& k,
                                                                const naive::Matrix& v,
                                                                bool causal) {
  const std::size_t dim = q.front().size() / static_cast<std::size_t>(model.heads);
  std::vector<naive::Matrix> maps;
  naive::Matrix joined(q.size());
  for (std::size_t head = 0; head < static_cast<std::size_t>(model.heads); ++head) {
    maps.push_back(naive::weights(naive::columns(q, head * dim, dim),
                                  naive::columns(k, head * dim, dim), causal));
    const naive::Matrix out = naive::mix(maps.back(), naive::columns(v, head * dim, dim));
    for (std::size_t row = 0; row < q.size(); ++row) {
      joined[row].insert(joined[row].end(), out[row].begin(), out[row].end());
    }
  }
  return {std::move(maps), naive::apply(model.to_out, joined)};
}

TEST(MultiHead, SplitsAttendsJoinsAndProjects) {
  NumpyRandom random(8);
  const MultiHead<double> model(12, 3, random);
  const Tensor<double> x = normal({5, 12}, 9), context = normal({7, 12}, 10);
  const naive::Matrix q = naive::apply(model.to_q, naive::matrix<double>(x));
  for (const bool self : {true, false}) {
    const Tensor<double>& from = self ? x : context;
    const naive::Matrix k = naive::apply(model.to_k, naive::matrix<double>(from));
    const naive::Matrix v = naive::apply(model.to_v, naive::matrix<double>(from));
    const Tolerance close = tolerance_of(known(model.to_q, naive::matrix<double>(x), 0),
                                         known(model.to_k, naive::matrix<double>(from), 0),
                                         known(model.to_v, naive::matrix<double>(from), 0), 4,
                                         static_cast<double>(from.size(0)));
    const double projected = linear_rounding(model.to_out, largest(v), close.output);
    ASSERT_LT(projected, 1e-11);
    for (const bool causal : {false, true}) {
      AttentionOptions<double> options;
      if (causal) options.causal = Causal::top_left;
      const HeadsResult<double> result = model(x, from, options);
      const auto [maps, output] = by_formula(model, q, k, v, causal);
      ASSERT_EQ(result.weights.shape(), Shape({3, 5, from.size(0)}));
      for (std::int64_t head = 0; head < 3; ++head) {
        EXPECT_LE(naive::distance<double>(result.weights.view().select(0, head),
                                          maps[static_cast<std::size_t>(head)]),
                  close.weight);
      }
      EXPECT_LE(naive::distance<double>(result.output, output), projected);
    }
  }
}

TEST(MultiHead, TurnsQueriesAndKeysByTheirOwnTables) {
  NumpyRandom random(11);
  const MultiHead<double> model(8, 2, random);
  const Tensor<double> x = normal({3, 8}, 12), context = normal({4, 8}, 13);
  Rotary rotary_options;
  rotary_options.head_dim = 4;
  rotary_options.layout = RotaryLayout::interleaved;
  const std::array<std::int64_t, 3> q_ids{4, 5, 6};
  const std::array<std::int64_t, 4> k_ids{0, 1, 2, 3};
  const RotationTable<double> q_table = rotary<double>(rotary_options, q_ids);
  const RotationTable<double> k_table = rotary<double>(rotary_options, k_ids);
  const auto rotated = [](naive::Matrix rows, std::int64_t first) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t i = 0; i < 8; i += 2) {
        const long double angle = static_cast<long double>(first + static_cast<std::int64_t>(row)) /
                                  (i % 4 == 0 ? 1.0L : 100.0L);
        const long double a = rows[row][i], b = rows[row][i + 1];
        rows[row][i] = a * std::cos(angle) - b * std::sin(angle);
        rows[row][i + 1] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
    return rows;
  };
  const HeadsResult<double> result = model(x, context, {}, &q_table, &k_table);
  const auto [maps, output] =
      by_formula(model, rotated(naive::apply(model.to_q, naive::matrix<double>(x)), 4),
                 rotated(naive::apply(model.to_k, naive::matrix<double>(context)), 0),
                 naive::apply(model.to_v, naive::matrix<double>(context)), false);
  // A rotation is two products and a sum with a rounded cosine and sine: 4 units of 2 |q| more.
  const auto turned_too = [](Known rows) {
    return Known{2 * rows.largest, 2 * rows.error + 8 * kUnit * rows.largest};
  };
  const Known v = known(model.to_v, naive::matrix<double>(context), 0);
  const Tolerance close =
      tolerance_of(turned_too(known(model.to_q, naive::matrix<double>(x), 0)),
                   turned_too(known(model.to_k, naive::matrix<double>(context), 0)), v, 4, 4);
  const double projected = linear_rounding(model.to_out, v.largest, close.output);
  ASSERT_LT(projected, 1e-11);
  EXPECT_LE(naive::distance<double>(result.output, output), projected);
  EXPECT_LE(naive::distance<double>(result.weights.view().select(0, 1), maps[1]), close.weight);
  EXPECT_GT(naive::distance<double>(model(x, context).output, output), 1e-3);
}

TEST(MultiHead, PassesMasksOn) {
  NumpyRandom random(14);
  const MultiHead<float> model(8, 2, random);
  Tensor<float> x({3, 8});
  for (float& value : x.span()) value = static_cast<float>(random.normal());
  const std::array<std::int64_t, 3> indices{5, 6, 0};
  const Tensor<bool> mask = padding_mask(View<const std::int64_t>(indices.data(), {1, 3}), 0);
  AttentionOptions<float> options;
  options.mask = BoolMask(mask.view());
  const HeadsResult<float> masked = model(x, x, options),
                           shorter = model(x, x.view().narrow(0, 0, 2));
  for (std::int64_t query = 0; query < 3; ++query) {
    EXPECT_EQ(masked.weights(1, query, 2), 0);
    // The hidden key adds an exact zero, so float32 results agree to their last rounding.
    for (std::int64_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(masked.output(query, i), shorter.output(query, i), 0x1p-22);
    }
  }
}

TEST(MultiHead, RefusesWidthsThatDoNotFit) {
  NumpyRandom random(15);
  EXPECT_THROW(MultiHead<float>(10, 3, random), Error);
  EXPECT_THROW(MultiHead<float>(8, 0, random), Error);
  EXPECT_THROW(MultiHead<float>(0, 1, random), Error);
  EXPECT_EQ(NumpyRandom(15).bits(), random.bits());  // nothing was drawn
  const MultiHead<float> model(8, 2, random);
  EXPECT_THROW(model(Tensor<float>({3, 4}), Tensor<float>({3, 8})), Error);
  EXPECT_THROW(model(Tensor<float>({3, 8}), Tensor<float>({3, 4})), Error);
}

}  // namespace
}  // namespace sextant

// Decomposed relative positions of pooled keys or queries against MViTv2's formula.
#include <gmock/gmock.h>

#include <vector>

#include "schemes/content/content_checks.h"
#include "sextant/schemes/content/decomposed_2d.h"

namespace sextant::decomposed_pooling_test {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kHeads = 2, kDim = 8;

struct Pooled {
  const char* name;
  Decomposed2d image;
  std::vector<std::int64_t> ids{};  // of the queries; empty: all patches
  std::int64_t outside = 0;         // class tokens before all patches
  bool per_head = false;

  std::int64_t rows(std::int64_t pooling) const { return *image.rows / pooling; }
  std::int64_t columns(std::int64_t pooling) const { return *image.columns / pooling; }
  std::vector<std::int64_t> all(std::int64_t pooling, std::int64_t before) const {
    std::vector<std::int64_t> made(static_cast<std::size_t>(before), -1);
    for (std::int64_t n = 0; n < rows(pooling) * columns(pooling); ++n) made.push_back(n);
    return made;
  }
  std::vector<std::int64_t> queries() const {
    return ids.empty() ? all(image.query_pooling, outside) : ids;
  }
  std::vector<std::int64_t> keys() const { return all(image.pooling, outside); }
};

const Pooled kCases[] = {
    {"785 queries of 50 keys", {28, 28, 4}, {}, 1},
    {"a table per head", {12, 20, 4}, {}, 0, true},
    {"7 queries per key in a row", {14, 21, 7}, {}, 2},
    {"one key in the image", {6, 6, 6}, {}, 1},
    {"one query", {28, 28, 4}, {333}},
    {"one query of many keys", {48, 40, 2}, {1501}},
    {"ids with jumps", {12, 8, 2}, {-1, 95, 3, -1, 4, 5, 17, 16}, 1},
    {"pooled queries", {28, 12, 1, 2}, {}, 1},
    {"one pooled query", {28, 12, 1, 4}, {20}, 0, true},
};

// Numbers that float32 has too.
Tensor<double> draw(const Shape& shape, NumpyRandom& random, double deviation = 1) {
  Tensor<double> x = testing::normal(shape, random, deviation);
  for (double& value : x.span()) value = static_cast<double>(static_cast<float>(value));
  return x;
}

struct Call {
  explicit Call(const Pooled& given) : pooled(given) {
    NumpyRandom random(11);
    const auto q_len = std::ssize(given.queries()), k_len = std::ssize(given.keys());
    q = draw({1, kHeads, q_len, kDim}, random);
    k = draw({1, kHeads, k_len, kDim}, random);
    v = draw(k.shape(), random);
    dout = draw(q.shape(), random);
    const auto table = [&](std::int64_t side) {
      return given.per_head ? draw({kHeads, 2 * side - 1, kDim}, random, 0.5)
                            : draw({2 * side - 1, kDim}, random, 0.5);
    };
    weights = {table(*given.image.rows), table(*given.image.columns)};
  }

  const Pooled& pooled;
  Tensor<double> q, k, v, dout;
  Decomposed2dWeights weights;
};

struct Results {
  explicit Results(const Call& call)
      : out(call.q.shape()),
        dq(call.q.shape()),
        dk(call.k.shape()),
        dv(call.v.shape()),
        tables{Tensor<double>(call.weights.row_table.shape()),
               Tensor<double>(call.weights.column_table.shape())} {}
  Tensor<double> out, dq, dk, dv;
  Decomposed2dWeights tables;
};

// cal_rel_pos_spatial() of MViTv2: the row of a table for query y of `queries` and key z of `keys`.
std::int64_t published_row(std::int64_t y, std::int64_t queries, std::int64_t z,
                           std::int64_t keys) {
  const auto q = static_cast<double>(queries), k = static_cast<double>(keys);
  const double q_ratio = std::max(k / q, 1.0), k_ratio = std::max(q / k, 1.0);
  return static_cast<std::int64_t>(static_cast<double>(y) * q_ratio -
                                   static_cast<double>(z) * k_ratio + (k - 1) * k_ratio);
}

double dot(const double* x, const double* y) {
  double sum = 0;
  for (std::int64_t c = 0; c < kDim; ++c) sum += x[c] * y[c];
  return sum;
}
void add(double factor, const double* x, double* to) {
  for (std::int64_t c = 0; c < kDim; ++c) to[c] += factor * x[c];
}
// The vector of a head in a table or in q, k, v and their like.
double* at(Tensor<double>& x, std::int64_t head, std::int64_t row) {
  const std::int64_t rows = x.size(x.rank() - 2);
  return x.data() + ((x.rank() == 2 ? 0 : head) * rows + row) * kDim;
}

struct Rows {
  std::int64_t y, x;
};
// The rows of the tables for each query and key; -1: a class token.
std::vector<std::vector<Rows>> rows_of_pairs(const Pooled& p) {
  const std::int64_t q_rows = p.rows(p.image.query_pooling), k_rows = p.rows(p.image.pooling);
  const std::int64_t q_columns = p.columns(p.image.query_pooling),
                     k_columns = p.columns(p.image.pooling);
  std::vector<std::vector<Rows>> made;
  for (const std::int64_t query : p.queries()) {
    made.emplace_back();
    for (const std::int64_t key : p.keys()) {
      const bool inside = query >= 0 && key >= 0;
      made.back().push_back(
          inside ? Rows{published_row(query / q_columns, q_rows, key / k_columns, k_rows),
                        published_row(query % q_columns, q_columns, key % k_columns, k_columns)}
                 : Rows{-1, -1});
    }
  }
  return made;
}

// The formula and its gradients, pair by pair.
Results reference(Call& call) {
  const std::vector<std::vector<Rows>> rows = rows_of_pairs(call.pooled);
  const std::int64_t q_len = call.q.size(2), k_len = call.k.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(kDim));
  Tensor<double>&y_table = call.weights.row_table, &x_table = call.weights.column_table;
  Results made(call);
  for (std::int64_t h = 0; h < kHeads; ++h) {
    for (std::int64_t i = 0; i < q_len; ++i) {
      const std::vector<Rows>& of_query = rows[static_cast<std::size_t>(i)];
      const double *q = at(call.q, h, i), *dout = at(call.dout, h, i);
      std::vector<double> weight, dweight;
      double sum = 0, delta = 0;
      for (std::int64_t j = 0; j < k_len; ++j) {
        const auto [y, x] = of_query[static_cast<std::size_t>(j)];
        double score = scale * dot(q, at(call.k, h, j));
        if (y >= 0) score += dot(q, at(y_table, h, y)) + dot(q, at(x_table, h, x));
        weight.push_back(std::exp(score));
        dweight.push_back(dot(dout, at(call.v, h, j)));
        sum += weight.back();
        delta += weight.back() * dweight.back();
      }
      for (std::int64_t j = 0; j < k_len; ++j) {
        const auto n = static_cast<std::size_t>(j);
        const auto [y, x] = of_query[n];
        const double p = weight[n] / sum, ds = p * (dweight[n] - delta / sum);
        add(p, at(call.v, h, j), at(made.out, h, i));
        add(p, dout, at(made.dv, h, j));
        add(ds * scale, at(call.k, h, j), at(made.dq, h, i));
        add(ds * scale, q, at(made.dk, h, j));
        if (y < 0) continue;
        add(ds, at(y_table, h, y), at(made.dq, h, i));
        add(ds, at(x_table, h, x), at(made.dq, h, i));
        add(ds, q, at(made.tables.row_table, h, y));
        add(ds, q, at(made.tables.column_table, h, x));
      }
    }
  }
  return made;
}

template <class T, class From>
Tensor<T> as(const Tensor<From>& x) {
  Tensor<T> made(x.shape());
  for (std::int64_t n = 0; n < x.count(); ++n) made.data()[n] = static_cast<T>(x.data()[n]);
  return made;
}

template <class T>
Results computed(const Call& call, const AttentionOptions<T>& given = {}) {
  const auto term = decomposed_2d(call.pooled.image, call.weights, call.pooled.queries());
  AttentionOptions<T> options = given;
  options.terms = {term.get()};
  const Tensor<T> q = as<T>(call.q), k = as<T>(call.k), v = as<T>(call.v);
  Tensor<T> out(q.shape()), dq(q.shape()), dk(k.shape()), dv(v.shape());
  Tensor<double> flat({1, term->needs().parameters});
  attention<T>(q, k, v, out, options);
  AttentionGradients<T> wanted{
      .q = dq.view(), .k = dk.view(), .v = dv.view(), .terms = {flat.view().select(0, 0)}};
  attention_backward<T>(q, k, v, out, as<T>(call.dout), wanted, options);
  Results made(call);
  made.out = as<double>(out);
  made.dq = as<double>(dq);
  made.dk = as<double>(dk);
  made.dv = as<double>(dv);
  made.tables = decomposed_2d_backward(call.weights, flat);
  return made;
}

// The root of the mean square of the differences over that of the numbers.
void expect_close(const Tensor<double>& got, const Tensor<double>& expected, double tolerance) {
  ASSERT_EQ(got.shape(), expected.shape());
  double errors = 0, squares = 0;
  for (std::int64_t n = 0; n < got.count(); ++n) {
    const double error = got.data()[n] - expected.data()[n];
    errors += error * error;
    squares += expected.data()[n] * expected.data()[n];
  }
  EXPECT_LE(std::sqrt(errors / squares), tolerance);
}
void expect_close(const Results& got, const Results& expected, double tolerance) {
  expect_close(got.out, expected.out, tolerance);
  expect_close(got.dq, expected.dq, tolerance);
  expect_close(got.dk, expected.dk, tolerance);
  expect_close(got.dv, expected.dv, tolerance);
  expect_close(got.tables.row_table, expected.tables.row_table, tolerance);
  expect_close(got.tables.column_table, expected.tables.column_table, tolerance);
}

// Scores below 20, of some twenty roundings each: 2e-5 in float32 (content_tiles_test.cc), 1e-13 in
// float64; weights and gradients are wrong by that times themselves.
TEST(DecomposedPooling, IsThePublishedFormulaWithItsGradients) {
  for (const Pooled& pooled : kCases) {
    SCOPED_TRACE(pooled.name);
    Call call(pooled);
    const Results expected = reference(call);
    expect_close(computed<double>(call), expected, 1e-12);
    expect_close(computed<float>(call), expected, 2e-5);
  }
}

// The scores of queries of 1 with a row table of its own row numbers.
Tensor<double> rows_of(const Decomposed2d& image, std::int64_t q_len, std::int64_t k_len) {
  Decomposed2dWeights weights{Tensor<double>({7, 1}), Tensor<double>({3, 1})};
  for (std::int64_t n = 0; n < 7; ++n) weights.row_table(n, 0) = static_cast<double>(n);
  std::vector<std::int64_t> ids;
  for (std::int64_t n = 0; n < q_len; ++n) ids.push_back(n);
  const auto term = decomposed_2d(image, weights, ids);
  Tensor<double> q({1, 1, q_len, 1});
  for (double& value : q.span()) value = 1;
  return attention_weights<double>(q, Tensor<double>({1, 1, k_len, 1}), {.terms = {term.get()}},
                                   {.stage = Stage::capped});
}

// y - 2 z + 2 for keys of every second row; row 6 is of no pair.
TEST(DecomposedPooling, HasTheRowsOfATinyImage) {
  const Tensor<double> keys = rows_of({4, 2, 2}, 8, 2);
  EXPECT_THAT(keys.span(), ElementsAre(2, 0, 2, 0, 3, 1, 3, 1, 4, 2, 4, 2, 5, 3, 5, 3));
  const Tensor<double> queries = rows_of({4, 2, 1, 2}, 2, 8);  // 2 y - z + 3
  EXPECT_THAT(queries.span(), ElementsAre(3, 3, 2, 2, 1, 1, 0, 0, 5, 5, 4, 4, 3, 3, 2, 2));
}

// Queries and keys are different tokens: which key is on a query's diagonal has no meaning.
TEST(DecomposedPooling, DoesNotDependOnTheDiagonal) {
  const Call call(kCases[0]);
  constexpr std::int64_t kOffsets[] = {-7};
  const Results plain = computed<float>(call),
                moved = computed<float>(call, {.query_offsets = kOffsets});
  for (std::int64_t n = 0; n < plain.out.count(); ++n) {
    ASSERT_EQ(moved.out.data()[n], plain.out.data()[n]) << n;
  }
  expect_close(moved, plain, 0);
}

TEST(DecomposedPooling, NamesTheArgumentAtFault) {
  const auto error = [](const Decomposed2d& image) {
    constexpr std::int64_t kIds[] = {0};
    return error_of([&] { decomposed_2d(image, {}, kIds); });
  };
  EXPECT_EQ(error({14, 12, 4}),
            "[decomposed_2d.pooling] must divide rows and columns, got 4 for 14");
  EXPECT_EQ(error({12, 14, 1, 4}),
            "[decomposed_2d.query_pooling] must divide rows and columns, got 4 for 14");
  EXPECT_EQ(error({12, 12, 2, 2}),
            "[decomposed_2d.query_pooling] must be 1 with a pooling of 2, got 2");
  EXPECT_EQ(error({12, 12, 0}), "[decomposed_2d.pooling] must be 1 .. 4096, got 0");
  constexpr std::int64_t kOutside[] = {9};
  EXPECT_EQ(error_of([&] {
              decomposed_2d({6, 6, 1, 2}, {}, kOutside);
            }),
            "[decomposed_2d.positions] must be 0 .. 8, the cells of 3 x 3, got 9");

  const Decomposed2dWeights weights{Tensor<double>({15, 1}), Tensor<double>({11, 1})};
  const auto refusal = [&](std::int64_t q_len, std::int64_t k_len) {
    constexpr std::int64_t kIds[] = {-1, 0, 1, 2, 3};
    const auto term = decomposed_2d({8, 6, 2}, weights, kIds);
    const Tensor<double> q({1, 1, q_len, 1}), k({1, 1, k_len, 1});
    Tensor<double> out(q.shape());
    return error_of([&] { attention<double>(q, k, k, out, {.terms = {term.get()}}); });
  };
  EXPECT_EQ(refusal(6, 13),
            "[decomposed_2d.positions] must have one for each of the 6 queries of the call, got 5");
  EXPECT_EQ(refusal(5, 14),
            "[decomposed_2d] must have a token for each of the 14 keys of the call, got 4 x 3 "
            "patches and 1 outside the image");
  EXPECT_EQ(refusal(5, 13), "no error");
}

}  // namespace
}  // namespace sextant::decomposed_pooling_test

// Gradients of content terms by tiles in float32 against the float64 rows, and their bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attention/same_bits.h"
#include "sextant/attention.h"
#include "sextant/core/random.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/scheme.h"

namespace sextant::content_gradients_test {
namespace {

constexpr std::int64_t kHeads = 4, kKeyHeads = 2, kQueries = 150, kKeys = 300, kDim = 24;

struct ContentCase {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  std::int64_t jump = 0;  // of the ids, after each seven of them
};
const ContentCase kCases[] = {
    {"shaw", {{"values", "no"}, {"max_distance", "16"}}},
    {"shaw", {{"values", "no"}, {"max_distance", "400"}, {"per_head", "yes"}}},
    {"shaw", {{"values", "no"}, {"max_distance", "40"}}, 3},
    {"shaw", {}},  // with vectors for values
    {"shaw", {{"max_distance", "200"}, {"per_head", "yes"}}},
    {"shaw", {{"max_distance", "0"}}},
    {"shaw", {{"values", "no"}, {"max_distance", "900"}}, 20},  // more vectors than come at a time
    {"relative_key", {{"max_position", "512"}}},
    {"relative_key", {{"max_position", "512"}, {"with_keys", "yes"}}},
    {"transformer_xl", {}},
    {"transformer_xl", {{"clamp_len", "50"}}, 3},
    {"deberta", {{"position_buckets", "32"}, {"max_position", "128"}}, 3},
    {"deberta", {{"position_buckets", "0"}, {"max_position", "64"}}},
    {"forgetting", {}},
    {"cope", {}},
    {"cope", {{"npos", "16"}}},  // most positions are the last one
    {"cope", {{"npos", "400"}, {"scaled", "no"}}},
    {"decomposed_2d", {{"per_head", "yes"}}},
    {"decomposed_2d", {{"columns", "40"}}},
    {"decomposed_2d", {{"columns", "100"}}, 3},
};

std::shared_ptr<const ScoreTerm> term_of(const ContentCase& content) {
  std::vector<std::int64_t> ids(kKeys);
  for (std::int64_t n = 0; n < kKeys; ++n) {
    ids[static_cast<std::size_t>(n)] = n + n / 7 * content.jump;
  }
  SchemeRequest request;
  request.width = 16;
  request.heads = kHeads;
  request.head_dim = kDim;
  request.positions = ids;
  request.parameters = content.parameters;
  return std::get<std::shared_ptr<const ScoreTerm>>(find_scheme(content.scheme).make(request));
}

template <class T>
struct Gradients {
  Gradients(const Shape& of_q, const Shape& of_k, std::int64_t parameters)
      : q(of_q), k(of_k), v(of_k), term(Shape{parameters}) {}

  AttentionGradients<T> wanted() {
    return {.q = q.view(), .k = k.view(), .v = v.view(), .terms = {term.view()}};
  }

  Tensor<T> q, k, v;
  Tensor<double> term;
};

// The same numbers in both types; float16 holds them all.
template <class T>
struct Call {
  Call(const ScoreTerm& term, std::uint32_t seed) : offsets{150, 60}, mask({kQueries, kKeys}) {
    NumpyRandom random(seed);
    const auto fill = [&](const Shape& shape) {
      Tensor<T> x(shape);
      for (T& value : x.span()) {
        value = static_cast<T>(static_cast<float>(std::round(random.normal() * 64) / 64));
      }
      return x;
    };
    q = fill({2, kHeads, kQueries, kDim});
    k = fill({2, kKeyHeads, kKeys, kDim});
    v = fill(k.shape());
    dout = fill(q.shape());
    for (bool& seen : mask.span()) seen = random.uniform() < 0.9;
    out = Tensor<T>(q.shape());
    options.causal = Causal::at_offsets;
    options.query_offsets = offsets;
    options.mask = BoolMask(mask.view());
    options.window.left = 170;
    options.terms = {&term};
  }

  Gradients<T> gradients() {
    attention<T>(q, k, v, out, options);
    Gradients<T> made(q.shape(), k.shape(), options.terms[0]->needs().parameters);
    AttentionGradients<T> wanted = made.wanted();
    wanted.terms.resize(options.terms.size());  // of other terms: none
    attention_backward<T>(q, k, v, out, dout, wanted, options);
    return made;
  }

  std::vector<std::int64_t> offsets;
  Tensor<bool> mask;
  Tensor<T> q, k, v, dout, out;
  AttentionOptions<T> options;
};

// The root of the mean square of the differences over that of the numbers.
template <class A, class B>
double relative_error(const Tensor<A>& got, const Tensor<B>& expected) {
  double errors = 0, squares = 0;
  for (std::int64_t n = 0; n < got.count(); ++n) {
    const auto value = static_cast<double>(expected.data()[n]);
    const double error = static_cast<double>(got.data()[n]) - value;
    errors += error * error;
    squares += value * value;
  }
  return std::sqrt(errors / squares);
}

template <class T, class Change>
void expect_as_in_float64(double tolerance, const Change& change) {
  for (const ContentCase& content : kCases) {
    SCOPED_TRACE(content.scheme + ", jumps of " + std::to_string(content.jump));
    const auto term = term_of(content);
    ASSERT_NE(term->needs().tiles, TermTiles::float64);
    // CoPE's gradients jump where positions are whole numbers: with this seed none is so near one
    // that both precisions differ.
    Call<T> narrow(*term, 2);
    Call<double> wide(*term, 2);
    change(narrow.options);
    change(wide.options);
    // Gates count earlier tokens: they need causal attention.
    const bool has_gates = content.scheme == "forgetting" || content.scheme == "cope";
    if (wide.options.causal == Causal::none && has_gates) continue;
    const Gradients<T> got = narrow.gradients();
    const Gradients<double> expected = wide.gradients();
    EXPECT_LE(relative_error(got.q, expected.q), tolerance);
    EXPECT_LE(relative_error(got.k, expected.k), tolerance);
    EXPECT_LE(relative_error(got.v, expected.v), tolerance);
    EXPECT_LE(relative_error(got.term, expected.term), tolerance);
  }
}

// A score is wrong by some 2e-5 (content_tiles_test.cc says why), so a weight by that times itself.
// Gradients are sums of about a hundred weights of either sign, in which errors grow as the root
// and so relatively less than the sums.
constexpr double kTolerance = 2e-5;

TEST(ContentGradients, AgreeWithTheRowsInFloat64) {
  expect_as_in_float64<float>(kTolerance, [](auto&) {});
}

// out is rounded to 11 bits, which the difference of dP and <dout, out> sees.
TEST(ContentGradients, OfFloat16AreThoseOfItsNumbers) {
  expect_as_in_float64<float16>(4e-3, [](auto&) {});
}

TEST(ContentGradients, OfLaterKeysToo) {
  expect_as_in_float64<float>(kTolerance, [](auto& options) { options.causal = Causal::none; });
}

TEST(ContentGradients, OfCappedScoresToo) {
  expect_as_in_float64<float>(kTolerance, [](auto& options) { options.softcap = 5; });
}

TEST(ContentGradients, OfCappedScoresAreAddedAfterTheRotation) {
  const RotationTable<float> table =
      rotary<float>({.head_dim = kDim, .layout = RotaryLayout::interleaved}, kKeys);
  expect_as_in_float64<float>(kTolerance, [&](auto& options) {
    options.rotation = &table;
    options.softcap = 5;
  });
}

// A bias of products of both rows.
class Products final : public ScoreTerm {
 public:
  TermNeeds needs() const override { return {.q = true, .k = true}; }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override { add_to(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override { add_to(tile); }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const double d = 0.125 * tile.dscores[i * tile.stride + j];
        for (std::int64_t c = 0; c < kDim && d != 0; ++c) {
          tile.dq[i * kDim + c] += d * tile.k[j * tile.k_stride + c];
          tile.dk[j * kDim + c] += d * tile.q[i * tile.q_stride + c];
        }
      }
    }
  }

 private:
  template <class Real>
  static void add_to(const ScoreTile<Real>& tile) {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        Real sum = 0;
        for (std::int64_t c = 0; c < kDim; ++c) {
          sum += tile.q[i * tile.q_stride + c] * tile.k[j * tile.k_stride + c];
        }
        tile.add(i, j, sum / 8);
      }
    }
  }
};

// A distance table hides some keys, and a term of the biases reads the rows that the term of the
// logits reads too.
TEST(ContentGradients, StandBesideBiases) {
  const Products products;
  Tensor<float> by_distance({1, 2 * kKeys + 1});
  for (std::int64_t n = 0; n < by_distance.count(); ++n) {
    by_distance.data()[n] =
        n % 7 == 3 ? -std::numeric_limits<float>::infinity() : 0.01F * static_cast<float>(n % 50);
  }
  const DistanceBias bias{.values = std::move(by_distance), .origin = kKeys};
  for (const double softcap : {0.0, 5.0}) {
    expect_as_in_float64<float>(kTolerance, [&](auto& options) {
      options.bias = &bias;
      options.terms.push_back(&products);
      options.softcap = softcap;
    });
  }
}

// Of some arrays alone, they have the same bits.
TEST(ContentGradients, DoNotDependOnWhichAreWanted) {
  for (const ContentCase& content : kCases) {
    SCOPED_TRACE(content.scheme);
    const auto term = term_of(content);
    Call<float> call(*term, 2);
    call.options.softcap = 5;
    const Gradients<float> all = call.gradients();
    for (int only = 0; only < 4; ++only) {
      Gradients<float> made(call.q.shape(), call.k.shape(), term->needs().parameters);
      AttentionGradients<float> wanted;
      if (only == 0) wanted.q = made.q.view();
      if (only == 1) wanted.k = made.k.view();
      if (only == 2) wanted.v = made.v.view();
      if (only == 3) wanted.terms = {made.term.view()};
      attention_backward<float>(call.q, call.k, call.v, call.out, call.dout, wanted, call.options);
      EXPECT_TRUE(only != 0 || same_bits<float>(made.q.view(), all.q.view()));
      EXPECT_TRUE(only != 1 || same_bits<float>(made.k.view(), all.k.view()));
      EXPECT_TRUE(only != 2 || same_bits<float>(made.v.view(), all.v.view()));
      EXPECT_TRUE(only != 3 || same_bits<double>(made.term.view(), all.term.view()));
    }
  }
}

TEST(ContentGradients, OfDroppedWeightsToo) {
  expect_as_in_float64<float>(kTolerance, [](auto& options) {
    options.dropout = 0.25;
    options.dropout_seed = 5;
  });
}

TEST(ContentGradients, AreAddedAfterTheRotation) {
  const RotationTable<float> table = rotary<float>({.head_dim = kDim}, kKeys);
  expect_as_in_float64<float>(kTolerance, [&](auto& options) { options.rotation = &table; });
}

TEST(ContentGradients, HaveTheSameBitsWhateverTheThreads) {
  for (const ContentCase& content : kCases) {
    SCOPED_TRACE(content.scheme + ", jumps of " + std::to_string(content.jump));
    const auto term = term_of(content);
    Call<float> call(*term, 2);
    call.options.threads = 1;
    call.options.softcap = 50;
    const Gradients<float> one = call.gradients();
    for (const int threads : {2, 3, 8}) {
      call.options.threads = threads;
      const Gradients<float> more = call.gradients();
      EXPECT_TRUE(same_bits<float>(one.q.view(), more.q.view()));
      EXPECT_TRUE(same_bits<float>(one.k.view(), more.k.view()));
      EXPECT_TRUE(same_bits<float>(one.v.view(), more.v.view()));
      EXPECT_TRUE(same_bits<double>(one.term.view(), more.term.view()));
    }
  }
}

}  // namespace
}  // namespace sextant::content_gradients_test

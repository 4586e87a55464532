// Gradients of what indexed biases learn: against central differences, against the gradients of the
// scores themselves, and in the same bits for any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/schemes/indexed/prefix_mask.h"
#include "support/error_of.h"

namespace sextant::indexed_gradients_test {
namespace {

// Looks a number up by query, key and head, and multiplies it by a power of two.
class LearnedStripes final : public ScoreTerm {
 public:
  static constexpr std::int64_t kSize = 13;

  explicit LearnedStripes(NumpyRandom& random) {
    // Multiples of 2^-12, so that steps of 2^-12 are exact in float32.
    for (float& value : table)
      value = static_cast<float>(std::round(random.normal() * 4096)) / 4096;
  }

  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override {
    each_pair(tile, [&](std::int64_t i, std::int64_t j, std::int64_t n) {
      const float hidden = -std::numeric_limits<float>::infinity();
      tile.add(i, j, n % 17 == 0 ? hidden : table[index(n)] * factor(n));
    });
  }
  TermNeeds needs() const override { return {.parameters = kSize}; }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    each_pair(tile, [&](std::int64_t i, std::int64_t j, std::int64_t n) {
      tile.parameters[index(n)] +=
          tile.dscores[i * tile.stride + j] * static_cast<double>(factor(n));
    });
  }

  // What a pair goes by: its position, its key and its head.
  static std::int64_t number(std::int64_t position, std::int64_t key, std::int64_t head) {
    return 7 * (position + 50) + 3 * key + head;
  }
  static std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n % kSize); }
  static float factor(std::int64_t n) { return n % 3 == 0 ? 2.0F : n % 3 == 1 ? 0.5F : -1.0F; }

  std::vector<float> table = std::vector<float>(kSize);

 private:
  template <class Use>
  static void each_pair(const ScoreRect& tile, const Use& use) {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        use(i, j, number(tile.first_query + i + tile.offset, tile.first_key + j, tile.head));
      }
    }
  }
};

// How queries lie beside the keys.
struct Layout {
  const char* name;
  std::int64_t q_len, k_len;
  Causal causal;
  std::vector<std::int64_t> segments{}, offsets{}, key_lengths{};
};
const std::vector<Layout> kLayouts{
    {"all", 5, 7, Causal::none},
    {"causal", 6, 6, Causal::top_left},
    {"bottom right", 4, 7, Causal::bottom_right},
    {"at offsets", 3, 8, Causal::at_offsets, {}, {2, 4}, {5, 8}},
    {"segments", 9, 9, Causal::top_left, {0, 2, 2, 9}},
};

template <class T>
struct Call {
  Call(const Layout& layout, std::int64_t scale, NumpyRandom& random)
      : stripes(random),
        segments(layout.segments),
        offsets(layout.offsets),
        key_lengths(layout.key_lengths) {
    for (auto* list : {&segments, &offsets, &key_lengths}) {
      for (std::int64_t& n : *list) n *= scale;
    }
    const std::int64_t q_len = scale * layout.q_len, k_len = scale * layout.k_len;
    q = normal<T>(Shape{2, 4, q_len, 6}, random);
    k = normal<T>(Shape{2, 2, k_len, 6}, random);
    v = normal<T>(Shape{2, 2, k_len, 5}, random);
    dout = normal<T>(Shape{2, 4, q_len, 5}, random);
    out = Tensor<T>(dout.shape());
    options.causal = layout.causal;
    options.segments = segments;
    options.query_offsets = offsets;
    options.key_lengths = key_lengths;
    options.terms = {&stripes};
  }

  // The same numbers in another precision.
  template <class U>
  void take(const Call<U>& other) {
    const auto copy = [](Tensor<T>& to, const Tensor<U>& from) {
      for (std::int64_t n = 0; n < to.count(); ++n) to.data()[n] = static_cast<T>(from.data()[n]);
    };
    copy(q, other.q);
    copy(k, other.k);
    copy(v, other.v);
    copy(dout, other.dout);
    stripes.table = other.stripes.table;
  }

  double loss() {
    attention<T>(q, k, v, out, options);
    double sum = 0;
    for (std::int64_t n = 0; n < out.count(); ++n) sum += out.data()[n] * dout.data()[n];
    return sum;
  }

  Tensor<double> gradient(AttentionGradients<T> wanted = {}) {
    attention<T>(q, k, v, out, options);
    Tensor<double> result(Shape{LearnedStripes::kSize});
    for (double& n : result.span()) n = 7;
    wanted.terms = {result};
    attention_backward<T>(q, k, v, out, dout, wanted, options);
    return result;
  }

  LearnedStripes stripes;
  std::vector<std::int64_t> segments, offsets, key_lengths;
  Tensor<T> q, k, v, dout, out;
  AttentionOptions<T> options;
};

TEST(IndexedGradients, AgreeWithCentralDifferences) {
  // Extrapolated from steps of 2^-11 and 2^-12: what is left is of the order h^4 f''''' / 480, with
  // h^4 = 2^-44 and the fifth derivative of a sum of some 400 terms that are up to 2^5 * 10 each
  // below 2^17: some 6e-11. Rounding adds 2^-53 |f| / h, |f| below 200: 5e-11.
  constexpr float kStep = 0x1p-11F;
  constexpr double kTolerance = 1e-9;
  for (const Layout& layout : kLayouts) {
    for (const double softcap : {0.0, 2.0}) {
      SCOPED_TRACE(layout.name + std::string(softcap > 0 ? ", capped" : ""));
      NumpyRandom random(3);
      Call<double> call(layout, 1, random);
      call.options.softcap = softcap;
      const auto got = call.gradient();
      for (std::size_t n = 0; n < call.stripes.table.size(); ++n) {
        float& at = call.stripes.table[n];
        const float before = at;
        const auto difference = [&](float step) {
          at = before + step;
          const double above = call.loss();
          at = before - step;
          const double below = call.loss();
          at = before;
          return (above - below) / (2 * static_cast<double>(step));
        };
        const double expected = (4 * difference(kStep / 2) - difference(kStep)) / 3;
        EXPECT_NEAR(got(static_cast<std::int64_t>(n)), expected, kTolerance) << n;
      }
    }
  }
}

// Lengths of several blocks.
TEST(IndexedGradients, AreTheSumsOfTheGradientsOfScores) {
  for (const Layout& layout : kLayouts) {
    for (const double softcap : {0.0, 2.0}) {
      SCOPED_TRACE(layout.name + std::string(softcap > 0 ? ", capped" : ""));
      NumpyRandom random(4);
      Call<float> call(layout, 31, random);
      call.options.softcap = softcap;
      const Tensor<float> mask(Shape{2, 4, call.q.size(2), call.k.size(2)});
      Tensor<float> dscores(mask.shape());
      call.options.mask = FloatMask<float>(mask);
      const auto got = call.gradient({.mask = dscores});
      std::vector<double> sums(LearnedStripes::kSize), sizes(LearnedStripes::kSize);
      each_index(dscores.shape(), [&](const auto& i, std::int64_t at) {
        const std::int64_t segment = layout.segments.empty()   ? 0
                                     : i[2] < call.segments[1] ? 0
                                                               : call.segments[1];
        if (!layout.segments.empty() && (i[3] < call.segments[1]) != (segment == 0)) return;
        const std::int64_t offset =
            layout.causal == Causal::bottom_right ? call.k.size(2) - call.q.size(2)
            : call.offsets.empty()                ? 0
                                                  : call.offsets[static_cast<std::size_t>(i[0])];
        const std::int64_t n =
            LearnedStripes::number(i[2] - segment + offset, i[3] - segment, i[1]);
        const double term = static_cast<double>(dscores.data()[at]) *
                            static_cast<double>(LearnedStripes::factor(n));
        sums[LearnedStripes::index(n)] += term;
        sizes[LearnedStripes::index(n)] += std::abs(term);
      });
      for (std::size_t n = 0; n < sums.size(); ++n) {
        // The same terms in another order: fewer than 2^20 of them in float64.
        EXPECT_NEAR(got(static_cast<std::int64_t>(n)), sums[n], 0x1p-33 * sizes[n]) << n;
        EXPECT_GT(sizes[n], 0) << n;
      }
    }
  }
}

TEST(IndexedGradients, OfTheKernelAgreeWithThoseOfPlainRows) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(layout.name);
    NumpyRandom random(5);
    Call<float> call(layout, 31, random);
    Call<double> plain(layout, 31, random);
    plain.take(call);
    const auto got = call.gradient(), expected = plain.gradient();
    // A gradient of a score is at most P (|dP| + |delta|) <= 2 P dP with |dP| <= sum |dout v| < 40,
    // its error a few dozen units of 2^-24 of that (head_dim + v_dim + 30 roundings, scores below
    // 20); a row's P sum to 1, and the errors of the 8 q_len rows are independent. Factors are at
    // most 2.
    const double rows = static_cast<double>(8 * call.q.size(2));
    const double tolerance = 2 * std::sqrt(rows) * 2 * 40 * (20 + 41) * 0x1p-24;
    double most = 0;
    for (std::int64_t n = 0; n < got.count(); ++n) {
      EXPECT_NEAR(got(n), expected(n), tolerance) << n;
      most = std::max(most, std::abs(expected(n)));
    }
    EXPECT_GT(most, 20 * tolerance);  // an error of 10 % is twice that
  }
}

TEST(IndexedGradients, DoNotDependOnTheNumberOfThreads) {
  const auto check = [](auto element, std::int64_t scale) {
    using T = decltype(element);
    for (const Layout& layout : kLayouts) {
      SCOPED_TRACE(layout.name);
      NumpyRandom random(6);
      Call<T> call(layout, scale, random);
      call.options.threads = 1;
      const auto one = call.gradient();
      for (const int threads : {2, 3, 7}) {
        call.options.threads = threads;
        const auto many = call.gradient();
        for (std::int64_t n = 0; n < one.count(); ++n) EXPECT_EQ(many(n), one(n)) << threads;
      }
    }
  };
  check(float(), 50);
  check(bfloat16(), 50);
  check(double(), 5);
}

TEST(IndexedGradients, AreMadeAgainPlainlyWhereInfinitiesComeUp) {
  NumpyRandom random(7);
  Call<float> call(kLayouts[1], 31, random);
  const auto before = call.gradient();
  // A key that nobody sees with any weight, whose value is infinite, in one sequence only.
  Tensor<float> mask(Shape{1, 1, 1, call.k.size(2)});
  mask(0, 0, 0, 3) = -1000;
  call.options.mask = FloatMask<float>(mask);
  const auto expected = call.gradient();
  call.v(1, 0, 3, 2) = std::numeric_limits<float>::infinity();
  const auto got = call.gradient();
  bool differs = false;
  for (std::int64_t n = 0; n < got.count(); ++n) {
    EXPECT_NEAR(got(n), expected(n), 1e-3) << n;  // another path, far below any leak
    differs = differs || std::abs(got(n) - before(n)) > 0.01;
  }
  EXPECT_TRUE(differs);
}

TEST(IndexedGradients, NeedABiasThatLearns) {
  NumpyRandom random(8);
  Call<float> call(kLayouts[1], 1, random);
  const auto message = [&](const AttentionGradients<float>& wanted) {
    return error_of([&] {
      attention_backward<float>(call.q, call.k, call.v, call.out, call.dout, wanted, call.options);
    });
  };
  Tensor<double> few(Shape{12}), gradient(Shape{13});
  EXPECT_EQ(message({.terms = {few}}),
            "[attention_backward.gradients.terms[0]] must be [13], got [12]");
  call.options.terms.clear();
  EXPECT_EQ(message({.terms = {gradient}}),
            "[attention_backward.gradients.terms] must be one for each of options.terms, 0, got 1");
  const std::vector<std::int64_t> ids{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const auto mask = prefix_mask({.prefix = 2}, ids);
  call.options.terms = {mask.get()};
  EXPECT_EQ(message({.terms = {gradient}}),
            "[attention_backward.gradients.terms[0]] must be given with a term that learns");
}

}  // namespace
}  // namespace sextant::indexed_gradients_test

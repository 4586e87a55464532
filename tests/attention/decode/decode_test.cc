// Few queries at a time, which another kernel computes, against the same queries in one call: the
// same bits, whatever the options.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "attention/strided.h"
#include "sextant/attention.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::decode_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
T value_of(double value) {
  return static_cast<T>(value);
}

// Equal bits, or both NaN.
template <class T>
bool same(T a, T b) {
  if (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b))) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Depends on everything it is told; queries count from `first`.
class Stripes final : public ScoreTerm {
 public:
  std::int64_t first = 0;
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const std::int64_t n = 7 * (first + tile.first_query + i) + 3 * (tile.first_key + j) +
                               tile.head + 5 * tile.sequence;
        tile.add(i, j,
                 n % 11 == 0 ? -std::numeric_limits<float>::infinity()
                             : 0.125F * static_cast<float>(n % 19));
      }
    }
  }
};

// A call with all that its options borrow; its queries can be asked for in parts.
template <class T>
class CutCall {
 public:
  explicit CutCall(NumpyRandom& random) {
    const std::int64_t groups[] = {1, 1, 2, 3, 4, 4, 5, 8, 17};
    const std::int64_t head_dims[] = {1, 5, 16, 24, 32, 64, 128};
    const std::int64_t v_dims[] = {0, 1, 7, 16, 48, 64, 80, 128};
    const auto one_of = [&](const auto& choices) {
      return choices[pick(random, 0, static_cast<std::int64_t>(std::size(choices)) - 1)];
    };
    batch_ = pick(random, 1, 2);
    heads_k_ = pick(random, 1, 2);
    const std::int64_t heads = heads_k_ * one_of(groups);
    q_len_ = pick(random, 9, 20);
    const std::int64_t k_len = chance(random, 0.3) ? pick(random, 0, 20) : pick(random, 20, 420);
    const std::int64_t head_dim = one_of(head_dims), v_dim = one_of(v_dims);
    const double magnitude = chance(random, 0.3) ? 8 : 1;
    const auto draw = [&] { return magnitude * random.normal(); };
    q_ = strided<T>(Shape{batch_, heads, q_len_, head_dim}, random, true, draw);
    if (chance(random, 0.5)) {
      // As most are: read where they lie.
      const auto plain = [&](std::int64_t channels) {
        Strided<T> x;
        x.buffer = normal<T>(Shape{batch_, heads_k_, k_len, channels}, random, magnitude);
        x.view = x.buffer.view();
        return x;
      };
      k_ = plain(head_dim);
      v_ = plain(v_dim);
    } else {
      k_ = strided<T>(Shape{batch_, heads_k_, k_len, head_dim}, random, true, draw);
      v_ = strided<T>(Shape{batch_, heads_k_, k_len, v_dim}, random, true, draw);
    }
    if (k_len > 0 && chance(random, 0.3)) {  // seen by some, hidden from others
      const double odd[] = {std::nan(""), kInfinity, -kInfinity};
      for (int n = 0; n < 3; ++n) {
        const std::int64_t b = pick(random, 0, batch_ - 1), h = pick(random, 0, heads_k_ - 1),
                           j = pick(random, 0, k_len - 1);
        if (chance(random, 0.5)) k_.view(b, h, j, 0) = value_of<T>(one_of(odd));
        if (v_dim > 0 && chance(random, 0.5))
          v_.view(b, h, j, v_dim / 2) = value_of<T>(one_of(odd));
      }
    }

    if (chance(random, 0.3)) options_.softcap = 0.5 + 20 * random.uniform();
    if (chance(random, 0.3)) options_.scale = random.normal();
    if (chance(random, 0.3)) options_.window.left = pick(random, 0, 200);
    if (chance(random, 0.3)) options_.window.right = pick(random, 0, 100);
    options_.causal = chance(random, 0.5) ? Causal::at_offsets : Causal::none;
    for (std::int64_t b = 0; b < batch_; ++b) {
      offsets_.push_back(pick(random, 0, k_len));
      key_lengths_.push_back(pick(random, 0, k_len));
    }
    if (chance(random, 0.3)) options_.key_lengths = key_lengths_;
    if (chance(random, 0.3)) {
      for (std::int64_t h = 0; h < heads; ++h) {
        bias_.slopes.push_back(static_cast<double>(h % 3) * 0.25);
      }
      options_.bias = &bias_;
    }
    if (chance(random, 0.3)) {
      for (std::int64_t h = 0; h < heads; ++h) {
        sinks_.push_back(chance(random, 0.2) ? -kInfinity : random.normal());
      }
      options_.sinks = sinks_;
    }
    if (chance(random, 0.3)) {
      bias_.values = Tensor<float>(Shape{chance(random, 0.5) ? 1 : heads, 1001});
      bias_.origin = 500;
      for (float& value : bias_.values.span()) {
        value = static_cast<float>(chance(random, 0.1) ? -kInfinity : random.normal());
      }
      options_.bias = &bias_;
    }
    const Shape mask_shape{chance(random, 0.5) ? 1 : batch_, chance(random, 0.5) ? 1 : heads,
                           chance(random, 0.5) ? 1 : q_len_, chance(random, 0.3) ? 1 : k_len};
    if (chance(random, 0.25)) {
      bool_mask_ = strided<bool>(mask_shape, random, true, [&] { return chance(random, 0.7); });
    } else if (chance(random, 0.25)) {
      float_mask_ = strided<float>(mask_shape, random, true, [&] {
        return chance(random, 0.2) ? -kInfinity : 3 * random.normal();
      });
    }
    if (chance(random, 0.2)) options_.terms = {&stripes_};
    if (head_dim >= 16 && chance(random, 0.3)) {
      rotation_ = rotary<float>({.head_dim = head_dim, .rotary_dim = 16}, 2 * 420 + 20);
      options_.rotation = &rotation_;
    }
    out_ = strided<T>(Shape{batch_, heads, q_len_, v_dim}, random, false, [] { return 7; });
    log_sum_ = Tensor<float>(Shape{batch_, heads, q_len_});
  }

  std::int64_t q_len() const { return q_len_; }

  struct Rows {
    Tensor<T> out;
    Tensor<float> log_sum;
  };

  // Queries [first, first + count) in one call.
  Rows rows(std::int64_t first, std::int64_t count, int threads) {
    auto options = options_;
    options.threads = threads;
    std::vector<std::int64_t> offsets = offsets_;
    for (std::int64_t& offset : offsets) offset += first;
    options.query_offsets = offsets;
    stripes_.first = first;
    const auto part = [&](const auto& mask) {
      return mask.size(2) == 1 ? mask : mask.narrow(2, first, count);
    };
    if (bool_mask_.view.rank() == 4) options.mask = BoolMask(part(bool_mask_.view));
    if (float_mask_.view.rank() == 4) options.mask = FloatMask<T>(part(float_mask_.view));
    const auto out = out_.view.narrow(2, first, count);
    const auto log_sum = log_sum_.view().narrow(2, first, count);
    attention<T>(q_.view.narrow(2, first, count), k_.view, v_.view, out, options, log_sum);
    return {copy_of(out), copy_of(log_sum)};
  }

 private:
  std::int64_t batch_, heads_k_, q_len_;
  Strided<T> q_, k_, v_, out_;
  Strided<bool> bool_mask_;
  Strided<float> float_mask_;
  std::vector<std::int64_t> offsets_, key_lengths_;
  std::vector<double> sinks_;
  DistanceBias bias_;
  Stripes stripes_;
  RotationTable<float> rotation_;
  Tensor<float> log_sum_;
  AttentionOptions<T> options_;
};

template <class T>
class Decode : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(Decode, Elements);

TYPED_TEST(Decode, GivesTheBitsOfAllQueriesAtOnce) {
  using T = TypeParam;
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    NumpyRandom random(seed);
    CutCall<T> call(random);
    const auto whole = call.rows(0, call.q_len(), 1);
    for (std::int64_t first = 0; first < call.q_len();) {
      const std::int64_t count = std::min(pick(random, 1, 8), call.q_len() - first);
      const int threads = static_cast<int>(pick(random, 1, 5));
      const auto part = call.rows(first, count, threads);
      each_index(part.out.shape(), [&](const auto& at, std::int64_t n) {
        ASSERT_TRUE(same(part.out.data()[n], whole.out(at[0], at[1], first + at[2], at[3])))
            << "seed " << seed << ", batch " << at[0] << ", head " << at[1] << ", query "
            << first + at[2] << ", channel " << at[3] << ", queries " << count << ", threads "
            << threads << ": " << static_cast<double>(part.out.data()[n]) << " for "
            << static_cast<double>(whole.out(at[0], at[1], first + at[2], at[3]));
      });
      each_index(part.log_sum.shape(), [&](const auto& at, std::int64_t n) {
        ASSERT_TRUE(same(part.log_sum.data()[n], whole.log_sum(at[0], at[1], first + at[2])))
            << "seed " << seed << ", batch " << at[0] << ", head " << at[1] << ", query "
            << first + at[2];
      });
      if (this->HasFatalFailure()) return;
      first += count;
    }
  }
}

// One function makes both logarithms.
TEST(DecodeLogSumExp, HasTheBitsOfAllQueriesAtOnceInEveryOfManyRows) {
  constexpr std::int64_t kRows = 20000, kTogether = 4;
  NumpyRandom random(11);
  const auto q = normal<float>(Shape{1, 1, kRows, 8}, random),
             k = normal<float>(Shape{1, 1, 5, 8}, random);
  Tensor<float> out(q.shape()), whole(Shape{1, 1, kRows}), parts(whole.shape());
  attention(q, k, k, out, {.threads = 1}, whole);
  for (std::int64_t row = 0; row < kRows; row += kTogether) {
    attention(q.view().narrow(2, row, kTogether), k, k, out.view().narrow(2, row, kTogether),
              {.threads = 1}, parts.view().narrow(2, row, kTogether));
  }
  for (std::int64_t row = 0; row < kRows; ++row) {
    ASSERT_TRUE(same(parts(0, 0, row), whole(0, 0, row))) << row;
  }
}

// Short sequences packed into a long row, and each alone.
TYPED_TEST(Decode, GivesTheBitsOfPackedSequences) {
  using T = TypeParam;
  NumpyRandom random(7);
  const std::vector<std::int64_t> ends{0, 5, 5, 13, 14, 20};
  const auto q = normal<T>(Shape{2, 6, 20, 32}, random), k = normal<T>(Shape{2, 2, 20, 32}, random),
             v = normal<T>(Shape{2, 2, 20, 16}, random);
  Tensor<T> packed(Shape{2, 6, 20, 16});
  attention<T>(q, k, v, packed, {.causal = Causal::top_left, .segments = ends});
  for (std::size_t s = 0; s + 1 < ends.size(); ++s) {
    const std::int64_t first = ends[s], length = ends[s + 1] - first;
    Tensor<T> alone(Shape{2, 6, length, 16});
    const auto part = [&](const Tensor<T>& x) { return x.view().narrow(2, first, length); };
    attention<T>(part(q), part(k), part(v), alone, {.causal = Causal::top_left});
    each_index(alone.shape(), [&](const auto& at, std::int64_t n) {
      ASSERT_TRUE(same(alone.data()[n], packed(at[0], at[1], first + at[2], at[3]))) << n;
    });
  }
}

// What is hidden is not multiplied by anything that could let it through.
TYPED_TEST(Decode, HiddenNanDoesNotLeak) {
  using T = TypeParam;
  NumpyRandom random(8);
  const auto q = normal<T>(Shape{1, 4, 1, 64}, random);
  auto k = normal<T>(Shape{1, 2, 300, 64}, random), v = normal<T>(Shape{1, 2, 300, 64}, random);
  const std::vector<std::int64_t> filled{201};
  Tensor<bool> mask(Shape{300});
  for (std::int64_t j = 0; j < 300; ++j) mask(j) = j % 5 != 0;
  const AttentionOptions<T> options{
      .causal = Causal::none, .mask = BoolMask(mask.view()), .key_lengths = filled};
  Tensor<T> clean(Shape{1, 4, 1, 64}), out(Shape{1, 4, 1, 64});
  attention<T>(q, k, v, clean, options);
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t j = 0; j < 300; ++j) {
      if (j < 201 && j % 5 != 0) continue;
      for (std::int64_t c = 0; c < 64; ++c) {
        k(0, h, j, c) = value_of<T>(c % 2 == 0 ? std::nan("") : kInfinity);
        v(0, h, j, c) = value_of<T>(c % 2 == 0 ? kInfinity : std::nan(""));
      }
    }
  }
  attention<T>(q, k, v, out, options);
  for (std::int64_t n = 0; n < out.count(); ++n) {
    ASSERT_TRUE(same(out.data()[n], clean.data()[n])) << n;
    ASSERT_TRUE(std::isfinite(static_cast<float>(out.data()[n]))) << n;
  }
}

}  // namespace
}  // namespace sextant::decode_test

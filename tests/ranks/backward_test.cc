// Gradients over divided sequences beside those of one process.
#include <gtest/gtest.h>

#include "ranks/results.h"

namespace sextant::ranks::backward_test {
namespace {

constexpr Sharding kShardings[] = {Sharding::contiguous, Sharding::zigzag, Sharding::striped};

// All gradients that a case has.
template <class T>
struct Gradients {
  using Wide = typename AttentionGradients<T>::Wide;
  Tensor<T> q, k, v;
  Tensor<Wide> table, slopes, mask, sinks;
  std::vector<Tensor<double>> terms;

  template <class Arrays>
  Gradients(const Arrays& of, const AttentionOptions<T>& options)
      : q(of.q.shape()), k(of.k.shape()), v(of.v.shape()) {
    wanted = {.q = q, .k = k, .v = v, .bias = {}};
    if (options.bias != nullptr && options.bias->has_table()) {
      table = Tensor<Wide>(options.bias->values.shape());
      wanted.bias.values = table;
    }
    if (options.bias != nullptr && !options.bias->slopes.empty()) {
      slopes = Tensor<Wide>(Shape{kHeads});
      wanted.bias.slopes = slopes;
    }
    if (const auto* floats = std::get_if<FloatMask<T>>(&options.mask)) {
      mask = Tensor<Wide>(floats->shape());
      wanted.mask = mask;
    }
    if (!options.sinks.empty()) {
      sinks = Tensor<Wide>(Shape{kHeads});
      wanted.sinks = sinks;
    }
    for (const ScoreTerm* term : options.terms) {
      terms.emplace_back(Shape{term->needs().parameters});
      wanted.terms.emplace_back(terms.back());
    }
  }
  Gradients(const Gradients&) = delete;
  AttentionGradients<T> wanted;
};

template <class T>
bool same_terms(const Gradients<T>& a, const Gradients<T>& b) {
  return std::ranges::equal(a.terms, b.terms,
                            [](const auto& x, const auto& y) { return bool(same_bits(x, y)); });
}

template <class T>
Tensor<T> dout_of(const Whole<T>& whole) {
  const Tensor<float> values = random_array<float>(whole.out_shape(), 9);
  Tensor<T> dout(values.shape());
  std::transform(values.data(), values.data() + values.count(), dout.data(),
                 [](float x) { return static_cast<T>(x); });
  return dout;
}

// Float arrays as double ones.
Whole<double> as_double(const Whole<float>& whole) {
  Whole<double> same(whole.of);
  std::copy_n(whole.q.data(), whole.q.count(), same.q.data());
  std::copy_n(whole.k.data(), whole.k.count(), same.k.data());
  std::copy_n(whole.v.data(), whole.v.count(), same.v.data());
  return same;
}

template <class T>
void fill(const Whole<T>& whole, Gradients<T>& gradients) {
  const Result<T> forward = in_one_process(whole);
  sextant::attention_backward<T>(whole.q, whole.k, whole.v, forward.out, dout_of(whole),
                                 gradients.wanted, whole.options(), forward.logs.view());
}

// Of a rank's part; `forward` is one process's result.
template <class T>
void fill_on_ranks(const Whole<T>& whole, const Result<T>& forward, const Part<T>& part,
                   const Options& ranks, Gradients<T>& gradients) {
  const int me = world().rank();
  ranks::attention_backward<T>(
      world(), part.q, part.k, part.v, shard_of<T>(forward.out, part.q_layout, me),
      shard_of<T>(dout_of(whole), part.q_layout, me), gradients.wanted, part.options, ranks,
      shard_of<float>(forward.logs, part.q_layout, me));
}

class RanksBackward : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, RanksBackward, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

// Between orders of summing, errors are of one size: see RanksAttention. What is added here are the
// log-sum-exps, float32 for all ranks alike, which one process computes anew where they are large.
TEST_P(RanksBackward, InARingIsAsExactAsInOneProcess) {
  const Whole<float> whole(GetParam());
  const Whole<double> same = as_double(whole);
  const Result<float> forward = in_one_process(whole);
  Gradients<float> one(whole, whole.options());
  Gradients<double> truth(same, same.options());
  fill(whole, one);
  fill(same, truth);
  double largest = 0;
  for (const float log : forward.logs.span()) {
    if (std::isfinite(log)) largest = std::max(largest, std::fabs(static_cast<double>(log)));
  }
  for (const auto& [sharding, slice_bytes] :
       {std::pair{Sharding::contiguous, 0}, {Sharding::zigzag, 0}, {Sharding::zigzag, 1}}) {
    SCOPED_TRACE(std::string(name_of(sharding)) + ", slices " + std::to_string(slice_bytes));
    const Part<float> part(whole, sharding);
    Gradients<float> got(part, part.options);
    fill_on_ranks(whole, forward, part,
                  {.algorithm = Algorithm::ring, .sharding = sharding, .slice_bytes = slice_bytes},
                  got);
    const auto merged = world().size() + (slice_bytes == 0 ? 0 : whole.k.size(2) / 128);
    const auto check = [&](const char* name, const auto& of, const auto& of_one,
                           const auto& exact) {
      const double more = 0x1p-23 * (1 + largest) * static_cast<double>(merged) * size_of(exact);
      EXPECT_LE(distance(of, exact), 2 * distance(of_one, exact) + more) << name;
    };
    check("dq", gather<float>(world(), got.q, part.q_layout), one.q, truth.q);
    check("dk", gather<float>(world(), got.k, part.k_layout), one.k, truth.k);
    check("dv", gather<float>(world(), got.v, part.k_layout), one.v, truth.v);
    check("table", got.table, one.table, truth.table);
    check("slopes", got.slopes, one.slopes, truth.slopes);
    check("sinks", got.sinks, one.sinks, truth.sinks);
    for (std::size_t n = 0; n < one.terms.size(); ++n) {
      check("term", got.terms[n], one.terms[n], truth.terms[n]);
    }
    if (one.mask.count() > 0) {
      check("mask", gather<float>(world(), got.mask, part.q_layout, 1), one.mask, truth.mask);
    }
  }
}

class RanksBackwardReproducible : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, RanksBackwardReproducible, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

TEST_P(RanksBackwardReproducible, HasTheBitsOfOneProcess) {
  const Whole<float> whole(GetParam());
  const Result<float> forward = in_one_process(whole);
  Gradients<float> one(whole, whole.options());
  fill(whole, one);
  for (const Sharding sharding : kShardings) {
    SCOPED_TRACE(name_of(sharding));
    const Part<float> part(whole, sharding);
    Gradients<float> got(part, part.options);
    fill_on_ranks(whole, forward, part, {.sharding = sharding, .reproducible = true}, got);
    const int me = world().rank();
    EXPECT_TRUE(same_bits(got.q, shard_of<float>(one.q, part.q_layout, me)));
    EXPECT_TRUE(same_bits(got.k, shard_of<float>(one.k, part.k_layout, me)));
    EXPECT_TRUE(same_bits(got.v, shard_of<float>(one.v, part.k_layout, me)));
    EXPECT_TRUE(same_bits(got.table, one.table));
    EXPECT_TRUE(same_bits(got.slopes, one.slopes));
    EXPECT_TRUE(same_bits(got.sinks, one.sinks));
    EXPECT_TRUE(same_terms(got, one));
    if (one.mask.count() == 0) continue;
    EXPECT_TRUE(same_bits(got.mask, shard_of<float>(one.mask, part.q_layout, me, 1)));
  }
}

TEST_P(RanksBackward, InARingHasTheSameBitsInEveryRunAndForEveryNumberOfThreads) {
  const Whole<float> whole(GetParam());
  const Result<float> forward = in_one_process(whole);
  Part<float> part(whole, Sharding::zigzag);
  const Options options{.algorithm = Algorithm::ring, .sharding = Sharding::zigzag};
  part.options.threads = 1;
  Gradients<float> first(part, part.options), again(part, part.options);
  fill_on_ranks(whole, forward, part, options, first);
  part.options.threads = 3;
  fill_on_ranks(whole, forward, part, options, again);
  EXPECT_TRUE(same_bits(first.q, again.q) && same_bits(first.k, again.k) &&
              same_bits(first.v, again.v) && same_bits(first.table, again.table) &&
              same_bits(first.slopes, again.slopes) && same_bits(first.mask, again.mask) &&
              same_bits(first.sinks, again.sinks) && same_terms(first, again));
}

class RanksBackwardContent : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, RanksBackwardContent, testing::ValuesIn(content_cases()),
                         [](const auto& each) { return each.param.name; });

// Heads are whole on their ranks, so the only sum in another order is that of the term's gradient
// over heads: float64, with some digits lost where heads cancel.
TEST_P(RanksBackwardContent, AddsWhatHeadsGiveInAnotherOrder) {
  const Whole<float> whole(GetParam());
  const Result<float> forward = in_one_process(whole);
  Gradients<float> one(whole, whole.options());
  fill(whole, one);
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::gather, Algorithm::ulysses}) {
    SCOPED_TRACE(name_of(algorithm));
    const Sharding sharding = algorithm == Algorithm::gather ? Sharding::zigzag : Sharding::striped;
    const Part<float> part(whole, sharding);
    Gradients<float> got(part, part.options);
    fill_on_ranks(whole, forward, part, {.algorithm = algorithm, .sharding = sharding}, got);
    const int me = world().rank();
    EXPECT_TRUE(same_bits(got.q, shard_of<float>(one.q, part.q_layout, me)));
    EXPECT_TRUE(same_bits(got.k, shard_of<float>(one.k, part.k_layout, me)));
    EXPECT_TRUE(same_bits(got.v, shard_of<float>(one.v, part.k_layout, me)));
    ASSERT_FALSE(one.terms.empty());
    EXPECT_GT(size_of(one.terms.back()), 0);
    EXPECT_LE(distance(got.terms.back(), one.terms.back()), 0x1p-44 * size_of(one.terms.back()));
  }
}

TEST(RanksBackward64, HasTheBitsOfOneProcess) {
  Case of{.name = "causal", .causal = Causal::top_left, .slopes = true, .rotation = true};
  const Whole<double> whole(of);
  const Result<double> forward = in_one_process(whole);
  Gradients<double> one(whole, whole.options());
  fill(whole, one);
  const Part<double> part(whole, Sharding::zigzag);
  Gradients<double> got(part, part.options);
  fill_on_ranks(whole, forward, part, {.sharding = Sharding::zigzag}, got);
  EXPECT_TRUE(same_bits(got.q, shard_of<double>(one.q, part.q_layout, world().rank())));
  EXPECT_TRUE(same_bits(got.k, shard_of<double>(one.k, part.k_layout, world().rank())));
}

// 16-bit results are rounded once: at most a step from one process's, but for what float32 sums
// differ by, which shows where terms cancel.
TEST(RanksBackward16, IsRoundedOnce) {
  const Case of{.name = "causal", .causal = Causal::top_left, .rotation = true};
  const Whole<bfloat16> whole(of);
  const Result<bfloat16> forward = in_one_process(whole);
  Gradients<bfloat16> one(whole, whole.options());
  fill(whole, one);
  const Part<bfloat16> part(whole, Sharding::zigzag);
  Gradients<bfloat16> got(part, part.options);
  fill_on_ranks(whole, forward, part, {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag},
                got);
  const auto wanted = shard_of<bfloat16>(one.k, part.k_layout, world().rank());
  EXPECT_LE(distance(got.k, wanted), 0x1p-9 * size_of(wanted));
}

// Where something is not finite, gradients are those of one process, which defines them.
TEST(RanksBackwardNan, HasTheBitsOfOneProcess) {
  Whole<float> whole({.name = "window", .causal = Causal::top_left, .window = {20, -1}});
  whole.k(0, 1, 100, 3) = std::numeric_limits<float>::infinity();
  const Result<float> forward = in_one_process(whole);
  Gradients<float> one(whole, whole.options());
  fill(whole, one);
  const Part<float> part(whole, Sharding::contiguous);
  Gradients<float> got(part, part.options);
  fill_on_ranks(whole, forward, part, {.algorithm = Algorithm::ring}, got);
  EXPECT_TRUE(same_bits(got.q, shard_of<float>(one.q, part.q_layout, world().rank())));
}

}  // namespace
}  // namespace sextant::ranks::backward_test

// Packed pairs of sequences: queries cut in one way, keys in another, each pair as if it were
// alone.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/plan.h"
#include "sextant/attention/statistics.h"
#include "sextant/schemes/content/forgetting.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant::key_segments_test {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 4, kKeyHeads = 2, kHeadDim = 12, kValueDim = 10;

struct Boundaries {
  std::vector<std::int64_t> queries, keys;

  std::size_t count() const { return queries.size() - 1; }
};

// Several tasks and blocks of keys; more queries than keys and fewer; keys without queries, queries
// without keys, and a pair without either.
const Boundaries kLong{{0, 3, 3, 290, 291, 330, 330, 340}, {0, 5, 40, 40, 200, 210, 210, 250}};
// Few enough for the kernel that decodes.
const Boundaries kShort{{0, 2, 2, 4, 5}, {0, 30, 33, 33, 170}};

template <class T>
struct Call {
  explicit Call(const Boundaries& cut) : boundaries(cut) {
    const std::int64_t q_len = cut.queries.back(), k_len = cut.keys.back();
    q = drawn(Shape{kBatch, kHeads, q_len, kHeadDim});
    k = drawn(Shape{kBatch, kKeyHeads, k_len, kHeadDim});
    v = drawn(Shape{kBatch, kKeyHeads, k_len, kValueDim});
    dout = drawn(Shape{kBatch, kHeads, q_len, kValueDim});
    mask = normal<Wide>(Shape{kHeads, q_len, k_len}, random);
    for (Wide& value : mask.span()) {
      if (value > 1) value = -std::numeric_limits<Wide>::infinity();
    }
    bias = {normal<float>(Shape{kHeads, 801}, random), 400};
    rotation = rotary<float>({.head_dim = kHeadDim}, 400);
    for (std::int64_t i = 0; i < q_len; ++i) query_ids.push_back((7 * i) % 400);
    for (std::int64_t j = 0; j < k_len; ++j) key_ids.push_back((11 * j + 3) % 400);
  }

  using Wide = typename AttentionGradients<T>::Wide;

  Tensor<T> drawn(const Shape& shape) {
    Tensor<T> x(shape);
    for (T& value : x.span()) value = static_cast<T>(static_cast<float>(random.normal()));
    return x;
  }

  // The packed options, or those of pair s alone.
  AttentionOptions<T> packed() const {
    auto options = chosen;
    options.segments = boundaries.queries;
    options.key_segments = boundaries.keys;
    if (masked) options.mask = FloatMask<T>(mask);
    if (by_ids) {
      options.query_positions = ids_of(query_ids, 0, boundaries.queries.back());
      options.key_positions = ids_of(key_ids, 0, boundaries.keys.back());
    }
    return options;
  }
  AttentionOptions<T> alone(std::size_t s) const {
    auto options = chosen;
    if (masked) {
      options.mask = FloatMask<T>(
          mask.view().narrow(1, q_begin(s), q_count(s)).narrow(2, k_begin(s), k_count(s)));
    }
    if (by_ids) {
      options.query_positions = ids_of(query_ids, q_begin(s), q_count(s));
      options.key_positions = ids_of(key_ids, k_begin(s), k_count(s));
    }
    return options;
  }
  static View<const std::int64_t> ids_of(const std::vector<std::int64_t>& ids, std::int64_t begin,
                                         std::int64_t count) {
    return {ids.data() + begin, Shape{1, count}};
  }

  std::int64_t q_begin(std::size_t s) const { return boundaries.queries[s]; }
  std::int64_t k_begin(std::size_t s) const { return boundaries.keys[s]; }
  std::int64_t q_count(std::size_t s) const { return boundaries.queries[s + 1] - q_begin(s); }
  std::int64_t k_count(std::size_t s) const { return boundaries.keys[s + 1] - k_begin(s); }
  template <class E>
  View<const E> queries(const Tensor<E>& x, std::size_t s, int axis = 2) const {
    return x.view().narrow(axis, q_begin(s), q_count(s));
  }
  template <class E>
  View<const E> keys(const Tensor<E>& x, std::size_t s, int axis = 2) const {
    return x.view().narrow(axis, k_begin(s), k_count(s));
  }

  NumpyRandom random{17};
  Boundaries boundaries;
  Tensor<T> q, k, v, dout;
  Tensor<Wide> mask;
  DistanceBias bias;
  RotationTable<float> rotation;
  std::vector<std::int64_t> query_ids, key_ids;
  std::vector<double> sinks{0.5, -1, 2, 0};
  AttentionOptions<T> chosen{.causal = Causal::none};
  bool masked = false, by_ids = false;
};

// What a call may ask for, in combinations that reach every kernel and table.
enum class Kind { plain, unnamed, bottom_right, top_left, windowed, biased, rotated, ids, all };
constexpr Kind kKinds[] = {Kind::plain,    Kind::unnamed,  Kind::bottom_right,
                           Kind::top_left, Kind::windowed, Kind::biased,
                           Kind::rotated,  Kind::ids,      Kind::all};

template <class T>
void choose(Kind kind, Call<T>& call) {
  auto& options = call.chosen;
  const bool all = kind == Kind::all;
  if (kind == Kind::unnamed) options.causal = {};
  if (kind == Kind::bottom_right || kind == Kind::windowed || kind == Kind::biased || all) {
    options.causal = Causal::bottom_right;
  }
  if (kind == Kind::top_left) options.causal = Causal::top_left;
  if (kind == Kind::windowed || all) options.window = {60, 0};
  if (kind == Kind::biased || kind == Kind::ids || all) {
    call.bias.slopes = {0.5, 0.25, 0.125, 0};
    options.bias = &call.bias;
  }
  if (kind == Kind::rotated || kind == Kind::ids) options.rotation = &call.rotation;
  call.by_ids = kind == Kind::ids;
  call.masked = all || kind == Kind::rotated;
  if (!all) return;
  options.softcap = 5;
  options.sinks = call.sinks;
}

template <class T>
class KeySegments : public ::testing::Test {
 protected:
  // Calls test(call) for every kind and both lengths.
  template <class Test>
  void each_call(const Test& test) {
    for (const Boundaries& cut : {kLong, kShort}) {
      for (const Kind kind : kKinds) {
        SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", " +
                     std::to_string(cut.queries.back()) + " queries");
        Call<T> call(cut);
        choose(kind, call);
        test(call);
      }
    }
  }
};
using Elements = ::testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(KeySegments, Elements);

TYPED_TEST(KeySegments, GiveTheBitsOfEachPairAlone) {
  using T = TypeParam;
  this->each_call([](const Call<T>& call) {
    Tensor<float> log_sums(Shape{kBatch, kHeads, call.q.size(2)});
    Tensor<T> packed(call.dout.shape());
    auto options = call.packed();
    for (const int threads : {1, 3}) {
      options.threads = threads;
      attention<T>(call.q, call.k, call.v, packed, options, log_sums);
      for (std::size_t s = 0; s < call.boundaries.count(); ++s) {
        Tensor<T> out(Shape{kBatch, kHeads, call.q_count(s), kValueDim});
        Tensor<float> logs(Shape{kBatch, kHeads, call.q_count(s)});
        attention<T>(call.queries(call.q, s), call.keys(call.k, s), call.keys(call.v, s), out,
                     call.alone(s), logs);
        EXPECT_TRUE(same_bits<T>(out, call.queries(packed, s))) << "pair " << s;
        EXPECT_TRUE(same_bits<float>(logs, call.queries(log_sums, s))) << "pair " << s;
      }
    }
  });
}

TYPED_TEST(KeySegments, LeaveQueriesWithoutKeysZero) {
  using T = TypeParam;
  const Call<T> call(kLong);
  Tensor<float> log_sums(Shape{kBatch, kHeads, call.q.size(2)});
  Tensor<T> out(call.dout.shape());
  attention<T>(call.q, call.k, call.v, out, call.packed(), log_sums);
  constexpr std::size_t kWithoutKeys = 2;
  ASSERT_EQ(call.k_count(kWithoutKeys), 0);
  each_index(out.shape(), [&](const auto& i, std::int64_t) {
    const bool sees = i[2] < call.q_begin(kWithoutKeys) ||
                      i[2] >= call.q_begin(kWithoutKeys) + call.q_count(kWithoutKeys);
    const auto value = static_cast<double>(out(i[0], i[1], i[2], i[3]));
    ASSERT_EQ(value != 0, sees) << i[2];
    ASSERT_EQ(std::isinf(log_sums(i[0], i[1], i[2])), !sees) << i[2];
  });
}

TYPED_TEST(KeySegments, GiveTheGradientsOfEachPairAlone) {
  using T = TypeParam;
  using Wide = typename AttentionGradients<T>::Wide;
  // All gradients of a call; those of what it does not have are empty.
  struct Gradients {
    Tensor<T> q, k, v;
    Tensor<Wide> bias, slopes, sinks, mask;
  };
  this->each_call([](const Call<T>& call) {
    const auto run = [&](View<const T> q, View<const T> k, View<const T> v, View<const T> dout,
                         const AttentionOptions<T>& options) {
      Tensor<T> out(dout.shape());
      attention<T>(q, k, v, out, options);
      Gradients g{Tensor<T>(q.shape()), Tensor<T>(k.shape()), Tensor<T>(v.shape()), {}, {}, {}, {}};
      AttentionGradients<T> wanted{.q = g.q, .k = g.k, .v = g.v};
      if (options.bias != nullptr) {
        wanted.bias.values = g.bias = Tensor<Wide>(options.bias->values.shape());
        wanted.bias.slopes = g.slopes = Tensor<Wide>(Shape{kHeads});
      }
      if (!options.sinks.empty()) wanted.sinks = g.sinks = Tensor<Wide>(Shape{kHeads});
      if (const auto* mask = std::get_if<FloatMask<T>>(&options.mask)) {
        wanted.mask = g.mask = Tensor<Wide>(mask->shape());
      }
      attention_backward<T>(q, k, v, out, dout, wanted, options);
      return g;
    };
    const Gradients packed = run(call.q, call.k, call.v, call.dout, call.packed());
    Tensor<double> bias(packed.bias.shape()), slopes(packed.slopes.shape()),
        sinks(packed.sinks.shape());
    const auto add = [](Tensor<double>& sum, const Tensor<Wide>& part) {
      for (std::int64_t n = 0; n < sum.count(); ++n) {
        sum.data()[n] += static_cast<double>(part.data()[n]);
      }
    };
    for (std::size_t s = 0; s < call.boundaries.count(); ++s) {
      const Gradients one = run(call.queries(call.q, s), call.keys(call.k, s), call.keys(call.v, s),
                                call.queries(call.dout, s), call.alone(s));
      EXPECT_TRUE(same_bits<T>(one.q, call.queries(packed.q, s))) << "pair " << s;
      EXPECT_TRUE(same_bits<T>(one.k, call.keys(packed.k, s))) << "pair " << s;
      EXPECT_TRUE(same_bits<T>(one.v, call.keys(packed.v, s))) << "pair " << s;
      add(bias, one.bias);
      add(slopes, one.slopes);
      add(sinks, one.sinks);
      if (!call.masked) continue;
      // The mask is shared by the batch rows, which are added in float for float: in the same
      // order.
      EXPECT_TRUE(same_bits<Wide>(one.mask, packed.mask.view()
                                                .narrow(1, call.q_begin(s), call.q_count(s))
                                                .narrow(2, call.k_begin(s), call.k_count(s))))
          << "pair " << s;
    }
    // Sums over all pairs: of numbers that are rounded once each, of at most some tens in sum.
    const double tolerance = (std::is_same_v<Wide, double> ? 0x1p-52 : 0x1p-23) *
                             static_cast<double>(call.q.size(2) * call.k.size(2));
    const auto expect_near = [&](const Tensor<Wide>& have, const Tensor<double>& want) {
      for (std::int64_t n = 0; n < want.count(); ++n) {
        ASSERT_NEAR(static_cast<double>(have.data()[n]), want.data()[n], tolerance) << n;
      }
    };
    expect_near(packed.bias, bias);
    expect_near(packed.slopes, slopes);
    expect_near(packed.sinks, sinks);
  });
}

TYPED_TEST(KeySegments, GiveTheWeightsOfEachPairAlone) {
  using T = TypeParam;
  this->each_call([](const Call<T>& call) {
    for (const Stage stage : {Stage::scores, Stage::capped, Stage::biased, Stage::probabilities}) {
      const WeightsOptions chosen{.stage = stage};
      const auto packed = attention_weights(call.q, call.k, call.packed(), chosen);
      Tensor<T> expected(packed.shape());
      const double hidden =
          stage == Stage::probabilities ? 0 : -std::numeric_limits<double>::infinity();
      for (T& value : expected.span()) value = static_cast<T>(hidden);
      for (std::size_t s = 0; s < call.boundaries.count(); ++s) {
        const auto one = attention_weights<T>(call.queries(call.q, s), call.keys(call.k, s),
                                              call.alone(s), chosen);
        each_index(one.shape(), [&](const auto& i, std::int64_t n) {
          expected(i[0], i[1], call.q_begin(s) + i[2], call.k_begin(s) + i[3]) = one.data()[n];
        });
      }
      EXPECT_TRUE(same_bits<T>(packed, expected)) << name_of(stage);
    }
  });
}

TYPED_TEST(KeySegments, GiveTheStatisticsOfEachPairAlone) {
  using T = TypeParam;
  this->each_call([](const Call<T>& call) {
    const auto packed = attention_statistics(call.q, call.k, call.packed(), {.top = 3});
    for (std::size_t s = 0; s < call.boundaries.count(); ++s) {
      const auto one = attention_statistics<T>(call.queries(call.q, s), call.keys(call.k, s),
                                               call.alone(s), {.top = 3});
      EXPECT_TRUE(same_bits<float>(one.entropy, call.queries(packed.entropy, s)));
      EXPECT_TRUE(same_bits<float>(one.log_sum_exp, call.queries(packed.log_sum_exp, s)));
      EXPECT_TRUE(same_bits<float>(one.top_weights, call.queries(packed.top_weights, s)));
      EXPECT_TRUE(same_bits<float>(one.mass, call.keys(packed.mass, s)));
      each_index(one.top_keys.shape(), [&](const auto& i, std::int64_t n) {
        const std::int64_t key = one.top_keys.data()[n];
        ASSERT_EQ(packed.top_keys(i[0], i[1], call.q_begin(s) + i[2], i[3]),
                  key < 0 ? -1 : call.k_begin(s) + key);
      });
    }
  });
}

TYPED_TEST(KeySegments, LetContentTermsFindTheKeysOfTheRow) {
  using T = TypeParam;
  Call<T> call(kLong);
  call.chosen.causal = Causal::bottom_right;
  Tensor<double> gates(Shape{kBatch, kHeads, call.k.size(2)});
  for (double& gate : gates.span()) gate = -0.1 * call.random.uniform();
  auto options = call.packed();
  const auto term = forgetting(gates);
  options.terms = {term.get()};
  Tensor<T> out(call.dout.shape());
  attention<T>(call.q, call.k, call.v, out, options);
  Tensor<double> gradient(Shape{term->needs().parameters});
  attention_backward<T>(call.q, call.k, call.v, out, call.dout,
                        AttentionGradients<T>{.terms = {gradient}}, options);
  // The term is a difference of sums that begin elsewhere alone: the sums, below 25, are rounded.
  const double rounding =
      std::is_same_v<T, double> ? 0x1p-40 : (std::is_same_v<T, float> ? 0x1p-14 : 0x1p-5);
  for (std::size_t s = 0; s < call.boundaries.count(); ++s) {
    const auto narrow = forgetting(copy_of(call.keys(gates, s)));
    auto one = call.alone(s);
    one.terms = {narrow.get()};
    Tensor<T> expected(Shape{kBatch, kHeads, call.q_count(s), kValueDim});
    const auto q = call.queries(call.q, s), k = call.keys(call.k, s), v = call.keys(call.v, s);
    attention<T>(q, k, v, expected, one);
    each_index(expected.shape(), [&](const auto& i, std::int64_t n) {
      ASSERT_NEAR(static_cast<double>(out(i[0], i[1], call.q_begin(s) + i[2], i[3])),
                  static_cast<double>(expected.data()[n]), rounding)
          << "pair " << s;
    });
    if constexpr (std::is_same_v<T, double>) {
      Tensor<double> part(Shape{narrow->needs().parameters});
      attention_backward<T>(q, k, v, expected, call.queries(call.dout, s),
                            AttentionGradients<T>{.terms = {part}}, one);
      each_index(Shape{kBatch, kHeads, call.k_count(s)}, [&](const auto& i, std::int64_t n) {
        ASSERT_NEAR(
            gradient.data()[(i[0] * kHeads + i[1]) * call.k.size(2) + call.k_begin(s) + i[2]],
            part.data()[n], rounding)
            << "pair " << s;
      });
    }
  }
}

// What the operator says to options that do not fit.
class KeySegmentsErrors : public ::testing::Test {
 protected:
  std::string message() {
    return error_of([&] { attention<float>(q, k, v, out, options); });
  }

  Tensor<float> q{Shape{2, 4, 3, 8}}, k{Shape{2, 2, 5, 8}}, v{Shape{2, 2, 5, 6}},
      out{Shape{2, 4, 3, 6}};
  std::vector<std::int64_t> segments{0, 1, 3}, key_segments{0, 3, 5};
  AttentionOptions<float> options{.segments = segments, .key_segments = key_segments};
};

TEST_F(KeySegmentsErrors, BoundariesThatDoNotFit) {
  EXPECT_EQ(message(), "no error");
  key_segments = {0, 3, 4};
  EXPECT_EQ(message(), "[attention.key_segments] must ascend from 0 to the length 5, got 0 .. 4");
  key_segments = {1, 3, 5};
  EXPECT_EQ(message(), "[attention.key_segments] must ascend from 0 to the length 5, got 1 .. 5");
  key_segments = {0, 6, 5};
  EXPECT_EQ(
      message(),
      "[attention.key_segments] must ascend from 0 to the length 5, got 0 .. 5, not ascending");
  segments = {0, 1, 5};
  EXPECT_EQ(message(), "[attention.segments] must ascend from 0 to the length 3, got 0 .. 5");
}

TEST_F(KeySegmentsErrors, AnotherNumberOfSequences) {
  const std::vector<std::int64_t> more{0, 1, 3, 5};
  options.key_segments = more;
  EXPECT_EQ(message(), "[attention.key_segments] must be as many as segments, 3, got 4");
}

TEST_F(KeySegmentsErrors, KeysAloneOrWithLengths) {
  options.segments = {};
  EXPECT_EQ(message(), "[attention.key_segments] must be given with segments");
  options.segments = segments;
  const std::vector<std::int64_t> lengths{1, 2};
  options.key_lengths = lengths;
  EXPECT_EQ(message(),
            "[attention.segments] must not be combined with query_offsets or key_lengths");
  options.key_lengths = {};
  options.query_offsets = lengths;
  EXPECT_EQ(message(),
            "[attention.segments] must not be combined with query_offsets or key_lengths");
}

TEST_F(KeySegmentsErrors, AnAlignmentThatIsNotNamed) {
  options.window = {1, 1};
  EXPECT_EQ(message(),
            "[attention.causal] must be named, or query_offsets given, for a window, distance "
            "bias, slopes or rotation with q_len 1 and k_len 3");
  options.causal = Causal::none;
  EXPECT_EQ(message(), "no error");
  options.causal = Causal::at_offsets;
  EXPECT_EQ(message(), "[attention.query_offsets] must be given with causal at_offsets, got none");
  // As long together, but not one by one.
  q = Tensor<float>(Shape{2, 4, 5, 8});
  out = Tensor<float>(Shape{2, 4, 5, 6});
  segments = {0, 2, 5};
  options.causal = {};
  EXPECT_EQ(message(),
            "[attention.causal] must be named, or query_offsets given, for a window, distance "
            "bias, slopes or rotation with q_len 2 and k_len 3");
  segments = {0, 3, 5};
  EXPECT_EQ(message(), "no error");
}

TEST_F(KeySegmentsErrors, DistancesAndRotationsOfEachPair) {
  // Pairs of 1 x 3 and 2 x 2 with the last query at the last key: distances -2 .. 0.
  options.causal = Causal::bottom_right;
  DistanceBias bias{Tensor<float>(Shape{1, 2}), 1};
  options.bias = &bias;
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances -2 .. 0, got [1, 2] with origin 1");
  bias = {Tensor<float>(Shape{1, 3}), 2};
  EXPECT_EQ(message(), "no error");
  // More queries than keys: the first one's own key is before all keys.
  segments = {0, 3, 3};
  key_segments = {0, 2, 5};
  options.bias = nullptr;
  const auto table = rotary<float>({.head_dim = 8}, 5);
  options.rotation = &table;
  EXPECT_EQ(message(),
            "[attention.rotation] must have a row for each of the positions -1 .. 1, got 5 rows "
            "from position 0");
}

TEST(KeySegmentsPlan, CountsTheTasksOfEachPair) {
  const Call<float> call(kLong);
  auto options = call.packed();
  options.threads = 1;
  // 287, 39 and 10 queries in tasks of 256, for each head and batch row; 3 and 1 queries, which the
  // decode kernel takes, for each key head.
  EXPECT_EQ(attention_plan<float>(call.q, call.k, call.v, options).tasks,
            (4 * kHeads + 2 * kKeyHeads) * kBatch);
}

}  // namespace
}  // namespace sextant::key_segments_test

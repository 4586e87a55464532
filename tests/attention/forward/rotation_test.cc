// Rotation inside the operator: the same as rotating queries and keys before, also by tables of
// keys and by tables that differ between heads; forward, shown and backward.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/statistics.h"
#include "support/error_of.h"

namespace sextant::rotation_test {
namespace {

constexpr std::int64_t kHeads = 4, kHeadsK = 2, kHeadDim = 16, kPairs = 5;

// Any numbers do for cosines and sines: amplitudes are part of a table.
RotationTable<float> table_of(const Shape& shape, RotaryLayout layout, NumpyRandom& random) {
  return {normal<float>(shape, random), normal<float>(shape, random), layout, 3, nullptr};
}

template <class U>
RotationTable<U> converted(const RotationTable<float>& from) {
  RotationTable<U> to{Tensor<U>(from.cos.shape()), Tensor<U>(from.sin.shape()), from.layout,
                      from.first_channel, nullptr};
  for (std::int64_t n = 0; n < from.cos.count(); ++n) {
    to.cos.data()[n] = static_cast<U>(from.cos.data()[n]);
    to.sin.data()[n] = static_cast<U>(from.sin.data()[n]);
  }
  return to;
}

// Rows [first, first + count) of every head.
template <class U>
RotationTable<U> rows_of(const RotationTable<U>& table, std::int64_t first, std::int64_t count) {
  const int axis = table.cos.rank() - 2;
  return {copy_of(table.cos.view().narrow(axis, first, count)),
          copy_of(table.sin.view().narrow(axis, first, count)), table.layout, table.first_channel,
          nullptr};
}

template <class W, class T>
Tensor<W> as(const Tensor<T>& from) {
  Tensor<W> to(from.shape());
  for (std::int64_t n = 0; n < from.count(); ++n) to.data()[n] = static_cast<W>(from.data()[n]);
  return to;
}

struct Tables {
  const char* name;
  bool by_head, has_keys;
};
constexpr Tables kTables[] = {
    {"one table", false, false},
    {"keys of their own", false, true},
    {"by head", true, true},
    {"by head, one table", true, false}};  // with as many heads of k as of q

// Numbers of type T, and the same rotated before the call, in the type that T is computed in.
template <class T>
class AttentionRotation : public ::testing::Test {
 protected:
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  void make(const Tables& how, std::int64_t q_len, RotaryLayout layout) {
    const auto shape = [&](std::int64_t heads) {
      return how.by_head ? Shape{heads, kLength, kPairs} : Shape{kLength, kPairs};
    };
    table = table_of(shape(kHeads), layout, random);
    if (how.has_keys) {
      table.keys = std::make_shared<RotationTable<float>>(table_of(shape(kHeadsK), layout, random));
    }
    const std::int64_t kv_heads = how.by_head && !how.has_keys ? kHeads : kHeadsK;
    q = normal<T>(Shape{2, kHeads, q_len, kHeadDim}, random);
    k = normal<T>(Shape{2, kv_heads, kLength, kHeadDim}, random);
    v = normal<T>(Shape{2, kv_heads, kLength, 6}, random);
    dout = normal<T>(Shape{2, kHeads, q_len, 6}, random);
    wide_q = as<Wide>(q);
    wide_k = as<Wide>(k);
    wide_v = as<Wide>(v);
    q_rows = rows_of(converted<Wide>(table), kLength - q_len, q_len);
    k_rows = converted<Wide>(table.for_keys());
    rotate<Wide, Wide>(wide_q.view(), wide_q.view(), q_rows);
    rotate<Wide, Wide>(wide_k.view(), wide_k.view(), k_rows);
    inside.rotation = &table;
    inside.causal = before.causal = Causal::bottom_right;
  }

  // float64 tables are rotated by the same formula in another function: a rounding or two apart.
  template <class E>
  static void expect_same(const Tensor<E>& got, const Tensor<E>& expected, const char* what) {
    if constexpr (std::is_same_v<E, double>) {
      ASSERT_EQ(got.shape(), expected.shape());
      for (std::int64_t n = 0; n < got.count(); ++n) {
        ASSERT_NEAR(got.data()[n], expected.data()[n], 1e-12) << what << " " << n;
      }
    } else {
      EXPECT_TRUE(same_bits<E>(got, expected)) << what;
    }
  }

  template <class Check>
  void for_each_case(const Check& check) {
    for (const Tables& how : kTables) {
      for (const std::int64_t q_len : {std::int64_t{3}, kLength}) {
        for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
          SCOPED_TRACE(how.name + (" " + std::to_string(q_len)) + " " +
                       std::string(name_of(layout)));
          make(how, q_len, layout);
          check();
        }
      }
    }
  }

  static constexpr std::int64_t kLength = std::is_same_v<T, double> ? 20 : 150;
  NumpyRandom random{1};
  RotationTable<float> table;
  RotationTable<Wide> q_rows, k_rows;
  Tensor<T> q, k, v, dout;
  Tensor<Wide> wide_q, wide_k, wide_v;
  AttentionOptions<T> inside;
  AttentionOptions<Wide> before;
};
using Elements = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionRotation, Elements);

TYPED_TEST(AttentionRotation, InsideGivesTheOutputOfTurningBefore) {
  using T = TypeParam;
  using W = typename TestFixture::Wide;
  this->for_each_case([&] {
    Tensor<T> out(this->dout.shape());
    Tensor<W> expected(this->dout.shape());
    attention<T>(this->q, this->k, this->v, out, this->inside);
    attention<W>(this->wide_q, this->wide_k, this->wide_v, expected, this->before);
    this->expect_same(out, as<T>(expected), "out");
  });
}

TYPED_TEST(AttentionRotation, InsideShowsTheWeightsOfTurningBefore) {
  using T = TypeParam;
  using W = typename TestFixture::Wide;
  this->for_each_case([&] {
    for (const Stage stage : {Stage::scores, Stage::probabilities}) {
      const auto got = attention_weights<T>(this->q, this->k, this->inside, {.stage = stage});
      const auto expected =
          attention_weights<W>(this->wide_q, this->wide_k, this->before, {.stage = stage});
      this->expect_same(got, as<T>(expected), "weights");
    }
    const auto got = attention_statistics<T>(this->q, this->k, this->inside);
    const auto expected = attention_statistics<W>(this->wide_q, this->wide_k, this->before);
    if constexpr (!std::is_same_v<T, double>) {
      EXPECT_TRUE(same_bits<float>(got.entropy, expected.entropy));
      EXPECT_TRUE(same_bits<float>(got.mass, expected.mass));
    }
  });
}

TYPED_TEST(AttentionRotation, InsideGivesTheGradientsOfTurningBeforeAndBack) {
  using T = TypeParam;
  using W = typename TestFixture::Wide;
  this->for_each_case([&] {
    Tensor<T> out(this->dout.shape()), dq(this->q.shape()), dk(this->k.shape()),
        dv(this->v.shape());
    attention<T>(this->q, this->k, this->v, out, this->inside);
    attention_backward<T>(this->q, this->k, this->v, out, this->dout,
                          AttentionGradients<T>{.q = dq, .k = dk, .v = dv}, this->inside);
    Tensor<W> wide_dq(dq.shape()), wide_dk(dk.shape()), wide_dv(dv.shape());
    attention_backward<W>(this->wide_q, this->wide_k, this->wide_v, as<W>(out), as<W>(this->dout),
                          AttentionGradients<W>{.q = wide_dq, .k = wide_dk, .v = wide_dv},
                          this->before);
    // The scale is 1/4, so that it may come before or after the rotation.
    rotate_back<W, W>(wide_dq.view(), wide_dq.view(), this->q_rows);
    rotate_back<W, W>(wide_dk.view(), wide_dk.view(), this->k_rows);
    this->expect_same(dq, as<T>(wide_dq), "dq");
    this->expect_same(dk, as<T>(wide_dk), "dk");
    this->expect_same(dv, as<T>(wide_dv), "dv");
  });
}

TEST(AttentionRotationTables, ThatDoNotFitAreRefused) {
  NumpyRandom random(2);
  const auto q = normal<float>(Shape{1, 4, 5, 16}, random);
  const auto k = normal<float>(Shape{1, 2, 5, 16}, random);
  Tensor<float> out(q.shape());
  const auto message = [&](const Shape& queries, const Shape& keys) {
    auto table = table_of(queries, RotaryLayout::half_split, random);
    if (keys.count() > 0) {
      table.keys =
          std::make_shared<RotationTable<float>>(table_of(keys, RotaryLayout::half_split, random));
    }
    return error_of([&] { attention<float>(q, k, k, out, {.rotation = &table}); });
  };
  const Shape none{0};
  EXPECT_EQ(message(Shape{4, 5, 3}, none),
            "[attention.rotation] must have a table of keys where it is by head and k has fewer "
            "heads than q, got heads 2 and 4");
  EXPECT_EQ(message(Shape{3, 5, 3}, Shape{2, 5, 3}),
            "[attention.rotation] must be for 4 heads, got [3, 5, 3]");
  EXPECT_EQ(message(Shape{4, 5, 3}, Shape{4, 5, 3}),
            "[attention.rotation.keys] must be for 2 heads, got [4, 5, 3]");
  EXPECT_EQ(message(Shape{5, 3}, Shape{4, 3}),
            "[attention.rotation.keys] must have a row for each of the positions 0 .. 4, got 4 "
            "rows from position 0");
  EXPECT_EQ(message(Shape{5, 3}, Shape{5, 7}),
            "[attention.rotation.keys] must rotate channels of the 16 a head has, got 14 from "
            "channel 3");
  EXPECT_EQ(message(Shape{1, 4, 5, 3}, none),
            "[attention.rotation] must have cos and sin of one shape [positions, pairs] or "
            "[heads, positions, pairs], got [1, 4, 5, 3] and [1, 4, 5, 3]");
  EXPECT_EQ(message(Shape{5, 3}, Shape{2, 5, 3}), "no error");
}

}  // namespace
}  // namespace sextant::rotation_test

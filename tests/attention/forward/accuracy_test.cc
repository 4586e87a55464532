// How true the fast path is: at most twice the error of the same formula written out in float32.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/strided.h"
#include "core/arrays/converted.h"
#include "reference/attention.h"
#include "reference/plain_attention.h"
#include "sextant/attention/attention.h"

namespace sextant::accuracy_test {
namespace {

// What makes a family of calls: the size of scores, and what is done to them.
struct Family {
  std::string name;
  double magnitude;  // of q, so that scores have about this size
  std::int64_t head_dim, q_len, k_len;
  double softcap = 0;
  double slope = 0;
  bool causal = false;
};

// Sum of squares and largest of the errors of several calls.
struct Errors {
  double squares = 0, worst = 0;

  void add(View<const float> got, const Tensor<double>& truth) {
    const auto dense = copy_of(got);
    for (std::int64_t n = 0; n < dense.count(); ++n) {
      const double error = std::abs(static_cast<double>(dense.data()[n]) - truth.data()[n]);
      squares += error * error;
      worst = std::max(worst, error);
    }
  }
};

// The errors of a family over several calls: ours, and the plain formula's, on the same inputs of
// storage type T.
template <class T>
void compare(const Family& family) {
  SCOPED_TRACE(family.name);
  Errors ours, plain;
  double largest = 0;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    NumpyRandom random(seed);
    const auto draw = [&](const Shape& shape, double size) {
      Tensor<T> x(shape);
      for (T& value : x.span()) value = static_cast<T>(static_cast<float>(size * random.normal()));
      return x;
    };
    const std::int64_t batch = 1, heads = 2;
    const auto q = draw(Shape{batch, heads, family.q_len, family.head_dim}, family.magnitude);
    const auto k = draw(Shape{batch, 1, family.k_len, family.head_dim}, 1);
    const auto v = draw(Shape{batch, 1, family.k_len, 24}, 1);
    const DistanceBias bias{.slopes = {family.slope, family.slope / 4}};
    AttentionOptions<T> options{.causal = family.causal ? Causal::bottom_right : Causal::none,
                                .softcap = family.softcap};
    if (family.slope > 0) options.bias = &bias;
    Tensor<T> out(Shape{batch, heads, family.q_len, 24});
    attention(q, k, v, out, options);

    const std::int64_t offset = family.causal ? family.k_len - family.q_len : 0;
    const reference::Attention call{
        .q = converted<double>(q),
        .k = converted<double>(k),
        .v = converted<double>(v),
        .sees = [&](auto, auto, auto i, auto j) { return !family.causal || j <= i + offset; },
        .added =
            [&](auto, auto h, auto i, auto j) {
              return -bias.slopes[static_cast<std::size_t>(h)] *
                     std::abs(static_cast<double>(j - i - offset));
            },
        .scale = 1 / std::sqrt(static_cast<double>(family.head_dim)),
        .softcap = family.softcap};
    const auto truth = reference::attend(call).output;
    const auto written_out = reference::plain_attend(call);
    Tensor<float> rounded(written_out.shape()), got(out.shape());
    for (std::int64_t n = 0; n < out.count(); ++n) {
      got.data()[n] = static_cast<float>(out.data()[n]);
      rounded.data()[n] = static_cast<float>(static_cast<T>(written_out.data()[n]));
    }
    ours.add(got, truth);
    plain.add(rounded, truth);
    for (const double value : truth.span()) largest = std::max(largest, std::abs(value));
  }
  // Root mean squares: at large scores the worst is one row in which two keys happen to tie, and
  // its ratio is luck; it may be 4 there.
  EXPECT_LE(std::sqrt(ours.squares), 2 * std::sqrt(plain.squares));
  EXPECT_LE(ours.worst, 4 * plain.worst + largest * 0x1p-24);
}

template <class T>
class AttentionAccuracy : public ::testing::Test {};
using Stored = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionAccuracy, Stored);

TYPED_TEST(AttentionAccuracy, IsAtMostTwiceThePlainFormulasErrorAtEveryMagnitude) {
  for (const double magnitude : {0.0, 0.01, 1.0, 100.0, 10000.0}) {
    const std::string name = "scores of about " + std::to_string(magnitude);
    compare<TypeParam>(
        {.name = name, .magnitude = magnitude, .head_dim = 64, .q_len = 200, .k_len = 140});
    compare<TypeParam>({.name = name + ", causal",
                        .magnitude = magnitude,
                        .head_dim = 33,
                        .q_len = 150,
                        .k_len = 150,
                        .causal = true});
  }
}

TYPED_TEST(AttentionAccuracy, IsAtMostTwiceThePlainFormulasErrorForEveryHeadWidth) {
  for (const std::int64_t head_dim : {1, 2, 3, 7, 16, 31, 64, 80, 128, 192, 256, 576}) {
    compare<TypeParam>({.name = "head_dim " + std::to_string(head_dim),
                        .magnitude = 2,
                        .head_dim = head_dim,
                        .q_len = 20,
                        .k_len = 150});
  }
}

TYPED_TEST(AttentionAccuracy, IsAtMostTwiceThePlainFormulasErrorWithSoftcapAndSlopes) {
  for (const double softcap : {0.5, 20.0, 50.0}) {
    for (const double magnitude : {0.1, 1.0, 100.0}) {
      compare<TypeParam>({.name = "softcap",
                          .magnitude = magnitude,
                          .head_dim = 32,
                          .q_len = 250,
                          .k_len = 140,
                          .softcap = softcap});
    }
  }
  for (const double slope : {0.004, 0.5, 4.0}) {
    compare<TypeParam>({.name = "slope " + std::to_string(slope),
                        .magnitude = 2,
                        .head_dim = 32,
                        .q_len = 180,
                        .k_len = 180,
                        .slope = slope,
                        .causal = true});
  }
}

}  // namespace
}  // namespace sextant::accuracy_test

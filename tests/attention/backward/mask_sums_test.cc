// The gradient of a mask with axes of size 1: sums in float64, in the order of sequences and heads.
#include <gtest/gtest.h>

#include "attention/same_bits.h"
#include "sextant/attention/backward.h"
#include "sextant/core/random.h"

namespace sextant::mask_sums_test {
namespace {

constexpr std::int64_t kBatch = 3, kHeads = 4, kQueries = 5, kKeys = 7, kDim = 8;

Tensor<float> drawn(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<float> x(shape);
  for (float& value : x.span()) value = static_cast<float>(random.normal());
  return x;
}

Tensor<float> gradient_of_mask(const Shape& shape, int threads) {
  const auto q = drawn({kBatch, kHeads, kQueries, kDim}, 1);
  const auto k = drawn({kBatch, kHeads, kKeys, kDim}, 2);
  const auto v = drawn({kBatch, kHeads, kKeys, kDim}, 3);
  const auto dout = drawn(q.shape(), 4);
  const Tensor<float> mask(shape);
  const AttentionOptions<float> options{.mask = FloatMask<float>(mask), .threads = threads};
  Tensor<float> out(q.shape()), dmask(shape);
  attention<float>(q, k, v, out, options);
  attention_backward<float>(q, k, v, out, dout, {.mask = dmask}, options);
  return dmask;
}

TEST(MaskSums, AreRoundedToFloatOnce) {
  const Tensor<float> each = gradient_of_mask({kBatch, kHeads, kQueries, kKeys}, 1);
  for (const Shape& shape : {Shape{1, 1, kQueries, kKeys}, Shape{1, kHeads, kQueries, kKeys},
                             Shape{kBatch, 1, kQueries, kKeys}, Shape{1, 1, 1, kKeys}}) {
    SCOPED_TRACE(shape.to_string());
    Tensor<double> sums(shape);
    const auto index = [&](int axis, std::int64_t at) { return shape[axis] == 1 ? 0 : at; };
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (std::int64_t h = 0; h < kHeads; ++h) {
        for (std::int64_t i = 0; i < kQueries; ++i) {
          for (std::int64_t j = 0; j < kKeys; ++j) {
            sums(index(0, b), index(1, h), index(2, i), index(3, j)) += each(b, h, i, j);
          }
        }
      }
    }
    Tensor<float> expected(shape);
    for (std::int64_t n = 0; n < sums.count(); ++n) {
      expected.data()[n] = static_cast<float>(sums.data()[n]);
    }
    for (const int threads : {1, 2}) {
      EXPECT_TRUE(same_bits<float>(gradient_of_mask(shape, threads), expected)) << threads;
    }
  }
}

}  // namespace
}  // namespace sextant::mask_sums_test

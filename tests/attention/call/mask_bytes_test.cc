// Masks of bool that others wrote: every byte but 0 is true, as in NumPy and C.
#include <gtest/gtest.h>

#include <cstring>

#include "attention/same_bits.h"
#include "sextant/attention.h"
#include "sextant/core/npy.h"
#include "sextant/core/random.h"

namespace sextant::mask_bytes_test {
namespace {

template <class T>
class MaskBytes : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, double>;
TYPED_TEST_SUITE(MaskBytes, Elements);

template <class T>
Tensor<T> drawn(const Shape& shape, NumpyRandom& random) {
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(random.normal());
  return x;
}

TYPED_TEST(MaskBytes, OtherThanZeroAreTrue) {
  using T = TypeParam;
  for (const std::int64_t q_len : {2, 40}) {  // few queries have a path of their own
    NumpyRandom random(3);
    const auto q = drawn<T>({1, 2, q_len, 8}, random), k = drawn<T>({1, 2, 50, 8}, random),
               v = drawn<T>({1, 2, 50, 8}, random), dout = drawn<T>(q.shape(), random);
    Tensor<bool> plain({q_len, 50}), foreign(plain.shape());
    for (std::int64_t n = 0; n < plain.count(); ++n) {
      const auto byte = static_cast<unsigned char>(n % 3 == 0 ? 0 : 1 + n % 255);
      plain.data()[n] = byte != 0;
      std::memcpy(foreign.data() + n, &byte, 1);
    }
    const auto with = [&](const Tensor<bool>& mask) {
      return AttentionOptions<T>{.mask = BoolMask(mask.view())};
    };
    Tensor<T> expected(q.shape()), out(q.shape());
    attention<T>(q, k, v, expected, with(plain));
    attention<T>(q, k, v, out, with(foreign));
    EXPECT_TRUE(same_bits<T>(out, expected));
    for (const Stage stage : {Stage::biased, Stage::probabilities}) {
      EXPECT_TRUE(same_bits<T>(attention_weights<T>(q, k, with(foreign), {.stage = stage}),
                               attention_weights<T>(q, k, with(plain), {.stage = stage})));
    }
    Tensor<T> expected_dk(k.shape()), dk(k.shape());
    attention_backward<T>(q, k, v, expected, dout, {.k = expected_dk}, with(plain));
    attention_backward<T>(q, k, v, expected, dout, {.k = dk}, with(foreign));
    EXPECT_TRUE(same_bits<T>(dk, expected_dk));
  }
}

TEST(MaskBytes, AreTrueInConversionsToo) {
  Array array{DType::boolean, {3}, Tensor<std::byte>({3})};
  array.bytes(0) = std::byte{200};
  array.bytes(2) = std::byte{1};
  const Tensor<float> floats = array.to<float>();
  EXPECT_EQ(floats(0), 1);
  EXPECT_EQ(floats(1), 0);
  EXPECT_EQ(floats(2), 1);
  EXPECT_TRUE(array.to<bool>()(0));
}

}  // namespace
}  // namespace sextant::mask_bytes_test

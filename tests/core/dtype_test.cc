// Conversions to and from 16 bits, against values from the definition and rounding by comparison.
#include "sextant/core/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "reference/round16.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
class SixteenBits : public ::testing::Test {
 public:
  static constexpr int kExponentBits = std::is_same_v<T, float16> ? 5 : 8;
  static double reference_value(int bits) {
    return reference::value_of_16_bits(static_cast<std::uint16_t>(bits), kExponentBits);
  }
  static std::uint16_t reference_bits(double value) {
    return reference::round_to_16_bits(value, kExponentBits);
  }
  static T from_bits(int bits) {
    T value;
    value.bits = static_cast<std::uint16_t>(bits);
    return value;
  }
};

struct Names {
  template <class T>
  static std::string GetName(int) {
    return std::string(dtype_name(dtype_of<T>));
  }
};
using SixteenBitTypes = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(SixteenBits, SixteenBitTypes, Names);

TYPED_TEST(SixteenBits, EveryPatternHasTheValueOfItsDefinition) {
  for (int bits = 0; bits < 65536; ++bits) {
    const double expected = this->reference_value(bits);
    const float as_float = static_cast<float>(this->from_bits(bits));
    const double as_double = static_cast<double>(this->from_bits(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(as_float) && std::isnan(as_double)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(static_cast<double>(as_float)),
                std::bit_cast<std::uint64_t>(expected))
          << bits;
      EXPECT_EQ(std::bit_cast<std::uint64_t>(as_double), std::bit_cast<std::uint64_t>(expected))
          << bits;
    }
  }
}

TYPED_TEST(SixteenBits, EveryPatternComesBack) {
  const int quiet = 1 << (14 - this->kExponentBits);
  for (int bits = 0; bits < 65536; ++bits) {
    // A signalling NaN may become quiet on any move through a float; nothing else may change.
    const int expected = std::isnan(this->reference_value(bits)) ? bits | quiet : bits;
    const TypeParam value = this->from_bits(bits);
    EXPECT_EQ(TypeParam(static_cast<float>(value)).bits, expected);
    EXPECT_EQ(TypeParam(static_cast<double>(value)).bits, expected);
  }
}

// Between each two neighbours: the midpoint goes to the even one, and one float64 or float32 beside
// it decides the other way.
TYPED_TEST(SixteenBits, MidpointsGoToEvenAndTheirNeighboursToTheNearest) {
  const int last = this->reference_bits(kInfinity) - 1;
  for (int bits = 0; bits < last; ++bits) {
    const double low = this->reference_value(bits);
    const double high = this->reference_value(bits + 1);
    const double middle = low + (high - low) / 2;
    const int even = bits % 2 == 0 ? bits : bits + 1;
    for (const int sign : {0, 0x8000}) {
      const double s = sign == 0 ? 1 : -1;
      EXPECT_EQ(TypeParam(s * middle).bits, sign | even);
      EXPECT_EQ(TypeParam(s * std::nextafter(middle, 0)).bits, sign | bits);
      EXPECT_EQ(TypeParam(s * std::nextafter(middle, kInfinity)).bits, sign | (bits + 1));
      EXPECT_EQ(TypeParam(s * std::nextafter(low, kInfinity)).bits, sign | bits);
      EXPECT_EQ(TypeParam(s * std::nextafter(high, 0)).bits, sign | (bits + 1));
    }
  }
}

TYPED_TEST(SixteenBits, AgreesWithTheReferenceOnRandomDoubles) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 200000; ++i) {
    // Exponents around and inside the range of the type, and any fraction.
    const int reach = this->kExponentBits == 5 ? 32 : 160;
    const double fraction = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * reach)) - reach;
    const double value = std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent);
    ASSERT_EQ(TypeParam(value).bits, this->reference_bits(value)) << value;
  }
}

TYPED_TEST(SixteenBits, OverflowGivesInfinityFromHalfAStepAboveTheLargest) {
  const std::uint16_t infinity = this->reference_bits(kInfinity);
  const double largest = this->reference_value(infinity - 1);
  const double step = largest - this->reference_value(infinity - 2);
  EXPECT_EQ(TypeParam(std::nextafter(largest + step / 2, 0)).bits, infinity - 1);
  EXPECT_EQ(TypeParam(largest + step / 2).bits, infinity);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::max()).bits, infinity);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::max()).bits, 0x8000 | infinity);
  EXPECT_EQ(TypeParam(kInfinity).bits, infinity);
  EXPECT_EQ(TypeParam(-kInfinity).bits, 0x8000 | infinity);
}

TYPED_TEST(SixteenBits, TinyNumbersGiveZeroWithTheirSign) {
  const double smallest = this->reference_value(1);
  for (const double value : {0.0, std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::min(), smallest / 4, smallest / 2}) {
    EXPECT_EQ(TypeParam(value).bits, 0) << value;
    EXPECT_EQ(TypeParam(-value).bits, 0x8000) << value;
  }
  EXPECT_EQ(TypeParam(std::nextafter(smallest / 2, 1)).bits, 1);
}

TYPED_TEST(SixteenBits, KeepsTheSignAndTheLeadingPayloadOfANaN) {
  const auto nan = std::bit_cast<double>(std::uint64_t{0xfffc000000000001});
  const int all_ones = this->reference_bits(kInfinity);
  EXPECT_EQ(TypeParam(nan).bits, 0x8000 | all_ones | 3 << (13 - this->kExponentBits));
  // A payload in the dropped bits alone must not turn into infinity.
  EXPECT_TRUE(std::isnan(
      static_cast<float>(TypeParam(std::bit_cast<double>(std::uint64_t{0x7ff0000000000001})))));
}

TYPED_TEST(SixteenBits, ComparesByValue) {
  EXPECT_EQ(TypeParam(0.0), TypeParam(-0.0));
  EXPECT_EQ(TypeParam(1.5), TypeParam(1.5));
  EXPECT_FALSE(TypeParam(NAN) == TypeParam(NAN));
}

TEST(Float16, RoundsOnceFromDouble) {
  // Above the midpoint of 1 and 1 + 2^-10 by less than float32 can see: rounding through float32
  // gives 1.
  const double value = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(float16(static_cast<float>(value)).bits, 0x3c00);
  EXPECT_EQ(float16(value).bits, 0x3c01);
  // Below the midpoint of 1 + 2^-10 and 1 + 2^-9.
  const double below = 1 + 0x1.8p-10 - 0x1p-40;
  EXPECT_EQ(float16(static_cast<float>(below)).bits, 0x3c02);
  EXPECT_EQ(float16(below).bits, 0x3c01);
}

TEST(BFloat16, RoundsOnceFromDouble) {
  const double value = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(bfloat16(static_cast<float>(value)).bits, 0x3f80);
  EXPECT_EQ(bfloat16(value).bits, 0x3f81);
}

TEST(DType, HasNamesAndSizes) {
  EXPECT_EQ(dtype_name(DType::boolean), "bool");
  EXPECT_EQ(dtype_name(DType::bfloat16), "bfloat16");
  for (const auto& [dtype, size] :
       std::vector<std::pair<DType, std::size_t>>{{DType::boolean, 1},
                                                  {DType::int8, 1},
                                                  {DType::int16, 2},
                                                  {DType::int32, 4},
                                                  {DType::int64, 8},
                                                  {DType::uint8, 1},
                                                  {DType::uint16, 2},
                                                  {DType::uint32, 4},
                                                  {DType::uint64, 8},
                                                  {DType::float16, 2},
                                                  {DType::bfloat16, 2},
                                                  {DType::float32, 4},
                                                  {DType::float64, 8}}) {
    EXPECT_EQ(dtype_size(dtype), size);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
  }
}

TEST(DType, UnknownNamesGetTheList) {
  EXPECT_THAT([] { parse_dtype("float8"); },
              ::testing::ThrowsMessage<Error>(
                  "[dtype] must be one of bool, int8, int16, int32, int64, uint8, uint16, uint32, "
                  "uint64, float16, bfloat16, float32, float64, got 'float8'"));
  EXPECT_THROW(parse_dtype(""), Error);
}

}  // namespace
}  // namespace sextant

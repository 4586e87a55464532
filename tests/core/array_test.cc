// The elements of arrays of any type, shown and converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/npy_bytes.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

template <class T>
Array array_of(const std::vector<T>& values) {
  Array array;
  array.dtype = dtype_of<T>;
  array.shape = Shape{static_cast<std::int64_t>(values.size())};
  array.bytes = Tensor<std::byte>(Shape{static_cast<std::int64_t>(values.size() * sizeof(T))});
  std::memcpy(array.bytes.data(), values.data(), values.size() * sizeof(T));
  return array;
}

TEST(Array, ShowsItsElementsAsItsDtypeOnly) {
  const Array array = array_of<std::int32_t>({1, 2});
  EXPECT_THAT(list(array.as<std::int32_t>()), ElementsAre(1, 2));
  EXPECT_THAT(
      [&] { array.as<float>(); },
      ThrowsMessage<Error>("[array.as] must be the dtype of the array, int32, got float32"));
  EXPECT_THROW(array.as<std::uint32_t>(), Error);
  const Array none;
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.as<float>().count(), 0);
}

TEST(Array, ConvertsBetweenFloatsWithOneRounding) {
  const double value = 1 + 0x1p-11 + 0x1p-40;  // rounds to 1 through float32
  const Array array = array_of<double>({value, 1e300, -0.0});
  const auto half = array.to<float16>();
  EXPECT_EQ(half(0).bits, 0x3c01);
  EXPECT_EQ(half(1).bits, 0x7c00);
  EXPECT_EQ(half(2).bits, 0x8000);
  EXPECT_EQ(array.to<float>()(0), static_cast<float>(value));
  EXPECT_EQ(array.to<float>()(1), std::numeric_limits<float>::infinity());
  EXPECT_EQ(array.to<double>()(0), value);
  EXPECT_TRUE(std::isnan(array_of<float>({NAN}).to<double>()(0)));
  EXPECT_EQ(array_of<bfloat16>({bfloat16(-2.5)}).to<double>()(0), -2.5);
}

TEST(Array, ConvertsIntegersToFloatsWithOneRounding) {
  // Just above the midpoint of two bfloat16 (2^62 and 2^62 + 2^55), by less than float64 can see.
  const std::int64_t above = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  const Array array = array_of<std::int64_t>(
      {above, -above, above - 1, std::numeric_limits<std::int64_t>::min(), 3, -1});
  const auto brief = array.to<bfloat16>();
  EXPECT_EQ(static_cast<double>(brief(0)), 0x1p62 + 0x1p55);
  EXPECT_EQ(static_cast<double>(brief(1)), -0x1p62 - 0x1p55);
  EXPECT_EQ(static_cast<double>(brief(2)), 0x1p62);
  EXPECT_EQ(static_cast<double>(brief(3)), -0x1p63);
  EXPECT_EQ(static_cast<double>(brief(4)), 3);
  EXPECT_EQ(static_cast<double>(brief(5)), -1);
  EXPECT_EQ(array_of<std::uint64_t>({~std::uint64_t{0}}).to<double>()(0), 0x1p64);
  EXPECT_EQ(static_cast<double>(array_of<std::uint64_t>({~std::uint64_t{0}}).to<bfloat16>()(0)),
            0x1p64);
  EXPECT_EQ(array_of<std::int32_t>({16777217, -16777219}).to<float>()(0), 16777216.0F);
}

TEST(Array, ConvertsFloatsToTheNearestInteger) {
  EXPECT_THAT(list(array_of<double>({0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6}).to<std::int32_t>()),
              ElementsAre(0, 2, 2, 0, -2, 2, -3));
  EXPECT_EQ(array_of<double>({-0x1p63}).to<std::int64_t>()(0),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(array_of<float>({127.4F}).to<std::int8_t>()(0), 127);
  EXPECT_EQ(array_of<double>({255.4, -0.4}).to<std::uint8_t>()(0), 255);
}

TEST(Array, RefusesIntegersThatDoNotFit) {
  EXPECT_THAT([] { array_of<double>({0x1p63}).to<std::int64_t>(); },
              ThrowsMessage<Error>("[array.to] must hold values that fit int64"));
  EXPECT_THROW(array_of<double>({NAN}).to<std::int32_t>(), Error);
  EXPECT_THROW(array_of<double>({INFINITY}).to<std::int32_t>(), Error);
  EXPECT_THROW(array_of<float>({127.5F}).to<std::int8_t>(), Error);
  EXPECT_THROW(array_of<float>({-0.6F}).to<std::uint8_t>(), Error);
  EXPECT_THROW(array_of<std::int32_t>({-1}).to<std::uint64_t>(), Error);
  EXPECT_THROW(array_of<std::uint64_t>({~std::uint64_t{0}}).to<std::int64_t>(), Error);
  EXPECT_THROW(array_of<std::int64_t>({128}).to<std::int8_t>(), Error);
  EXPECT_EQ(array_of<std::int64_t>({-128}).to<std::int8_t>()(0), -128);
}

TEST(Array, RefusesBytesThatDoNotFitTheShape) {
  Array empty;
  empty.shape = {1000000};
  EXPECT_THAT(
      [&] { empty.as<float>(); },
      ThrowsMessage<Error>("[array.as] must hold the bytes of [1000000] elements of float32, "
                           "got 0"));
  EXPECT_THROW(empty.to<double>(), Error);
  Array wider = array_of<float>({1, 2});
  wider.dtype = DType::float64;
  EXPECT_THROW(wider.as<double>(), Error);
  EXPECT_THROW(wider.to<float>(), Error);
  Array shorter = array_of<double>({1, 2});
  shorter.shape = {1};
  EXPECT_THROW(shorter.to<float>(), Error);
  Array unknown = array_of<float>({1});
  unknown.dtype = static_cast<DType>(99);
  EXPECT_THROW(unknown.to<float>(), Error);
  EXPECT_EQ(Array{}.to<float>().count(), 0);
}

TEST(Array, ConvertsBools) {
  EXPECT_THAT(list(array_of<std::uint8_t>({0, 1, 7}).to<bool>()), ElementsAre(false, true, true));
  EXPECT_THAT(list(array_of<double>({0, -0.0, 0.1, NAN}).to<bool>()),
              ElementsAre(false, false, true, true));
  Array flags = array_of<std::uint8_t>({0, 1});
  flags.dtype = DType::boolean;
  EXPECT_THAT(list(flags.to<float>()), ElementsAre(0, 1));
  EXPECT_THAT(list(flags.to<std::int64_t>()), ElementsAre(0, 1));
  EXPECT_EQ(flags.to<bfloat16>()(1).bits, 0x3f80);
}

}  // namespace
}  // namespace sextant

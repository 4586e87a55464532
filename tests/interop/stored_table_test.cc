// Tables that others stored, and how finely.
#include "sextant/interop/stored_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/core/npy.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(ParseNumberTable, ReadsOffHowFinelyNumbersWereWritten) {
  EXPECT_EQ(parse_number_table("0.5,1\n", "t").unit_roundoff, 0x1p-8);  // no finer than bfloat16
  EXPECT_EQ(parse_number_table("0.84147096,1\n", "t").unit_roundoff, 0x1p-24);
  EXPECT_EQ(parse_number_table("0.8414709848078965;1\n", "t").unit_roundoff, 0x1p-53);
  EXPECT_THAT(error_of([] { parse_number_table("1 2\n3\n", "t"); }), HasSubstr("[t line 2]"));
}

TEST(StoredTable, AxesOfLengthOneAreDropped) {
  Tensor<float> model({1, 3, 2});
  model(0, 2, 1) = 7;
  const std::string bytes = format_npy<float>(model.view());
  const StoredTable table = parse_table(bytes, "t");
  EXPECT_EQ(table.values.shape(), (Shape{3, 2}));
  EXPECT_EQ(table.values(2, 1), 7);
  EXPECT_EQ(table.dtype, DType::float32);
  EXPECT_EQ(table.unit_roundoff, 0x1p-24);
  EXPECT_EQ(parse_any_array(bytes, "t").values.shape(), (Shape{1, 3, 2}));
}

TEST(StoredTable, RawBitsAreBfloat16OnlyWhereSomebodySaysSo) {
  Tensor<bfloat16> bits({1, 2});
  bits(0, 1) = static_cast<bfloat16>(1.5f);
  const std::string bytes = format_npy<bfloat16>(bits.view());
  EXPECT_THAT(error_of([&] { parse_table(bytes, "t"); }), HasSubstr("[t] holds uint16"));
  const StoredTable table = parse_table(bytes, "t", DType::bfloat16);
  EXPECT_EQ(table.values(0, 1), 1.5);
  EXPECT_EQ(table.unit_roundoff, 0x1p-8);
  EXPECT_THAT(error_of([&] { parse_table(bytes, "t", DType::int32); }), HasSubstr("[dtype]"));
}

TEST(StoredTable, WholeNumbersAreArraysAndNoTables) {
  Tensor<std::int64_t> ids({2, 2});
  const std::string bytes = format_npy<std::int64_t>(ids.view());
  EXPECT_THAT(error_of([&] { parse_table(bytes, "t"); }), HasSubstr("got int64"));
  EXPECT_EQ(parse_any_array(bytes, "t").unit_roundoff, 0x1p-53);
}

// As NumPy writes [[1+2j, 3+4j, 5+6j]]: a header whose length is a multiple of 64.
TEST(StoredTable, ComplexNumbersHaveTheirPartsOnAnAxisOfTheirOwn) {
  const auto file = [](const std::string& type, const std::string& shape, const auto& numbers) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape;
    header += ", }";
    header.resize(117, ' ');
    std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
    bytes += header + "\n";
    bytes.append(reinterpret_cast<const char*>(numbers.data()),
                 numbers.size() * sizeof(numbers[0]));
    return bytes;
  };
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  const StoredTable table = parse_any_array(file("<c8", "(1, 3)", six), "t");
  ASSERT_EQ(table.values.shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(table.values(0, 2, 1), 6);
  EXPECT_EQ(table.dtype, DType::float32);
  const std::vector<double> wide = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(parse_any_array(file("<c16", "(3,)", wide), "t").values.shape(), (Shape{3, 2}));
  EXPECT_THAT(error_of([&] { parse_table(file("<c8", "(1, 3)", six), "t"); }),
              HasSubstr("complex numbers are not supported"));
}

TEST(StoredTable, TheTypeThatWasSaidGoesBeforeTheDigits) {
  EXPECT_EQ(parse_table("0.84147096,1\n", "t", DType::float16).unit_roundoff, 0x1p-11);
}

}  // namespace
}  // namespace sextant

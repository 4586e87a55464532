// .npy files: what NumPy writes and what we write. What untrusted files may hold is in
// npy_header_test.cc.
#include "sextant/core/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "core/npy_bytes.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ParseNpy, ReadsWhatNumpySaved) {
  const Array array = parse_npy(saved_by_numpy());
  EXPECT_EQ(array.dtype, DType::float32);
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_THAT(list(array.as<float>()), ElementsAre(0, 1, 2, 3, 4, 5.5));
  EXPECT_EQ(array.as<float>()(1, 2), 5.5F);
}

TEST(ParseNpy, ReadsEveryDtype) {
  const auto dtype_of_file = [](const char* descr, std::size_t size) {
    return parse_npy(file(header(descr, "(3,)"), std::string(3 * size, '\1'))).dtype;
  };
  EXPECT_EQ(dtype_of_file("|b1", 1), DType::boolean);
  EXPECT_EQ(dtype_of_file("|i1", 1), DType::int8);
  EXPECT_EQ(dtype_of_file("<i2", 2), DType::int16);
  EXPECT_EQ(dtype_of_file("<i4", 4), DType::int32);
  EXPECT_EQ(dtype_of_file("<i8", 8), DType::int64);
  EXPECT_EQ(dtype_of_file("|u1", 1), DType::uint8);
  EXPECT_EQ(dtype_of_file("<u2", 2), DType::uint16);
  EXPECT_EQ(dtype_of_file("<u4", 4), DType::uint32);
  EXPECT_EQ(dtype_of_file("<u8", 8), DType::uint64);
  EXPECT_EQ(dtype_of_file("<f2", 2), DType::float16);
  EXPECT_EQ(dtype_of_file("<f4", 4), DType::float32);
  EXPECT_EQ(dtype_of_file("<f8", 8), DType::float64);
  EXPECT_EQ(dtype_of_file("<V2", 2), DType::bfloat16);
  EXPECT_EQ(dtype_of_file("|V2", 2), DType::bfloat16);
  EXPECT_EQ(dtype_of_file("bfloat16", 2), DType::bfloat16);
}

TEST(ParseNpy, ReadsAllVersions) {
  const std::string text = header("<i4", "(2,)");
  for (const int version : {1, 2, 3}) {
    EXPECT_THAT(elements<std::int32_t>(parse_npy(file(text, raw<std::int32_t>({7, -8}), version))),
                ElementsAre(7, -8));
  }
}

TEST(ParseNpy, ReadsBigEndianAndUnmarkedBytes) {
  EXPECT_THAT(elements<std::int16_t>(parse_npy(file(header(">i2", "(2,)"), "\x01\x02\xff\xfe"s))),
              ElementsAre(258, -2));
  EXPECT_THAT(elements<double>(parse_npy(file(header(">f8", "(1,)"), "\x3f\xf8\0\0\0\0\0\0"s))),
              ElementsAre(1.5));
  EXPECT_THAT(elements<float>(parse_npy(file(header(">f4", "()"), "\x3f\xc0\0\0"s))),
              ElementsAre(1.5));
  for (const char* descr : {"=i4", "|i4", "i4"}) {
    EXPECT_THAT(
        elements<std::int32_t>(parse_npy(file(header(descr, "(1,)"), raw<std::int32_t>({77})))),
        ElementsAre(77))
        << descr;
  }
}

TEST(ParseNpy, TurnsFortranOrderIntoRows) {
  const std::string text = header("<i4", "(2, 3)", "True");
  EXPECT_THAT(elements<std::int32_t>(parse_npy(file(text, raw<std::int32_t>({0, 3, 1, 4, 2, 5})))),
              ElementsAre(0, 1, 2, 3, 4, 5));
  // Every size of element, three axes, bytes swapped as well: a[i, j, k] = 100 i + 10 j + k.
  std::string columns[4];
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        const int value = 100 * i + 10 * j + k;
        columns[0] += static_cast<char>(value);
        columns[1] += "\0"s + static_cast<char>(value);
        columns[2] += "\0\0\0"s + static_cast<char>(value);
        columns[3] += "\0\0\0\0\0\0\0"s + static_cast<char>(value);
      }
    }
  }
  const char* names[] = {">u1", ">u2", ">u4", ">u8"};
  for (int n = 0; n < 4; ++n) {
    const Array array = parse_npy(file(header(names[n], "(2, 3, 2)", "True"), columns[n]));
    const Tensor<std::int32_t> values = array.to<std::int32_t>();
    EXPECT_THAT(list(values.view()),
                ElementsAre(0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121))
        << names[n];
  }
}

TEST(ParseNpy, ReadsScalarsAndEmptyArrays) {
  const Array scalar = parse_npy(file(header("<f8", "()"), raw<double>({2.5})));
  EXPECT_EQ(scalar.shape, Shape{});
  EXPECT_EQ(scalar.as<double>()(), 2.5);
  for (const char* order : {"False", "True"}) {
    const Array empty = parse_npy(file(header("<f8", "(3, 0, 2)", order), ""));
    EXPECT_EQ(empty.shape, (Shape{3, 0, 2}));
    EXPECT_EQ(empty.to<float>().count(), 0);
  }
}

TEST(ParseNpy, MakesBoolsZeroOrOne) {
  const Array array = parse_npy(file(header("|b1", "(4,)"), "\0\1\2\xff"s));
  EXPECT_THAT(list(array.as<std::uint8_t>()), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(list(array.as<bool>()), ElementsAre(false, true, true, true));
}

TEST(FormatNpy, WritesAHeaderThatNumpyPads) {
  Tensor<float> values(Shape{2, 3});
  const std::string bytes = format_npy<float>(values);
  EXPECT_EQ(bytes.size(), 128U + 24U);
  EXPECT_EQ(bytes.substr(0, 10), "\x93NUMPY\x01\x00\x76\x00"s);
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  EXPECT_EQ(bytes[127], '\n');
}

TEST(FormatNpy, IsByteForByteWhatNumpySaves) {
  Tensor<float> values(Shape{2, 3});
  for (int i = 0; i < 5; ++i) values.data()[i] = static_cast<float>(i);
  values(1, 2) = 5.5F;
  EXPECT_EQ(format_npy<float>(values), saved_by_numpy());
}

TEST(FormatNpy, SaysEveryShapeAsPythonDoes) {
  const auto shape_text = [](const Shape& shape) {
    const std::string bytes = format_npy<std::uint8_t>(Tensor<std::uint8_t>(shape));
    EXPECT_EQ((bytes.find('\n') + 1) % 64, 0U);
    const std::size_t begin = bytes.find("'shape': ") + 9;
    return bytes.substr(begin, bytes.find(", }") - begin);
  };
  EXPECT_EQ(shape_text({}), "()");
  EXPECT_EQ(shape_text({7}), "(7,)");
  EXPECT_EQ(shape_text({0}), "(0,)");
  EXPECT_EQ(shape_text({7, 8}), "(7, 8)");
  EXPECT_EQ(shape_text({1, 2, 3, 1, 1, 1, 1, 1}), "(1, 2, 3, 1, 1, 1, 1, 1)");
}

template <class T>
class NpyRoundTrip : public ::testing::Test {};
using AllTypes =
    ::testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float16, bfloat16, float, double>;
struct NpyNames {
  template <class T>
  static std::string GetName(int) {
    return std::string(dtype_name(dtype_of<T>));
  }
};
TYPED_TEST_SUITE(NpyRoundTrip, AllTypes, NpyNames);

TYPED_TEST(NpyRoundTrip, KeepsEveryElementInAnyOrderOfAxes) {
  Tensor<TypeParam> values(Shape{3, 4, 2});
  for (std::int64_t i = 0; i < values.count(); ++i) {
    values.data()[i] = static_cast<TypeParam>(static_cast<double>(i % 2 == 0 ? i : 2 * i));
  }
  const View<const TypeParam> all = static_cast<const Tensor<TypeParam>&>(values).view();
  for (const auto& view : {all, all.transpose(0, 2), all.narrow(1, 1, 2), all.select(1, 3)}) {
    Array array = parse_npy(format_npy<TypeParam>(view));
    EXPECT_EQ(array.shape, view.shape());
    if (std::is_same_v<TypeParam, bfloat16>) {
      EXPECT_EQ(array.dtype, DType::uint16);
      array.dtype = DType::bfloat16;
    }
    EXPECT_EQ(list(array.as<TypeParam>()), list(view));
  }
}

TEST(SaveNpy, WritesAFileThatLoads) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("sextant-npy-test-" + std::to_string(::getpid()) + ".npy"))
                               .string();
  Tensor<double> values(Shape{2, 2});
  values(0, 1) = 0.1;
  values(1, 0) = -3;
  save_npy(path, values);
  EXPECT_EQ(read_file(path), format_npy<double>(values));
  EXPECT_THAT(elements<double>(load_npy(path)), ElementsAre(0, 0.1, -3, 0));
  save_npy<double>(path, static_cast<const Tensor<double>&>(values).view().transpose(0, 1));
  EXPECT_THAT(elements<double>(load_npy(path)), ElementsAre(0, -3, 0.1, 0));
  write_file(path, "text");
  EXPECT_THAT([&] { load_npy(path); },
              ThrowsMessage<Error>(HasSubstr("[" + path + "] is not a .npy file")));
  std::filesystem::remove(path);
  EXPECT_THAT([&] { load_npy(path); },
              ThrowsMessage<Error>(HasSubstr("[" + path + "] cannot be opened")));
  EXPECT_THROW(save_npy(path + "/a.npy", values), Error);
}

}  // namespace
}  // namespace sextant

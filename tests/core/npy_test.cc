// .npy files: what NumPy writes, what we write, and what strangers may write.
#include "sextant/core/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// numpy.save of [[0, 1, 2], [3, 4, 5.5]] as float32 by NumPy 1.24.2, byte for byte.
std::string saved_by_numpy() {
  return "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s +
         std::string(58, ' ') +
         "\n\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xb0\x40"s;
}

std::string file(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<std::remove_const_t<T>> list(View<T> view) {
  const auto copy = copy_of(view);
  return {copy.span().begin(), copy.span().end()};
}

void expect_refused(const std::string& bytes, const std::string& message) {
  EXPECT_THAT([&] { parse_npy(bytes, "x.npy"); }, ThrowsMessage<Error>("[x.npy] " + message));
}

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
    EXPECT_THAT(list(parse_npy(file(text, raw<std::int32_t>({7, -8}), version)).as<std::int32_t>()),
                ElementsAre(7, -8));
  }
}

TEST(ParseNpy, ReadsBigEndianAndUnmarkedBytes) {
  EXPECT_THAT(list(parse_npy(file(header(">i2", "(2,)"), "\x01\x02\xff\xfe"s)).as<std::int16_t>()),
              ElementsAre(258, -2));
  EXPECT_THAT(list(parse_npy(file(header(">f8", "(1,)"), "\x3f\xf8\0\0\0\0\0\0"s)).as<double>()),
              ElementsAre(1.5));
  EXPECT_THAT(list(parse_npy(file(header(">f4", "()"), "\x3f\xc0\0\0"s)).as<float>()),
              ElementsAre(1.5));
  for (const char* descr : {"=i4", "|i4", "i4"}) {
    EXPECT_THAT(
        list(parse_npy(file(header(descr, "(1,)"), raw<std::int32_t>({77}))).as<std::int32_t>()),
        ElementsAre(77))
        << descr;
  }
}

TEST(ParseNpy, TurnsFortranOrderIntoRows) {
  const std::string text = header("<i4", "(2, 3)", "True");
  EXPECT_THAT(list(parse_npy(file(text, raw<std::int32_t>({0, 3, 1, 4, 2, 5}))).as<std::int32_t>()),
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

TEST(ParseNpy, ReadsAnySpellingOfTheHeader) {
  for (const char* text :
       {"{'shape':(2,),'fortran_order':False,'descr':'<i4'}",
        "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (2, )}",
        " { 'descr' : '<i4' ,\n'fortran_order'\t: False , 'shape' : ( 2 , ) , } \r\n",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2L,), }"}) {
    EXPECT_THAT(list(parse_npy(file(text, raw<std::int32_t>({1, 2}))).as<std::int32_t>()),
                ElementsAre(1, 2))
        << text;
  }
}

TEST(ParseNpy, MakesBoolsZeroOrOne) {
  const Array array = parse_npy(file(header("|b1", "(4,)"), "\0\1\2\xff"s));
  EXPECT_THAT(list(array.as<std::uint8_t>()), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(list(array.as<bool>()), ElementsAre(false, true, true, true));
}

TEST(ParseNpy, RefusesWhatIsNoNpyFile) {
  const std::string message = "is not a .npy file: it does not begin with \\x93NUMPY";
  expect_refused("", message);
  expect_refused("PK\x03\x04", message);
  expect_refused("\x93NUMP", message);
  expect_refused("\x93NUMPX\x01\x00\x76\x00"s, message);
}

TEST(ParseNpy, RefusesUnknownVersions) {
  expect_refused("\x93NUMPY\x04\x00\0\0\0\0"s, "has .npy version 4.0, must be 1.0, 2.0 or 3.0");
  expect_refused("\x93NUMPY\x01\x01\0\0\0\0"s, "has .npy version 1.1, must be 1.0, 2.0 or 3.0");
  expect_refused("\x93NUMPY\x00\x00\0\0\0\0"s, "has .npy version 0.0, must be 1.0, 2.0 or 3.0");
  expect_refused("\x93NUMPY\xff\x00\0\0\0\0"s, "has .npy version 255.0, must be 1.0, 2.0 or 3.0");
}

TEST(ParseNpy, RefusesEveryFileThatIsCutOff) {
  const std::string whole = saved_by_numpy();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_npy(whole.substr(0, length)), Error) << length;
  }
  expect_refused("\x93NUMPY\x01"s, "is cut off inside its header");
  expect_refused("\x93NUMPY\x02\x00\x10\0\0"s, "is cut off inside its header");
  expect_refused("\x93NUMPY\x01\x00\x76\x00{'descr'"s,
                 "is cut off inside its header: it says 118 bytes, but 8 are there");
  expect_refused("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s,
                 "is cut off inside its header: it says 4294967295 bytes, but 2 are there");
  expect_refused(
      whole.substr(0, whole.size() - 1),
      "is cut off: shape [2, 3] of float32 needs more than the 23 bytes that follow its header");
}

TEST(ParseNpy, RefusesBytesLeftOver) {
  expect_refused(saved_by_numpy() + "ab", "has 2 bytes left over after shape [2, 3] of float32");
  expect_refused(file(header("<f4", "(0,)"), "a"),
                 "has 1 bytes left over after shape [0] of float32");
}

TEST(ParseNpy, AllocatesNoMoreThanTheFileHolds) {
  expect_refused(file(header("<f8", "(1099511627776, 1048576)"), "12345678"),
                 "is cut off: shape [1099511627776, 1048576] of float64 needs more than the 8 "
                 "bytes that follow "
                 "its header");
}

TEST(ParseNpy, RefusesShapesThatOverflow) {
  expect_refused(file(header("<f4", "(4294967296, 4294967296)"), ""),
                 "has a shape that overflows: more than 2^62 elements");
  expect_refused(file(header("<f4", "(0, 4294967296, 4294967296)"), ""),
                 "has a shape that overflows: more than 2^62 elements");
  expect_refused(file(header("<f4", "(99999999999999999999,)"), ""),
                 "has a shape that overflows: a size that does not fit 64 bits");
  expect_refused(file(header("<f4", "(-99999999999999999999,)"), ""),
                 "has a shape that overflows: a size that does not fit 64 bits");
}

TEST(ParseNpy, RefusesOtherShapes) {
  expect_refused(file(header("<f4", "(2, -3)"), ""), "has a negative size in its shape: -3");
  expect_refused(file(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "1234"),
                 "must have at most 8 axes");
  EXPECT_EQ(parse_npy(file(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1)"), "1234")).shape.rank(), 8);
  for (const char* shape : {"3", "(3)", "[3]", "(,)", "(3,,)", "(3 3)", "(3.0,)", "(a,)", "(3,",
                            "None", "((3,),)", "(+3,)"}) {
    EXPECT_THAT([&] { parse_npy(file(header("<f4", shape), std::string(12, 'x'))); },
                ThrowsMessage<Error>(HasSubstr("has an unreadable header: ")))
        << shape;
  }
}

TEST(ParseNpy, RefusesDtypesThatItCannotHold) {
  const std::string allowed = "must be bool, an integer, float16, bfloat16, float32 or float64";
  expect_refused(file(header("|O", "(1,)"), ""),
                 "has dtype '|O', and pickled objects are refused: they can run any program");
  expect_refused(file(header("<c16", "(1,)"), ""),
                 "has dtype '<c16', and complex numbers are not supported: " + allowed);
  expect_refused(file(header("<f16", "(1,)"), ""),
                 "has dtype '<f16', and floats of this size are not supported: " + allowed);
  expect_refused(file(header("<U5", "(1,)"), ""),
                 "has dtype '<U5', and texts are not supported: " + allowed);
  expect_refused(file(header("|S5", "(1,)"), ""),
                 "has dtype '|S5', and texts are not supported: " + allowed);
  for (const char* descr :
       {"<M8[ns]", "|V3", "<i3", "", "<", "<<f4", "<f4 ", "float32", "b2", "\x80"}) {
    EXPECT_THAT([&] { parse_npy(file(header(descr, "(1,)"), "")); },
                ThrowsMessage<Error>(AllOf(HasSubstr("has dtype '"), HasSubstr(allowed))))
        << descr;
  }
  const char* structured =
      "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }";
  expect_refused(file(structured, ""),
                 "has a structured dtype, must be one plain number per element");
  expect_refused(file("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,), }", ""),
                 "has a structured dtype, must be one plain number per element");
}

TEST(ParseNpy, RefusesHeadersThatAreNotThreeEntries) {
  const std::string data(12, 'x');
  const auto refused = [&](const std::string& text, const std::string& reason) {
    EXPECT_THAT([&] { parse_npy(file(text, data), "x.npy"); },
                ThrowsMessage<Error>(HasSubstr("[x.npy] has an unreadable header: " + reason)))
        << text;
  };
  refused("", "expected a dictionary");
  refused("[]", "expected a dictionary");
  refused("{}", "no entry descr");
  refused("{'descr': '<f4', 'shape': (3,)}", "no entry fortran_order");
  refused("{'descr': '<f4', 'fortran_order': False}", "no entry shape");
  refused("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
          "two entries descr");
  refused("{'shape': (3,), 'shape': (3,)}", "two entries shape");
  refused("{'fortran_order': False, 'fortran_order': False}", "two entries fortran_order");
  refused("{'more': 1, 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
          "unknown entry 'more'");
  refused("{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}", "expected , or }");
  refused("{'descr' '<f4'}", "expected :");
  refused("{descr: '<f4'}", "expected a quoted name");
  refused("{,}", "expected a quoted name");
  refused("{'descr': <f4}", "expected a quoted name");
  refused("{'descr': '<f4", "a quoted name does not end");
  refused("{'descr': '<f\\x34'}", "a quoted name does not end");
  refused("{'fortran_order': 0}", "fortran_order must be True or False");
  refused("{'fortran_order': Falsehood}", "expected , or }");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + 1",
          "expected nothing after the dictionary");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)", "expected , or }");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,),", "expected a quoted name");
  refused(std::string(60000, '{'), "expected a quoted name");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(60000, '('),
          "expected an integer size");
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
struct Names {
  template <class T>
  static std::string GetName(int) {
    return std::string(dtype_name(dtype_of<T>));
  }
};
TYPED_TEST_SUITE(NpyRoundTrip, AllTypes, Names);

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
  const std::string path =
      (std::filesystem::temp_directory_path() / "sextant-npy-test.npy").string();
  Tensor<double> values(Shape{2, 2});
  values(0, 1) = 0.1;
  values(1, 0) = -3;
  save_npy(path, values);
  EXPECT_EQ(read_file(path), format_npy<double>(values));
  EXPECT_THAT(list(load_npy(path).as<double>()), ElementsAre(0, 0.1, -3, 0));
  save_npy<double>(path, static_cast<const Tensor<double>&>(values).view().transpose(0, 1));
  EXPECT_THAT(list(load_npy(path).as<double>()), ElementsAre(0, -3, 0.1, 0));
  write_file(path, "text");
  EXPECT_THAT([&] { load_npy(path); },
              ThrowsMessage<Error>(HasSubstr("[" + path + "] is not a .npy file")));
  std::filesystem::remove(path);
  EXPECT_THAT([&] { load_npy(path); },
              ThrowsMessage<Error>(HasSubstr("[" + path + "] cannot be opened")));
  EXPECT_THROW(save_npy(path + "/a.npy", values), Error);
}

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
  EXPECT_EQ(Array().count(), 0);
  EXPECT_EQ(Array().as<float>().count(), 0);
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
  EXPECT_THAT(
      list(array_of<double>({0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6}).to<std::int32_t>().view()),
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

TEST(Array, ConvertsBools) {
  EXPECT_THAT(list(array_of<std::uint8_t>({0, 1, 7}).to<bool>().view()),
              ElementsAre(false, true, true));
  EXPECT_THAT(list(array_of<double>({0, -0.0, 0.1, NAN}).to<bool>().view()),
              ElementsAre(false, false, true, true));
  Array flags = array_of<std::uint8_t>({0, 1});
  flags.dtype = DType::boolean;
  EXPECT_THAT(list(flags.to<float>().view()), ElementsAre(0, 1));
  EXPECT_THAT(list(flags.to<std::int64_t>().view()), ElementsAre(0, 1));
  EXPECT_EQ(flags.to<bfloat16>()(1).bits, 0x3f80);
}

}  // namespace
}  // namespace sextant

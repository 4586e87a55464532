// .safetensors files: what others write, what we write, and every way to be broken.
#include "sextant/core/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/npy_bytes.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

std::string with_length(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

// One tensor "w".
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

template <class T>
Array array_with(const Shape& shape, const std::vector<T>& values) {
  Array array;
  array.dtype = dtype_of<T>;
  array.shape = shape;
  array.bytes = Tensor<std::byte>(Shape{static_cast<std::int64_t>(values.size() * sizeof(T))});
  if (!values.empty()) {
    std::memcpy(array.bytes.data(), values.data(), values.size() * sizeof(T));
  }
  return array;
}

SafetensorsFile parsed(const std::string& bytes, const std::string& where = "safetensors") {
  return load_safetensors(TensorFile::parse(bytes, where));
}

void expect_file_refused(const std::string& bytes, const std::string& message) {
  EXPECT_THAT([&] { parsed(bytes, "x"); }, ThrowsMessage<Error>("[x] " + message));
}

TEST(Safetensors, ReadsWhatTheReferenceLibrarySaved) {
  // safetensors 0.4: save({"b": float32 [[1, 2, 3]], "a": int64 [7]}, metadata={"format": "pt"}).
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F32","shape":[1,3],"data_offsets":[8,20]}})";
  const SafetensorsFile file =
      parsed(with_length(header + "  ", raw<std::int64_t>({7}) + raw<float>({1, 2, 3})));
  EXPECT_THAT(file.metadata, ElementsAre(Pair("format", "pt")));
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors.at("b").shape, (Shape{1, 3}));
  EXPECT_THAT(list(file.tensors.at("b").as<float>()), ElementsAre(1, 2, 3));
  EXPECT_THAT(list(file.tensors.at("a").as<std::int64_t>()), ElementsAre(7));
}

TEST(Safetensors, ReadsEveryDtype) {
  const auto dtype_of_file = [](const char* name, std::size_t size) {
    const std::string offsets = "[0," + std::to_string(3 * size) + "]";
    return parsed(with_length(entry(name, "[3]", offsets), std::string(3 * size, '\1')))
        .tensors.at("w")
        .dtype;
  };
  EXPECT_EQ(dtype_of_file("F64", 8), DType::float64);
  EXPECT_EQ(dtype_of_file("F32", 4), DType::float32);
  EXPECT_EQ(dtype_of_file("F16", 2), DType::float16);
  EXPECT_EQ(dtype_of_file("BF16", 2), DType::bfloat16);
  EXPECT_EQ(dtype_of_file("I64", 8), DType::int64);
  EXPECT_EQ(dtype_of_file("I32", 4), DType::int32);
  EXPECT_EQ(dtype_of_file("I16", 2), DType::int16);
  EXPECT_EQ(dtype_of_file("I8", 1), DType::int8);
  EXPECT_EQ(dtype_of_file("U64", 8), DType::uint64);
  EXPECT_EQ(dtype_of_file("U32", 4), DType::uint32);
  EXPECT_EQ(dtype_of_file("U16", 2), DType::uint16);
  EXPECT_EQ(dtype_of_file("U8", 1), DType::uint8);
  EXPECT_EQ(dtype_of_file("BOOL", 1), DType::boolean);
}

TEST(Safetensors, ReadsScalarsEmptyTensorsAndNoTensors) {
  EXPECT_EQ(parsed(with_length("{}")).tensors.size(), 0U);
  EXPECT_EQ(parsed(with_length(entry("F32", "[]", "[0,4]"), raw<float>({2.5F})))
                .tensors.at("w")
                .as<float>()(),
            2.5F);
  const Array empty =
      std::move(parsed(with_length(entry("F32", "[3,0,2]", "[0,0]"))).tensors.at("w"));
  EXPECT_EQ(empty.shape, (Shape{3, 0, 2}));
  EXPECT_EQ(empty.to<double>().count(), 0);
}

TEST(Safetensors, ReadsTensorsInAnyOrderOfTheHeader) {
  const std::string header = R"({"b":{"shape":[1],"data_offsets":[1,2],"dtype":"U8"},)"
                             R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("none":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})";
  const SafetensorsFile file = parsed(with_length(header, "\3\4"));
  EXPECT_THAT(list(file.tensors.at("a").as<std::uint8_t>()), ElementsAre(3));
  EXPECT_THAT(list(file.tensors.at("b").as<std::uint8_t>()), ElementsAre(4));
}

TEST(Safetensors, MakesBoolsZeroOrOne) {
  const SafetensorsFile file = parsed(with_length(entry("BOOL", "[4]", "[0,4]"), "\0\1\2\xff"s));
  EXPECT_THAT(list(file.tensors.at("w").as<std::uint8_t>()), ElementsAre(0, 1, 1, 1));
}

TEST(Safetensors, WritesAlignedHeadersAndWideElementsFirst) {
  std::map<std::string, Array> tensors;
  tensors["a"] = array_with<std::uint8_t>({3}, {1, 2, 3});
  tensors["b"] = array_with<double>({1}, {1.5});
  tensors["c"] = array_with<std::uint8_t>({}, {9});
  const std::string bytes = format_safetensors(tensors, {{"who", "us"}});
  const std::string header =
      R"({"__metadata__":{"who":"us"},"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},)"
      R"("c":{"dtype":"U8","shape":[],"data_offsets":[11,12]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(bytes, with_length(padded, raw<double>({1.5}) + "\1\2\3\t"));
}

TEST(Safetensors, WritesWhatItReads) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.safetensors";
  std::map<std::string, Array> tensors;
  tensors["model.layers.0.weight"] = array_with<float>({2, 3}, {0, -1, 2, 3, 4, 5.5F});
  tensors["quote \" and \u00e9"] = array_with<bfloat16>({2}, {bfloat16(1.5), bfloat16(-2)});
  tensors["none"] = array_with<float16>({0, 5}, {});
  const std::map<std::string, std::string> metadata = {{"k\n", "v\t"}, {"format", "pt"}};
  save_safetensors(path, tensors, metadata);
  const SafetensorsFile file = load_safetensors(path);
  EXPECT_EQ(file.metadata, metadata);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, array] : tensors) {
    const Array& read = file.tensors.at(name);
    EXPECT_EQ(read.dtype, array.dtype) << name;
    EXPECT_EQ(read.shape, array.shape) << name;
    EXPECT_TRUE(std::equal(read.bytes.span().begin(), read.bytes.span().end(),
                           array.bytes.span().begin(), array.bytes.span().end()))
        << name;
  }
  EXPECT_EQ(format_safetensors(file.tensors, file.metadata), read_file(path));
}

TEST(Safetensors, RefusesToWriteWhatNobodyCouldRead) {
  const auto save = [](const std::string& name, Array array,
                       const std::map<std::string, std::string>& metadata = {}) {
    std::map<std::string, Array> tensors;
    tensors[name] = std::move(array);
    format_safetensors(tensors, metadata);
  };
  Array wrong = array_with<float>({2}, {1, 2});
  wrong.shape = Shape{3};
  EXPECT_THAT([&] { save("w", std::move(wrong)); },
              ThrowsMessage<Error>("[save_safetensors] tensor 'w' must hold the bytes of [3] "
                                   "elements of float32, got 8"));
  EXPECT_THAT(
      [&] { save("__metadata__", array_with<float>({1}, {1})); },
      ThrowsMessage<Error>("[save_safetensors] must not have a tensor of the name '__metadata__'"));
  const auto no_utf8 =
      ThrowsMessage<Error>("[save_safetensors] must have names and metadata in UTF-8");
  EXPECT_THAT([&] { save("\xff", array_with<float>({1}, {1})); }, no_utf8);
  const std::map<std::string, std::string> bad = {{"key", "\xc3"}};
  EXPECT_THAT([&] { save("good", array_with<float>({1}, {1}), bad); }, no_utf8);
}

TEST(Safetensors, LeavesTheOldFileWhereTheNewOneCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THAT(
      [&] { save_safetensors(folder / "no/t.safetensors", std::map<std::string, Array>()); },
      ThrowsMessage<Error>(HasSubstr("cannot be written")));
  EXPECT_THAT([&] { load_safetensors(folder / "missing"); },
              ThrowsMessage<Error>(HasSubstr("cannot be opened")));
}

TEST(Safetensors, RefusesEveryFileThatIsCutOffOrGoesOn) {
  std::map<std::string, Array> tensors;
  tensors["a"] = array_with<float>({3}, {1, 2, 3});
  tensors["b"] = array_with<std::uint8_t>({2}, {1, 2});
  const std::string whole = format_safetensors(tensors, {{"k", "v"}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parsed(whole.substr(0, length)), Error) << length;
  }
  expect_file_refused(whole + "!", "has 1 bytes left over after its tensors");
  expect_file_refused(
      "1234567",
      "is not a .safetensors file: it is shorter than the 8 bytes of its header's length");
  expect_file_refused(
      std::string(8, '\xff'),
      "is not a .safetensors file: its header would be 18446744073709551615 bytes long, "
      "must be at most 100000000");
  expect_file_refused(
      "\x01\xe1\xf5\x05\0\0\0\0{}"s,
      "is not a .safetensors file: its header would be 100000001 bytes long, must be at "
      "most 100000000");
  expect_file_refused("\5\0\0\0\0\0\0\0{}"s,
                      "is cut off inside its header: it says 5 bytes, but there are 2");
  expect_file_refused(
      with_length(entry("F32", "[2]", "[0,8]"), "1234567"),
      "tensor 'w' ends at byte 8 of the data, but the file has only 7: it is cut off, or "
      "the offsets are wrong");
}

TEST(Safetensors, RefusesHeadersThatAreNoJson) {
  for (const char* header : {"", " {}", "[]", "null", "PK"}) {
    expect_file_refused(with_length(header), "has a header that does not begin with {");
  }
  for (const char* header :
       {"{", "{} x", "{}{}", "{\"a\"}", "{'a': 1}", "{\"__metadata__\":{}", "{\"\xff\":{}}",
        "{\"a\xc3\":{}}", "{\"\xed\xa0\x80\":{}}", "{\"\\ud800\":{}}", "{\"a\n\":{}}", "{,}",
        "{\"__metadata__\":{\"a\":\"\x80\"}}"}) {
    EXPECT_THAT(
        [&] { parsed(with_length(header), "x"); },
        ThrowsMessage<Error>(HasSubstr("[x, header] must be valid JSON, got an error at byte ")))
        << header;
  }
  EXPECT_THAT(
      [] { parsed(with_length("{}\0{}"s), "x"); },
      ThrowsMessage<Error>("[x, header] must be valid JSON, got an error at byte 3: a zero byte"));
  // Deep nesting is refused where it starts.
  const std::string deep = "{\"a\":" + std::string(1 << 20, '[');
  expect_file_refused(with_length(deep), "must have an object for 'a', got an array");
}

TEST(Safetensors, RefusesValuesOfTheWrongType) {
  expect_file_refused(with_length(R"({"a":1})"), "must have an object for 'a', got a number");
  expect_file_refused(with_length(R"({"a":null})"), "must have an object for 'a', got null");
  expect_file_refused(with_length(R"({"__metadata__":"a"})"),
                      "must have an object for '__metadata__', got a text");
  expect_file_refused(with_length(R"({"__metadata__":{"a":1}})"),
                      "must have strings as metadata, got a number for 'a'");
  expect_file_refused(with_length(R"({"__metadata__":{"a":{}}})"),
                      "must have strings as metadata, got an object for 'a'");
  expect_file_refused(with_length(R"({"w":{"dtype":4}})"),
                      "tensor 'w' must have a string as dtype, got a number");
  expect_file_refused(with_length(R"({"w":{"shape":"4"}})"),
                      "tensor 'w' must have whole numbers of 0 or more as shape, got a text");
  expect_file_refused(
      with_length(R"({"w":{"shape":[-1]}})"),
      "tensor 'w' must have whole numbers of 0 or more as shape, got a negative number");
  for (const char* number : {"1.5", "2.0", "1e3", "18446744073709551616"}) {
    expect_file_refused(
        with_length(R"({"w":{"shape":[)"s + number + "]}}"),
        "tensor 'w' must have whole numbers of 0 or more as shape, got a number with a "
        "fraction, or too large a one");
  }
  expect_file_refused(with_length(R"({"w":{"shape":[[1]]}})"),
                      "tensor 'w' must have whole numbers of 0 or more as shape, got an array");
  expect_file_refused(
      with_length(R"({"w":{"data_offsets":[true,false]}})"),
      "tensor 'w' must have whole numbers of 0 or more as data_offsets, got true or false");
}

void expect_twice(const std::string& bytes, const std::string& key) {
  EXPECT_THAT([&] { parsed(bytes, "x"); },
              ThrowsMessage<Error>("[x, header] has the key '" + key + "' twice in one object"));
}

TEST(Safetensors, RefusesMissingUnknownAndRepeatedKeys) {
  const std::string dtype = R"("dtype":"U8")", shape = R"("shape":[0])",
                    offsets = R"("data_offsets":[0,0])";
  const auto tensor = [](const std::string& inside) {
    return with_length("{\"w\":{" + inside + "}}");
  };
  parsed(tensor(dtype + "," + shape + "," + offsets));
  expect_file_refused(tensor(shape + "," + offsets), "tensor 'w' has no dtype");
  expect_file_refused(tensor(dtype + "," + offsets), "tensor 'w' has no shape");
  expect_file_refused(tensor(dtype + "," + shape), "tensor 'w' has no data_offsets");
  expect_file_refused(
      tensor(dtype + "," + R"("strides":[1])"),
      "tensor 'w' has the unknown key 'strides', must be dtype, shape or data_offsets");
  for (const std::string& key : {dtype, shape, offsets}) {
    expect_twice(tensor(key + "," + key), key.substr(1, key.find(':') - 2));
  }
  const std::string one = "\"w\":{" + dtype + "," + shape + "," + offsets + "}";
  expect_twice(with_length("{" + one + "," + one + "}"), "w");
  expect_twice(with_length(R"({"__metadata__":{},"__metadata__":{}})"), "__metadata__");
  expect_twice(with_length(R"({"__metadata__":{"a":"1","a":"1"}})"), "a");
}

TEST(Safetensors, RefusesUnknownDtypesByName) {
  for (const char* dtype : {"F8_E4M3", "f32", "float32", "", "C64"}) {
    expect_file_refused(
        with_length(entry(dtype, "[1]", "[0,4]"), "1234"),
        "tensor 'w' has dtype '"s + dtype +
            "', must be one of F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, "
            "U8, BOOL");
  }
}

TEST(Safetensors, RefusesShapesThatOverflow) {
  for (const char* shape :
       {"[9223372036854775807]", "[18446744073709551615]", "[4294967296,4294967296]",
        "[0,9223372036854775807]", "[65536,65536,65536,65536]"}) {
    expect_file_refused(with_length(entry("F32", shape, "[0,0]")),
                        "tensor 'w' has a shape that overflows: more than 2^62 elements");
  }
  // 2^62 elements of 8 bytes are 2^65 bytes: more than any pair of offsets.
  expect_file_refused(with_length(entry("F64", "[4611686018427387904]", "[0,0]")),
                      "tensor 'w' has 0 bytes, but is of shape [4611686018427387904] of float64");
  expect_file_refused(with_length(entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), "1234"),
                      "tensor 'w' has more than 8 axes");
}

TEST(Safetensors, RefusesOffsetsThatDoNotFitTheShape) {
  expect_file_refused(with_length(entry("F32", "[2]", "[0,4]"), "1234"),
                      "tensor 'w' has 4 bytes, but is of shape [2] of float32");
  expect_file_refused(with_length(entry("F32", "[1]", "[0,5]"), "12345"),
                      "tensor 'w' has 5 bytes, but is of shape [1] of float32");
  expect_file_refused(with_length(entry("F32", "[1]", "[8,4]"), "12345678"),
                      "tensor 'w' has data_offsets that run backwards: 8 to 4");
  for (const char* offsets : {"[]", "[0]", "[0,4,8]"}) {
    expect_file_refused(with_length(entry("F32", "[1]", offsets), "1234"),
                        "tensor 'w' must have two data_offsets");
  }
  expect_file_refused(
      with_length(entry("U8", "[1]", "[18446744073709551614,18446744073709551615]"), "1"),
      "tensor 'w' ends at byte 18446744073709551615 of the data, but the file has only "
      "1: it is cut off, or the offsets are wrong");
}

TEST(Safetensors, RefusesOverlapsAndGaps) {
  const auto two = [](const std::string& first, const std::string& second, std::size_t size) {
    const std::string kind = R"({"dtype":"U8","shape":[2],"data_offsets":)";
    return with_length("{\"a\":" + kind + first + "},\"b\":" + kind + second + "}}",
                       std::string(size, '1'));
  };
  parsed(two("[0,2]", "[2,4]", 4));
  parsed(two("[2,4]", "[0,2]", 4));
  expect_file_refused(two("[0,2]", "[1,3]", 3),
                      "tensor 'b' overlaps another: it begins at byte 1, must at 2");
  expect_file_refused(two("[0,2]", "[0,2]", 2),
                      "tensor 'b' overlaps another: it begins at byte 0, must at 2");
  expect_file_refused(two("[0,2]", "[3,5]", 5),
                      "tensor 'b' leaves a gap: it begins at byte 3, must at 2");
  expect_file_refused(two("[1,3]", "[3,5]", 5),
                      "tensor 'a' leaves a gap: it begins at byte 1, must at 0");
}

TEST(Safetensors, ShowsHostileNamesHarmlessly) {
  expect_file_refused(with_length("{\"\\u001b[31m\":1}"),
                      "must have an object for '\\x1b[31m', got a number");
}

}  // namespace
}  // namespace sextant

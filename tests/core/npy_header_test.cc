// Headers of .npy files of untrusted files: each mistake has its own clear error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/npy_bytes.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"

namespace sextant {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void expect_header_refused(const std::string& bytes, const std::string& message) {
  EXPECT_THAT([&] { parse_npy(bytes, "x.npy"); }, ThrowsMessage<Error>("[x.npy] " + message));
}

TEST(NpyHeader, ReadsAnySpellingOfTheHeader) {
  for (const char* text :
       {"{'shape':(2,),'fortran_order':False,'descr':'<i4'}",
        "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (2, )}",
        " { 'descr' : '<i4' ,\n'fortran_order'\t: False , 'shape' : ( 2 , ) , } \r\n",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2L,), }"}) {
    EXPECT_THAT(elements<std::int32_t>(parse_npy(file(text, raw<std::int32_t>({1, 2})))),
                ElementsAre(1, 2))
        << text;
  }
}

TEST(NpyHeader, RefusesWhatIsNoNpyFile) {
  const std::string message = "is not a .npy file: it does not begin with \\x93NUMPY";
  expect_header_refused("", message);
  expect_header_refused("PK\x03\x04", message);
  expect_header_refused("\x93NUMP", message);
  expect_header_refused("\x93NUMPX\x01\x00\x76\x00"s, message);
}

TEST(NpyHeader, RefusesUnknownVersions) {
  expect_header_refused("\x93NUMPY\x04\x00\0\0\0\0"s,
                        "has .npy version 4.0, must be 1.0, 2.0 or 3.0");
  expect_header_refused("\x93NUMPY\x01\x01\0\0\0\0"s,
                        "has .npy version 1.1, must be 1.0, 2.0 or 3.0");
  expect_header_refused("\x93NUMPY\x00\x00\0\0\0\0"s,
                        "has .npy version 0.0, must be 1.0, 2.0 or 3.0");
  expect_header_refused("\x93NUMPY\xff\x00\0\0\0\0"s,
                        "has .npy version 255.0, must be 1.0, 2.0 or 3.0");
}

TEST(NpyHeader, RefusesEveryFileThatIsCutOff) {
  const std::string whole = saved_by_numpy();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_npy(whole.substr(0, length)), Error) << length;
  }
  expect_header_refused("\x93NUMPY\x01"s, "is cut off inside its header");
  expect_header_refused("\x93NUMPY\x02\x00\x10\0\0"s, "is cut off inside its header");
  expect_header_refused("\x93NUMPY\x01\x00\x76\x00{'descr'"s,
                        "is cut off inside its header: it says 118 bytes, but there are 8");
  expect_header_refused("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s,
                        "is cut off inside its header: it says 4294967295 bytes, but there are 2");
  expect_header_refused(
      whole.substr(0, whole.size() - 1),
      "is cut off: shape [2, 3] of float32 needs more than the 23 bytes that follow its header");
}

TEST(NpyHeader, RefusesBytesLeftOver) {
  expect_header_refused(saved_by_numpy() + "ab",
                        "has 2 bytes left over after shape [2, 3] of float32");
  expect_header_refused(file(header("<f4", "(0,)"), "a"),
                        "has 1 bytes left over after shape [0] of float32");
}

TEST(NpyHeader, AllocatesNoMoreThanTheFileHolds) {
  expect_header_refused(
      file(header("<f8", "(1099511627776, 1048576)"), "12345678"),
      "is cut off: shape [1099511627776, 1048576] of float64 needs more than the 8 "
      "bytes that follow "
      "its header");
}

TEST(NpyHeader, RefusesShapesThatOverflow) {
  expect_header_refused(file(header("<f4", "(4294967296, 4294967296)"), ""),
                        "has a shape that overflows: more than 2^62 elements");
  expect_header_refused(file(header("<f4", "(0, 4294967296, 4294967296)"), ""),
                        "has a shape that overflows: more than 2^62 elements");
  expect_header_refused(file(header("<f4", "(99999999999999999999,)"), ""),
                        "has a shape that overflows: a size that does not fit 64 bits");
  expect_header_refused(file(header("<f4", "(-99999999999999999999,)"), ""),
                        "has a shape that overflows: a size that does not fit 64 bits");
}

TEST(NpyHeader, RefusesOtherShapes) {
  expect_header_refused(file(header("<f4", "(2, -3)"), ""), "has a negative size in its shape: -3");
  expect_header_refused(file(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "1234"),
                        "must have at most 8 axes");
  EXPECT_EQ(parse_npy(file(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1)"), "1234")).shape.rank(), 8);
  for (const char* shape : {"3", "(3)", "[3]", "(,)", "(3,,)", "(3 3)", "(3.0,)", "(a,)", "(3,",
                            "None", "((3,),)", "(+3,)"}) {
    EXPECT_THAT([&] { parse_npy(file(header("<f4", shape), std::string(12, 'x'))); },
                ThrowsMessage<Error>(HasSubstr("has an unreadable header: ")))
        << shape;
  }
}

TEST(NpyHeader, RefusesDtypesThatItCannotHold) {
  const std::string allowed = "must be bool, an integer, float16, bfloat16, float32 or float64";
  expect_header_refused(
      file(header("|O", "(1,)"), ""),
      "has dtype '|O', and pickled objects are refused: they can run any program");
  expect_header_refused(file(header("<c16", "(1,)"), ""),
                        "has dtype '<c16', and complex numbers are not supported: " + allowed);
  expect_header_refused(file(header("<f16", "(1,)"), ""),
                        "has dtype '<f16', and floats of this size are not supported: " + allowed);
  expect_header_refused(file(header("<U5", "(1,)"), ""),
                        "has dtype '<U5', and strings are not supported: " + allowed);
  expect_header_refused(file(header("|S5", "(1,)"), ""),
                        "has dtype '|S5', and strings are not supported: " + allowed);
  for (const char* descr :
       {"<M8[ns]", "|V3", "<i3", "", "<", "<<f4", "<f4 ", "float32", "b2", "\x80"}) {
    EXPECT_THAT([&] { parse_npy(file(header(descr, "(1,)"), "")); },
                ThrowsMessage<Error>(AllOf(HasSubstr("has dtype '"), HasSubstr(allowed))))
        << descr;
  }
  const char* structured =
      "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }";
  expect_header_refused(file(structured, ""),
                        "has a structured dtype, must be one plain number per element");
  expect_header_refused(
      file("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,), }", ""),
      "has a structured dtype, must be one plain number per element");
}

TEST(NpyHeader, RefusesHeadersThatAreNotThreeEntries) {
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

}  // namespace
}  // namespace sextant

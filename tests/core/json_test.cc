// JSON: kinds of numbers, order, text for text, and what the one reader refuses.
#include "core/json/json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMaxUnsigned = std::numeric_limits<std::uint64_t>::max();

std::string levels(std::size_t count) { return std::string(count, '[') + std::string(count, ']'); }

void expect_refused(const std::string& text, const std::string& why,
                    const JsonLimits& limits = {}) {
  EXPECT_THAT([&] { Json::parse(text, "x.json", limits); },
              ThrowsMessage<Error>(StartsWith("[x.json] " + why)))
      << text.substr(0, 80);
}

template <class T>
void expect_no(const Json& json) {
  EXPECT_THROW(json.get<T>(), JsonError) << json;
}

TEST(Json, NumbersKeepTheirKindAndEveryDigit) {
  for (const std::string text :
       {"0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "18446744073709551615", "0.0", "-0.0", "1.0", "0.1", "1e-05", "1e+20", "5e-324",
        "1.7976931348623157e+308", "-2.2250738585072014e-308", "123456789.12345679"}) {
    EXPECT_EQ(Json::parse(text).dump(), text);
  }
  EXPECT_TRUE(Json::parse("1").is_integer());
  EXPECT_TRUE(Json::parse("1.0").is_float());
  EXPECT_TRUE(Json::parse("1e2").is_float());
  EXPECT_TRUE(Json::parse("18446744073709551615").is_integer());
  EXPECT_TRUE(Json::parse("18446744073709551616").is_float());
  EXPECT_TRUE(Json::parse("-9223372036854775809").is_float());
  EXPECT_EQ(Json::parse("9223372036854775807").get<std::int64_t>(), kMax);
  EXPECT_EQ(Json::parse("-9223372036854775808").get<std::int64_t>(), kMin);
  EXPECT_EQ(Json::parse("18446744073709551615").get<std::uint64_t>(), kMaxUnsigned);
  EXPECT_TRUE(std::signbit(Json::parse("-0.0").get<double>()));
  for (const double x : {5e-324, 0x1p-1022, 1 / 3.0, 0x1.fffffffffffffp1023}) {
    EXPECT_EQ(Json::parse(Json(x).dump()).get<double>(), x);
    EXPECT_EQ(Json::parse(Json(-x).dump()).get<double>(), -x);
  }
}

TEST(Json, NumbersThatAreNotFiniteAreWrittenAsNullAndNotRead) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
  expect_refused("NaN", "must be valid JSON, got an error at byte ");
  expect_refused("1e999", "must be valid JSON, got an error at byte 5: number overflow");
}

TEST(Json, GettersTakeOnlyWhatFits) {
  const Json most(kMaxUnsigned), least(kMin), fraction(0.5), text("1");
  expect_no<std::int64_t>(most);
  expect_no<int>(Json(std::int64_t{1} << 31));
  EXPECT_EQ(Json(std::int64_t{-1} << 31).get<int>(), std::numeric_limits<int>::min());
  expect_no<std::uint64_t>(least);
  expect_no<std::uint64_t>(Json(-1));
  expect_no<std::uint8_t>(Json(256));
  expect_no<std::int64_t>(fraction);
  expect_no<std::int64_t>(Json(1.0));
  expect_no<double>(text);
  expect_no<bool>(Json(1));
  expect_no<int>(Json(true));
  expect_no<std::string>(Json(1));
  expect_no<std::vector<int>>(Json());
  expect_no<std::vector<int>>(Json{1, "2"});
  EXPECT_EQ(most.get<double>(), 0x1p64);
  EXPECT_EQ((Json{1, 2}.get<std::vector<int>>()), (std::vector<int>{1, 2}));
  const std::map<std::string, std::string> map = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ((Json(map).get<std::map<std::string, std::string>>()), map);
  EXPECT_THAT([&] { text.get<int>(); },
              ThrowsMessage<JsonError>("[json] must have a value of kind number, got string"));
  EXPECT_THAT([&] { fraction.get<int>(); },
              ThrowsMessage<JsonError>(HasSubstr("must have a whole number in range, got 0.5")));
}

TEST(Json, PairsThatBeginWithTextsAreAnObjectAndOtherListsAnArray) {
  const Json object = {{"b", 1}, {"a", {1, 2}}, {"c", {{"d", nullptr}}}};
  EXPECT_EQ(object.dump(), R"({"b":1,"a":[1,2],"c":{"d":null}})");
  EXPECT_EQ((Json{1, "a"}).dump(), R"([1,"a"])");
  EXPECT_EQ((Json::array({{"a", 1}})).dump(), R"([["a",1]])");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).dump(), "[true,false]");
  EXPECT_EQ(Json(std::map<std::string, int>{{"b", 1}, {"a", 2}}).dump(), R"({"a":2,"b":1})");
}

TEST(Json, KeysKeepTheirOrderAndObjectsAreEqualWithoutIt) {
  const std::string text = R"({"z":1,"a":{"y":2,"b":[3]}})";
  Json json = Json::parse(text);
  EXPECT_EQ(json.dump(), text);
  EXPECT_EQ(json, Json::parse(R"({"a":{"b":[3.0],"y":2},"z":1})"));
  EXPECT_NE(json, Json::parse(R"({"a":{"b":[4],"y":2},"z":1})"));
  EXPECT_NE(json, Json::parse(R"({"a":{"b":[3],"y":2},"x":1})"));
  json.sort_keys();
  EXPECT_EQ(json.dump(), R"({"a":{"b":[3],"y":2},"z":1})");
  json["z"] = "new";
  json["m"]["deep"] = true;
  json["list"].push_back(1);
  json.erase("a");
  EXPECT_EQ(json.dump(), R"({"z":"new","m":{"deep":true},"list":[1]})");
  EXPECT_EQ(json.value("z", "none"), "new");
  EXPECT_EQ(json.value("absent", 7), 7);
  EXPECT_THAT([&] { std::as_const(json)["absent"]; },
              ThrowsMessage<JsonError>("[json] must have the key 'absent'"));
  EXPECT_THAT([&] { json["list"][1]; }, ThrowsMessage<JsonError>(HasSubstr("got 1 elements")));
  EXPECT_THAT([&] { json.at("z").at("y"); }, ThrowsMessage<JsonError>(HasSubstr("kind object")));
}

TEST(Json, IntegersAndFractionsAreEqualByValueAndNoTextIsANumber) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(kMaxUnsigned), Json(kMaxUnsigned));
  EXPECT_NE(Json(kMaxUnsigned), Json(-1));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), Json(1));
  EXPECT_NE(Json(), Json(0));
  EXPECT_EQ(Json(), Json(nullptr));
}

TEST(Json, TextsAreEscapedAndReadBack) {
  const std::string all = "\"\\/\b\f\n\r\t\x01\x1f\x7f \u00e9\u4e2d\U0001f600";
  const std::string written = Json(all).dump();
  EXPECT_EQ(written, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f \u00e9\u4e2d\U0001f600\"");
  EXPECT_EQ(Json::parse(written).text(), all);
  EXPECT_EQ(Json::parse(R"("\ud83d\ude00\u0000\/")").text(), std::string("\U0001f600\0/", 6));
}

TEST(Json, TextThatIsNotUtf8IsRefusedOrReplacedNeverWritten) {
  const Json json = {{"a\xff", "\xc3"}};
  EXPECT_THROW(json.dump(), JsonError);
  EXPECT_EQ(json.dump(-1, JsonBytes::replace), "{\"a\ufffd\":\"\ufffd\"}");
  for (const char* bytes : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    expect_refused("\"" + std::string(bytes) + "\"", "must be valid JSON, got an error at byte ");
  }
  expect_refused(R"("\ud800")", "must be valid JSON, got an error at byte ");
}

TEST(Json, LinesAndIndentationAreAsTheyWere) {
  const Json json = {{"a", Json::array({1, Json::object()})}, {"b", Json::array()}};
  EXPECT_EQ(json.dump(), R"({"a":[1,{}],"b":[]})");
  EXPECT_EQ(json.dump(2), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
  std::ostringstream out;
  out << json;
  EXPECT_EQ(out.str(), json.dump());
}

// A run that is resumed compares its files byte by byte.
TEST(Json, NumbersAreWrittenAsEver) {
  const Json json = Json::array({1e15, 1e16, 0.0001, 0.00001, 2e-320, INFINITY, -NAN});
  EXPECT_EQ(json.dump(), "[1e+15,1e+16,0.0001,1e-05,2e-320,null,null]");
}

TEST(Json, FaultsNameTheirByte) {
  expect_refused("", "must be valid JSON, got an error at byte 1: ");
  expect_refused("{\"a\": }", "must be valid JSON, got an error at byte 7: ");
  expect_refused("[1] 2", "must be valid JSON, got an error at byte 5: ");
  expect_refused("[1,]", "must be valid JSON, got an error at byte 4: ");
  expect_refused("{1: 2}", "must be valid JSON, got an error at byte 2: ");
  EXPECT_THAT([] { Json::parse_object("[]", "x.json"); },
              ThrowsMessage<Error>("[x.json] must be a JSON object, got array"));
}

TEST(Json, AZeroByteIsRefusedWhereverItStands) {
  using namespace std::string_literals;
  expect_refused("{}\0"s, "must be valid JSON, got an error at byte 3: a zero byte");
  expect_refused("{}\0{}"s, "must be valid JSON, got an error at byte 3: a zero byte");
  expect_refused("\"\0\""s, "must be valid JSON, got an error at byte 2: a zero byte");
}

TEST(Json, AKeyThatAnObjectHasTwiceIsRefusedAtEveryLevel) {
  expect_refused(R"({"a":1,"a":1})", "has the key 'a' twice in one object");
  expect_refused(R"({"a":[{"b":1,"c":{"b":1},"b":2}]})", "has the key 'b' twice in one object");
  expect_refused(R"({"a":1,"\u0061":1})", "has the key 'a' twice in one object");
  EXPECT_EQ(Json::parse(R"({"a":{"a":[{"a":1},{"a":2}]}})").size(), 1u);
}

TEST(Json, DepthIsLimitedWhileReading) {
  for (const std::size_t depth : {1, 31, 32}) {
    EXPECT_EQ(Json::parse(levels(depth)).dump(), levels(depth));
  }
  for (const std::size_t depth : {33, 100'000, 4'000'000}) {
    expect_refused(levels(depth), "must have at most 32 levels of JSON");
    expect_refused(std::string(depth, '['), "must have at most 32 levels of JSON");
  }
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_refused(objects, "must have at most 32 levels of JSON");
  expect_refused(levels(5), "must have at most 4 levels of JSON", {.depth = 4});
}

TEST(Json, SizeIsLimitedInBytesAndInValues) {
  expect_refused("[1,2,3]", "must be JSON of at most 6 bytes, got 7", {.bytes = 6});
  EXPECT_EQ(Json::parse("[1,2,3]", "x", {.bytes = 7, .values = 4}).size(), 3u);
  expect_refused("[1,2,3]", "must have at most 3 values of JSON", {.values = 3});
  expect_refused(R"({"a":{},"b":[]})", "must have at most 2 values of JSON", {.values = 2});
  std::string many = "[0";
  while (many.size() < std::size_t{1} << 23) many += ",0";
  expect_refused(many + "]", "must have at most 2097152 values of JSON");
  expect_refused(std::string(std::size_t{1} << 24, ' ') + "1", "must be JSON of at most 16777216");
}

}  // namespace
}  // namespace sextant

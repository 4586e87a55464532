// Base64 against the standard.
#include "core/text/base64.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Base64, IsThatOfTheStandard) {  // RFC 4648, section 10
  for (const auto& [bytes, text] :
       {std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="),
        std::pair("foo", "Zm9v"), std::pair("foobar", "Zm9vYmFy")}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(from_base64("+/+/"), "\xfb\xff\xbf");
}

TEST(Base64, IsNothingOfOtherText) {
  for (const char* text : {"Z", "Zg", "Zg=", "Z\xc3\xa4==", "Zm9v\n", "=Zm9"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sextant

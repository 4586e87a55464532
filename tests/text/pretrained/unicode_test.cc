// What the tokenizers know of Unicode without a library, beside ICU.
#include <gtest/gtest.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <random>
#include <string>
#include <vector>

#include "text/pretrained/byte_level.h"
#include "text/pretrained/small.h"
#include "text/pretrained/unicode/unicode_age.h"

namespace sextant::text {
namespace {

TEST(UnicodeAge, IsThatOfIcuWhereItIsAskedFor) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2& forms = *icu::Normalizer2::getNFKCInstance(status);
  ASSERT_TRUE(U_SUCCESS(status));
  const std::uint32_t categories =
      U_GC_P_MASK | U_GC_M_MASK | U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK;
  int asked = 0;
  for (UChar32 c = 0; c < 0x110000; ++c) {
    UVersionInfo age;
    u_charAge(c, age);
    icu::UnicodeString parts;
    const bool wanted = (U_MASK(u_charType(c)) & categories) != 0 || u_getCombiningClass(c) != 0 ||
                        forms.getDecomposition(c, parts);
    if (age[0] == 0 || age[0] > 15 || !wanted) continue;
    ++asked;
    for (const int version : {8, 9, 11}) {
      EXPECT_EQ(is_of_unicode(static_cast<char32_t>(c), version), age[0] <= version)
          << std::hex << c;
    }
  }
  EXPECT_GT(asked, 150000);
}

// Bytes of a tokenizer, of which some are no text.
TEST(PretrainedDecoder, ReplacesBytesThatAreNoCharacterAsIcuDoes) {
  std::string words;
  for (int byte = 0; byte < 256; ++byte) {
    std::string character;
    append_utf8(character, byte_character(static_cast<unsigned char>(byte)));
    if (character == "\"" || character == "\\") character.insert(0, "\\");
    words += (byte > 0 ? ", \"" : "\"") + character + "\": " + std::to_string(byte);
  }
  const auto tokenizer =
      SmallTokenizer{.model = R"({"type": "BPE", "merges": [], "vocab": {)" + words + "}}",
                     .decoder = R"({"type": "ByteLevel"})"}
          .make();
  std::mt19937 random(5);
  const std::vector<std::int64_t> likely = {0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                            0xc1, 0xc3, 0xe0, 0xe2, 0xed, 0xf0, 0xf3, 0xf4};
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::int64_t> ids;
    std::string bytes;
    for (std::size_t length = random() % 7; length > 0; --length) {
      const bool any = random() % 4 == 0;
      ids.push_back(any ? static_cast<std::int64_t>(random() % 256) : likely[random() % 16]);
      bytes += static_cast<char>(ids.back());
    }
    std::string expected;
    icu::UnicodeString::fromUTF8(bytes).toUTF8String(expected);
    ASSERT_EQ(tokenizer.decode(ids), expected) << testing::PrintToString(ids);
  }
}

}  // namespace
}  // namespace sextant::text

// The gate before the SentencePiece library: models built here byte by byte, each with one fault.
#include "text/libraries/subword_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sextant/text/subword.h"
#include "support/error_of.h"
#include "text/charsmap.h"

namespace sextant::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string field(int number, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) << 3) + varint(value);
}
std::string field(int number, float value) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 5) +
         little_endian(std::bit_cast<std::uint32_t>(value));
}

enum Type : std::uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

std::string piece(const std::string& text, std::uint64_t type, float score = 0) {
  return field(1, field(1, text) + field(2, score) + field(3, type));
}

const std::string kModel = piece("<unk>", kUnknown) + piece("\u2581", kNormal, -1) +
                           piece("a", kNormal, -2) + piece("ab", kNormal, -3);

constexpr std::uint32_t kUnused = 0x80000000u;  // no byte leads to such a unit

// One trie of 256 units and the rules behind it. Unit 0 is the root, with its children around 128.
struct Charsmap {
  std::vector<std::uint32_t> units = std::vector<std::uint32_t>(256, kUnused);
  std::string rules = std::string("x\0", 2);

  Charsmap() { units[0] = 128u << 10; }

  // A child of the node at `parent` by `byte`, itself with a base of its own; returns its place.
  std::uint32_t add(std::uint32_t parent, std::uint8_t byte, std::uint32_t base) {
    const std::uint32_t place = base_of(parent) ^ byte;
    units[place] = byte | (place ^ base) << 10;
    return place;
  }
  void add_leaf(std::uint32_t node, std::uint32_t value) {
    units[node] |= 1u << 8;
    units[base_of(node)] = kUnused | value;
  }
  std::uint32_t base_of(std::uint32_t node) const { return node ^ units[node] >> 10; }
  std::string blob() const {
    std::string trie;
    for (const std::uint32_t unit : units) trie += little_endian(unit);
    return little_endian(static_cast<std::uint32_t>(trie.size())) + trie + rules;
  }
};

std::string fault(const std::string& bytes) {
  return error_of([&] { checked_model(bytes, "m"); });
}
std::string table_fault(const Charsmap& map) {
  return error_of([&] { check_charsmap(map.blob(), "m"); });
}

TEST(SubwordModel, BuiltByHandLoadsAndGetsItsSpecialPieces) {
  const SubwordTokenizer tokenizer = SubwordTokenizer::parse(kModel);
  EXPECT_EQ(tokenizer.size(), 6);
  EXPECT_EQ(tokenizer.eos(), 4);
  EXPECT_EQ(tokenizer.pad(), 5);
  EXPECT_EQ(tokenizer.piece(4), "[EOS]");
  EXPECT_EQ(tokenizer.piece(5), "[PAD]");
  EXPECT_THAT(tokenizer.pieces("a ab"), ElementsAre("\u2581", "a", "\u2581", "ab"));
  EXPECT_THAT(tokenizer.encode_fixed("ab", 4), ElementsAre(1, 3, 4, 5));
  const std::vector<std::int64_t> numbers = {1, 3, 4, 5, 1, 2};
  EXPECT_EQ(tokenizer.decode(numbers), "ab a");
}

TEST(SubwordModel, OwnControlPiecesAreUsedAndOthersOfTheNameAreNot) {
  const auto with = [](std::uint64_t type) {
    return SubwordTokenizer::parse(kModel + piece("[PAD]", kControl) + piece("[EOS]", type));
  };
  EXPECT_EQ(with(kControl).pad(), 4);
  EXPECT_EQ(with(kControl).eos(), 5);
  EXPECT_EQ(with(kControl).size(), 6);
  EXPECT_EQ(with(kUserDefined).eos(), 6);  // text can produce the piece 5
  EXPECT_EQ(with(kUserDefined).size(), 7);
  EXPECT_EQ(with(kNormal).eos(), 6);
}

TEST(SubwordModel, RulesOfANormalisationTableAreFollowed) {
  Charsmap map;  // "b" becomes "ab"
  map.rules = std::string("x\0ab\0", 5);
  const std::uint32_t b = map.add(0, 'b', 200);
  map.add_leaf(b, 2);
  check_charsmap(map.blob(), "m");
  const SubwordTokenizer tokenizer =
      SubwordTokenizer::parse(kModel + field(3, field(2, map.blob())));
  EXPECT_THAT(tokenizer.pieces("b"), ElementsAre("\u2581", "ab"));
}

TEST(SubwordModel, LeavesTheSelfTestOut) {
  const std::string samples = field(1, field(1, std::string("a")) + field(2, std::string("wrong")));
  EXPECT_EQ(checked_model(kModel + field(4, samples), "m"), kModel);
  EXPECT_EQ(SubwordTokenizer::parse(kModel + field(4, samples)).size(), 6);
}

TEST(SubwordModel, EveryFaultOfThePiecesHasItsOwnError) {
  const std::string no_message =
      "must be a SentencePiece model, got bytes that cannot be parsed as one";
  EXPECT_THAT(fault(""), HasSubstr("must be a SentencePiece model, got nothing"));
  EXPECT_THAT(fault("hello"), HasSubstr(no_message));
  EXPECT_THAT(fault(field(2, field(4, std::uint64_t{8}))), HasSubstr("one without pieces"));
  EXPECT_THAT(fault(kModel.substr(0, kModel.size() - 1)), HasSubstr(no_message));
  EXPECT_THAT(fault(kModel + field(1, std::uint64_t{3})), HasSubstr(no_message));  // wrong type
  EXPECT_THAT(fault(kModel + "\x0B\x0C"), HasSubstr(no_message));                  // a group
  EXPECT_THAT(fault(kModel + std::string(11, '\xFF')), HasSubstr(no_message));     // endless varint
  EXPECT_THAT(fault(kModel + std::string("\x00\x00", 2)), HasSubstr(no_message));  // field 0
  EXPECT_THAT(fault(kModel + "\x0A\xFF\xFF\xFF\xFF\x7F"), HasSubstr(no_message));  // too long
  EXPECT_THAT(fault(kModel + piece("", kNormal)), HasSubstr("1 .. 4096 bytes without a zero byte"));
  EXPECT_THAT(fault(kModel + piece(std::string("a\0", 2), kNormal)), HasSubstr("at place 4"));
  EXPECT_THAT(fault(kModel + piece(std::string(5000, 'a'), kNormal)), HasSubstr("1 .. 4096"));
  EXPECT_THAT(fault(kModel + piece("\xFF", kNormal)), HasSubstr("must be UTF-8"));
  EXPECT_THAT(fault(kModel + piece("c", 7)), HasSubstr("piece types 1 .. 6, got 7 at place 4"));
  EXPECT_THAT(fault(kModel + piece("c", kNormal, NAN)), HasSubstr("finite scores"));
  EXPECT_THAT(fault(kModel + piece("c", kNormal, std::numeric_limits<float>::infinity())),
              HasSubstr("finite scores"));
}

TEST(SubwordModel, FaultsThatTheLibraryFindsAreErrorsToo) {
  const auto message = [](const std::string& bytes) {
    return error_of([&] { SubwordTokenizer::parse(bytes, "m"); });
  };
  EXPECT_THAT(message(piece("a", kNormal)), HasSubstr("[m] SentencePiece reports: unk is not"));
  EXPECT_THAT(message(kModel + piece("a", kNormal)), HasSubstr("a is already defined"));
  EXPECT_THAT(message(piece("<unk>", kUnknown)), HasSubstr("no pieces are loaded"));
}

TEST(SubwordModel, UserDefinedPiecesMayNestSixtyFourDeep) {
  std::string model = kModel;
  for (std::size_t i = 1; i <= 64; ++i) model += piece(std::string(i, 'z'), kUserDefined);
  EXPECT_EQ(SubwordTokenizer::parse(model).encode(std::string(70, 'z')).size(), 3u);
  model += piece(std::string(65, 'z'), kUserDefined);
  EXPECT_THAT(fault(model), HasSubstr("at most 64 user-defined pieces"));
}

TEST(SubwordModel, EveryFaultOfATableHasItsOwnError) {
  EXPECT_THAT(error_of([] { check_charsmap("ab", "m"); }), HasSubstr("one that is cut"));
  EXPECT_THAT(error_of([] { check_charsmap(little_endian(8) + "abcd", "m"); }),
              HasSubstr("a trie of a wrong size"));
  EXPECT_THAT(error_of([] { check_charsmap(little_endian(0) + std::string(4, '\0'), "m"); }),
              HasSubstr("a trie of a wrong size"));

  Charsmap sound;
  const std::uint32_t a = sound.add(0, 'a', 200);
  sound.add_leaf(a, 0);
  check_charsmap(sound.blob(), "m");

  Charsmap map = sound;
  map.rules = "x";
  EXPECT_THAT(table_fault(map), HasSubstr("rules without an end"));
  map.rules = std::string("\xFF\0", 2);
  EXPECT_THAT(table_fault(map), HasSubstr("must be UTF-8"));
  map.rules = std::string(5000, 'x') + '\0';
  EXPECT_THAT(table_fault(map), HasSubstr("longer than 4096 bytes"));
  map = sound;
  map.add_leaf(a, 2);
  EXPECT_THAT(table_fault(map), HasSubstr("points outside its rules"));
  map.rules = std::string("\u00E9\0", 3);
  map.add_leaf(a, 1);  // inside a character
  EXPECT_THAT(table_fault(map), HasSubstr("points outside its rules"));
  map = sound;
  map.units[a] = 'a' | 256u << 10;
  EXPECT_THAT(table_fault(map), HasSubstr("leads outside itself"));
  map = sound;
  map.units[0] |= kUnused;
  EXPECT_THAT(table_fault(map), HasSubstr("without a root"));
  map = sound;
  map.units.resize(250);  // 'a' is inside, but another byte would be beyond
  EXPECT_THAT(table_fault(map), HasSubstr("leads outside itself"));
}

TEST(SubwordModel, TablesMayNotRunInCirclesOrFindTooMuch) {
  Charsmap circle;
  circle.add(0, 'a', circle.base_of(0));  // "aaaa..." never ends
  EXPECT_THAT(table_fault(circle), HasSubstr("leads back into itself"));

  // A chain a, aa, aaa ... with a rule for each; node i stands at base ^ 'a'.
  Charsmap chain;
  chain.units.resize(256 * 40, kUnused);
  std::uint32_t node = 0;
  for (std::uint32_t i = 1; i <= 33; ++i) {
    node = chain.add(node, 'a', 256 * i);
    chain.add_leaf(node, 0);
    if (i == 32) check_charsmap(chain.blob(), "m");
  }
  EXPECT_THAT(table_fault(chain), HasSubstr("more than 32 rules for one place"));
}

}  // namespace
}  // namespace sextant::text

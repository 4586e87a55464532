// Sub-word models: trained on a small text of our own making, saved, loaded, and used.
#include "sextant/text/subword.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sextant/core/files.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;

// A hundred sentences from a few words, so that pieces of words are worth learning.
std::string small_text() {
  const std::vector<std::string> subjects = {"The king", "A traveller", "Her brother",
                                             "The dragon"};
  const std::vector<std::string> verbs = {"followed", "answered", "forgot", "remembered"};
  const std::vector<std::string> objects = {"the travellers", "a kingdom", "his answer", "nothing"};
  std::mt19937 generator(3);
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += subjects[generator() % 4] + ' ' + verbs[generator() % 4] + ' ' +
            objects[generator() % 4] + (i % 3 == 0 ? "!\n" : ".\n");
  }
  return text;
}

SubwordTokenizer train(const std::string& text, const SubwordTraining& options) {
  const TemporaryFolder folder;
  write_file(folder / "text.txt", text);
  return SubwordTokenizer::train(folder / "text.txt", options);
}

std::string bytes_of(const SubwordTokenizer& tokenizer) {
  const TemporaryFolder folder;
  tokenizer.save(folder / "a.model");
  return read_file(folder / "a.model");
}

const SubwordTokenizer& unigram() {
  static const SubwordTokenizer tokenizer = train(small_text(), {.vocabulary_size = 60});
  return tokenizer;
}

class EveryKind : public ::testing::TestWithParam<SubwordKind> {};

TEST_P(EveryKind, BringsBackTheText) {
  const SubwordTokenizer tokenizer =
      train(small_text(), {.vocabulary_size = 60, .kind = GetParam()});
  EXPECT_LE(tokenizer.size(), 60);
  const std::string text = "The king forgot the travellers.";
  const std::vector<std::int64_t> numbers = tokenizer.encode(text);
  EXPECT_THAT(numbers, Each(AllOf(Ge(0), Lt(tokenizer.size()))));
  EXPECT_EQ(tokenizer.decode(numbers), text);
  std::string joined;
  for (const std::string& piece : tokenizer.pieces(text)) joined += piece;
  EXPECT_EQ(joined, "\u2581The\u2581king\u2581forgot\u2581the\u2581travellers.");
}

TEST_P(EveryKind, TrainsOnNextToNothing) {
  for (const char* text : {"a", "a\n", "ab ab", "aaaaaaaa", "one line only", "\u5B66\u751F",
                           "\n\n x \n\n", "abcdefghijklmnop\nabcdefghijklmnop\n", "[EOS] <s>",
                           "\U0001F600", "\u200B\na", "\u2585 rare \u2585"}) {
    const SubwordTokenizer tokenizer = train(text, {.vocabulary_size = 500, .kind = GetParam()});
    EXPECT_LT(tokenizer.size(), 500) << text;
    EXPECT_THAT(tokenizer.encode("a"), ::testing::Not(IsEmpty())) << text;
  }
}

TEST_P(EveryKind, IsTheSameEveryTime) {
  const SubwordTraining options = {.vocabulary_size = 60, .kind = GetParam()};
  EXPECT_EQ(bytes_of(train(small_text(), options)), bytes_of(train(small_text(), options)));
}

TEST_P(EveryKind, TakesLinesAndWordsOfAnyLength) {
  const std::string text = std::string(70000, 'a') + "b\n" + small_text();
  const SubwordTokenizer tokenizer = train(text, {.vocabulary_size = 80, .kind = GetParam()});
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("The king")), "The king");
}

std::string kind_name(const ::testing::TestParamInfo<SubwordKind>& kind) {
  const char* const names[] = {"Unigram", "Bpe", "Word", "Character"};
  return names[static_cast<int>(kind.param)];
}

INSTANTIATE_TEST_SUITE_P(Subword, EveryKind,
                         ::testing::Values(SubwordKind::unigram, SubwordKind::bpe,
                                           SubwordKind::word, SubwordKind::character),
                         kind_name);

TEST(Subword, SpecialPiecesComeFirstInTrainedModels) {
  const SubwordTokenizer& tokenizer = unigram();
  EXPECT_EQ(tokenizer.piece(0), "<unk>");
  EXPECT_EQ(tokenizer.piece(1), "<s>");
  EXPECT_EQ(tokenizer.piece(2), "</s>");
  EXPECT_EQ(tokenizer.piece(tokenizer.eos()), "[EOS]");
  EXPECT_EQ(tokenizer.piece(tokenizer.pad()), "[PAD]");
  EXPECT_EQ(tokenizer.eos(), 3);
  EXPECT_EQ(tokenizer.pad(), 4);
}

TEST(Subword, LearnsPiecesLongerThanLetters) {
  const std::string text = "The travellers remembered nothing.";
  EXPECT_LT(unigram().encode(text).size(), text.size() / 2);
}

TEST(Subword, FixedLengthEndsWithEosAndPads) {
  const SubwordTokenizer& tokenizer = unigram();
  const std::vector<std::int64_t> numbers = tokenizer.encode("The king");
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::vector<std::int64_t> expected = numbers;
  expected.push_back(tokenizer.eos());
  EXPECT_EQ(tokenizer.encode_fixed("The king", count + 1), expected);
  expected.insert(expected.end(), 3, tokenizer.pad());
  EXPECT_EQ(tokenizer.encode_fixed("The king", count + 4), expected);
  EXPECT_EQ(tokenizer.decode(expected), "The king");
  EXPECT_THAT(tokenizer.encode_fixed("The king", 2), ElementsAre(numbers[0], tokenizer.eos()));
  EXPECT_THAT(tokenizer.encode_fixed("The king", 1), ElementsAre(tokenizer.eos()));
  EXPECT_THAT(tokenizer.encode_fixed("", 2), ElementsAre(tokenizer.eos(), tokenizer.pad()));
  EXPECT_EQ(error_of([&] { tokenizer.encode_fixed("a", 0); }),
            "[subword.length] must be >= 1, got 0");
}

TEST(Subword, TextNeverBecomesASpecialPiece) {
  const SubwordTokenizer& tokenizer = unigram();
  for (const char* text : {"[EOS]", "a [PAD] b", "<s>king</s>", "[EOS][EOS]"}) {
    for (const std::int64_t number : tokenizer.encode(text)) {
      EXPECT_TRUE(number == 0 || number > tokenizer.pad()) << text;
    }
  }
}

TEST(Subword, EmptyTextHasNoPiecesAndBadBytesAreRefused) {
  const SubwordTokenizer& tokenizer = unigram();
  EXPECT_THAT(tokenizer.encode(""), IsEmpty());
  EXPECT_THAT(tokenizer.encode(" \n\t "), IsEmpty());
  EXPECT_THAT(tokenizer.pieces(""), IsEmpty());
  EXPECT_EQ(tokenizer.decode({}), "");
  EXPECT_EQ(error_of([&] { tokenizer.encode("ab\xC3"); }),
            "[subword.text] must be UTF-8, got byte 0xc3 at offset 2");
  EXPECT_THROW(tokenizer.pieces("\xFF"), Error);
  EXPECT_THROW(tokenizer.encode_fixed("\xFF", 3), Error);
}

TEST(Subword, UnknownCharactersAreShownAsTheyAre) {
  const SubwordTokenizer& tokenizer = unigram();
  EXPECT_THAT(tokenizer.pieces("\u5B66\u751F"), ElementsAre("\u2581", "\u5B66\u751F"));
  EXPECT_EQ(tokenizer.encode("\u5B66\u751F").back(), 0);
  EXPECT_THAT(tokenizer.decode(tokenizer.encode("\u5B66")), HasSubstr("\u2047"));
}

TEST(Subword, RefusesNumbersOutsideItself) {
  const SubwordTokenizer& tokenizer = unigram();
  const std::vector<std::int64_t> too_large = {tokenizer.size()};
  const std::vector<std::int64_t> negative = {-1};
  const std::vector<std::int64_t> huge = {std::int64_t{1} << 32};
  EXPECT_THROW(tokenizer.decode(too_large), Error);
  EXPECT_THROW(tokenizer.decode(negative), Error);
  EXPECT_THROW(tokenizer.decode(huge), Error);
  EXPECT_THROW(tokenizer.piece(tokenizer.size()), Error);
  EXPECT_EQ(error_of([&] { tokenizer.piece(-1); }),
            "[subword.index] must be in 0 .. " + std::to_string(tokenizer.size() - 1) + ", got -1");
}

TEST(Subword, IsTheSameAfterSavingAndLoading) {
  const TemporaryFolder folder;
  unigram().save(folder / "a.model");
  const SubwordTokenizer loaded = SubwordTokenizer::load(folder / "a.model");
  EXPECT_EQ(loaded.size(), unigram().size());
  EXPECT_EQ(loaded.encode("Her brother answered"), unigram().encode("Her brother answered"));
  EXPECT_THAT(error_of([&] { SubwordTokenizer::load(folder / "missing.model"); }),
              HasSubstr("missing.model"));
}

TEST(Subword, TrainingNeedsATextAndASizeThatHoldsItsCharacters) {
  EXPECT_THAT(error_of([] { train("", {}); }), HasSubstr("no visible character"));
  EXPECT_THAT(error_of([] { train(" \n\u200B\n\u2581\uFFFD\n", {}); }),
              HasSubstr("no visible character"));
  EXPECT_THAT(error_of([] { train("ab\xFF", {}); }), HasSubstr("must be UTF-8"));
  EXPECT_THAT(error_of([] { SubwordTokenizer::train("/nowhere/text.txt"); }),
              HasSubstr("/nowhere/text.txt"));
  EXPECT_THAT(error_of([] { train(small_text(), {.vocabulary_size = 8}); }),
              AllOf(HasSubstr("[subword.train]"), HasSubstr("smaller than required_chars. 8 vs ")));
  EXPECT_EQ(error_of([] { train("a", {.vocabulary_size = 7}); }),
            "[subword.vocabulary_size] must be in 8 .. 1000000, got 7");
  EXPECT_EQ(error_of([] { train("a", {.character_coverage = 0.5}); }),
            "[subword.character_coverage] must be in 0.98 .. 1, got 0.5");
}

TEST(Subword, IsSilent) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const SubwordTokenizer tokenizer = train(small_text(), {.vocabulary_size = 60});
  tokenizer.encode("The king \u5B66");
  EXPECT_THROW(SubwordTokenizer::parse("hostile"), Error);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace sextant

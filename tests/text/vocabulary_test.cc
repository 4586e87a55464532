// Vocabularies: their order, what is unknown, and the JSON file against every fault.
#include "sextant/text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kVocabularySentences = {"The black cat sat on the couch",
                                                       "and the brown dog slept on the rug"};
const std::vector<std::string> kToy = {"<pad>", "the", "zebra", "chased", "lion", "."};

TEST(Vocabulary, OfSentencesIsLowerCasedSortedAndHoldsOov) {
  const Vocabulary words = Vocabulary::from_sentences(kVocabularySentences);
  EXPECT_THAT(words.tokens(), ElementsAre("OOV", "and", "black", "brown", "cat", "couch", "dog",
                                          "on", "rug", "sat", "slept", "the"));
  EXPECT_EQ(words.size(), 12);
  EXPECT_EQ(words.oov(), "OOV");
}

TEST(Vocabulary, SortsByCodePoint) {
  const std::vector<std::string> sentences = {"\u00E9 z \U0001F600 a \uFF5E"};
  EXPECT_THAT(Vocabulary::from_sentences(sentences, std::nullopt).tokens(),
              ElementsAre("a", "z", "\u00E9", "\uFF5E", "\U0001F600"));
}

TEST(Vocabulary, OovTokenThatIsAWordToo) {
  const std::vector<std::string> sentences = {"b OOV a"};
  EXPECT_THAT(Vocabulary::from_sentences(sentences, "oov").tokens(), ElementsAre("a", "b", "oov"));
}

TEST(Vocabulary, GoesFromTokensToNumbersAndBack) {
  const Vocabulary words(kToy);
  const std::vector<std::int64_t> numbers = words.encode("the zebra chased the lion .");
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 1, 4, 5));
  EXPECT_THAT(words.tokens_of(numbers), ElementsAre("the", "zebra", "chased", "the", "lion", "."));
  EXPECT_THAT(words.indices(kToy), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(words.token(0), "<pad>");
  EXPECT_TRUE(words.contains("lion"));
  EXPECT_FALSE(words.contains("Lion"));
}

TEST(Vocabulary, UnknownWordsMapToOov) {
  const Vocabulary words = Vocabulary::from_sentences(kVocabularySentences);
  EXPECT_EQ(words.index("unicorn"), words.index("OOV"));
  EXPECT_EQ(words.index("Black"), words.index("OOV"));  // exact look-up
  EXPECT_THAT(words.tokens_of(words.encode("The BLACK unicorn")),
              ElementsAre("the", "black", "OOV"));
}

TEST(Vocabulary, EncodePrefersTheWordAsWritten) {
  const Vocabulary words({"the", "The", "us"});
  EXPECT_THAT(words.encode("The the US"), ElementsAre(1, 0, 2));
  EXPECT_THAT(words.encode("  \n "), IsEmpty());
}

TEST(Vocabulary, WithoutOovRefusesAndListsTheWords) {
  const Vocabulary words(kToy);
  EXPECT_EQ(error_of([&] { words.index("cat"); }),
            "[vocabulary] 'cat' is not a word of this vocabulary; allowed: <pad> the zebra "
            "chased lion .");
  EXPECT_THAT(error_of([&] { words.encode("the Cat"); }), HasSubstr("'Cat' is not a word"));
}

TEST(Vocabulary, ListOfWordsIsCutAndMadePrintable) {
  std::vector<std::string> many = {"a\nb\x1B[31m", std::string(1000, 'x')};
  for (int i = 0; i < 98; ++i) many.push_back("w" + std::to_string(i));
  const Vocabulary words(many);
  const std::string message = error_of([&] { words.index("new\nline"); });
  EXPECT_THAT(message, HasSubstr("'new\\nline'"));
  EXPECT_THAT(message, HasSubstr("w17 ... and 80 more"));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("w18")));
  for (const char c : message) EXPECT_GE(static_cast<unsigned char>(c), ' ');
  EXPECT_LT(message.size(), 400u);
}

TEST(Vocabulary, BytesThatAreNotUtf8AreNeverJustUnknown) {
  const Vocabulary words = Vocabulary::from_sentences(kVocabularySentences);
  EXPECT_THAT(error_of([&] { words.index("a\xFF"); }), HasSubstr("must be UTF-8"));
  EXPECT_THAT(error_of([&] { words.encode("a\xFF"); }), HasSubstr("must be UTF-8"));
  EXPECT_THAT(error_of([] { Vocabulary({"a", "\xFF"}); }), HasSubstr("must be UTF-8"));
}

TEST(Vocabulary, NeedsWords) {
  const std::vector<std::string> empty = {"", " \n"};
  EXPECT_THAT(error_of([&] { Vocabulary::from_sentences(empty); }),
              HasSubstr("[vocabulary.sentences] must hold at least one word"));
  EXPECT_THAT(error_of([] { Vocabulary({}); }), HasSubstr("at least one token"));
}

TEST(Vocabulary, RefusesDuplicateAndEmptyTokensAndAForeignOov) {
  EXPECT_THAT(error_of([] { Vocabulary({"a", "b", "a"}); }), HasSubstr("'a' again at place 2"));
  EXPECT_THAT(error_of([] {
                Vocabulary({"a", ""});
              }),
              HasSubstr("empty token, got one at place 1"));
  EXPECT_THAT(error_of([] { Vocabulary({"a"}, "OOV"); }),
              HasSubstr("[vocabulary.oov] must be one of the tokens, got 'OOV'"));
}

TEST(Vocabulary, RefusesNumbersOutsideItself) {
  const Vocabulary words(kToy);
  EXPECT_EQ(error_of([&] { words.token(6); }), "[vocabulary.index] must be in 0 .. 5, got 6");
  EXPECT_THROW(words.token(-1), Error);
  const std::vector<std::int64_t> numbers = {0, 7};
  EXPECT_THROW(words.tokens_of(numbers), Error);
}

TEST(VocabularyFile, BringsBackTheSameWords) {
  const TemporaryFolder folder;
  const std::string path = folder / "words.json";
  for (const Vocabulary& words :
       {Vocabulary(kToy), Vocabulary::from_sentences(kVocabularySentences),
        Vocabulary({"\"quoted\"", "new\nline", "\u5B66", "\U0001F600", std::string("\0", 1)})}) {
    words.save(path);
    const Vocabulary loaded = Vocabulary::load(path);
    EXPECT_TRUE(std::equal(words.tokens().begin(), words.tokens().end(), loaded.tokens().begin(),
                           loaded.tokens().end()));
    EXPECT_EQ(words.oov(), loaded.oov());
  }
  EXPECT_THROW(Vocabulary::load(path + ".missing"), Error);
}

TEST(VocabularyFile, EveryFaultHasItsOwnError) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "must be valid JSON, got an error at byte 1"},
      {"{\"tokens\": [\"a\"", "must be valid JSON, got an error at byte"},
      {"{\"tokens\": [\"a\"], \"oov\": null} x", "must be valid JSON, got an error at byte"},
      {"[]", "must be a JSON object, got array"},
      {"{\"oov\": null}", "must have the key \"tokens\""},
      {"{\"tokens\": [\"a\"]}", "must have the key \"oov\""},
      {"{\"tokens\": [\"a\"], \"oov\": null, \"size\": 1}",
       "keys \"tokens\" and \"oov\" only, got 'size'"},
      {"{\"tokens\": [\"a\"], \"tokens\": [\"b\"], \"oov\": null}",
       "has the key 'tokens' twice in one object"},
      {"{\"tokens\": \"a\", \"oov\": null}", "a list as \"tokens\", got string"},
      {"{\"tokens\": [\"a\", 1], \"oov\": null}", "text as every token, got number at place 1"},
      {"{\"tokens\": [\"a\"], \"oov\": 0}", "text or null as \"oov\", got number"},
      {"{\"tokens\": [\"a\", \"a\"], \"oov\": null}", "every token once, got 'a' again"},
      {"{\"tokens\": [\"\"], \"oov\": null}", "empty token"},
      {"{\"tokens\": [], \"oov\": null}", "at least one token"},
      {"{\"tokens\": [\"a\"], \"oov\": \"b\"}", "one of the tokens, got 'b'"},
      {"{\"tokens\": [\"\xFF\"], \"oov\": null}", "must be UTF-8, got byte 0xff at offset 13"},
      {"{\"tokens\": [1e999], \"oov\": null}", "error at byte 17: number overflow"},
      {"{\"tokens\": [\"\\ud800\"], \"oov\": null}", "must be valid JSON, got an error at byte"},
      {std::string(100000, '['), "must have at most 32 levels of JSON"},
  };
  for (const auto& [json, message] : faults) {
    const std::string bytes = json;
    EXPECT_THAT(error_of([&] { Vocabulary::parse(bytes, "words.json"); }), HasSubstr(message))
        << bytes.substr(0, 80);
  }
}

}  // namespace
}  // namespace sextant

// From words to maps: what must hold for every scheme, and what order does.
#include "sextant/lessons/sentence_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "layers/naive.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/random.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::sentence_attention_test {
namespace {

using Words = std::vector<std::string>;

const Words kSentence{"the", "black", "cat", "sat", "on", "the", "couch"};
const Words kReordered{"on", "the", "cat", "the", "sat", "black", "couch"};
const Words kAnotherEnd{"the", "couch", "cat", "sat", "on", "the", "black"};

std::string error_of_comparing(const Words& first, const Words& second) {
  return error_of([&] { compare_order(first, second, {}); });
}

SentenceAttentionOptions with_scheme(std::string_view name) {
  SentenceAttentionOptions options;
  options.schemes = {std::string(name)};
  return options;
}

// All that need no file.
std::vector<std::string> ready_schemes() {
  std::vector<std::string> names;
  for (const Scheme* scheme : schemes()) {
    // Masks say what is seen and not where it stands.
    if (scheme->name.ends_with("_mask") || scheme->name.ends_with("window")) continue;
    if (std::ranges::none_of(scheme->parameters(),
                             [](const Option& p) { return p.default_text.empty(); })) {
      names.emplace_back(scheme->name);
    }
  }
  return names;
}

// These count back from the query and refuse to look ahead.
bool looks_back_only(const std::string& scheme) {
  return scheme == "cope" || scheme == "forgetting";
}

TEST(AttendSentences, RefusesToLookAheadWithSchemesThatCountBack) {
  EXPECT_THROW(attend_sentences(kSentence, {}, with_scheme("cope")), Error);
  EXPECT_THROW(attend_sentences(kSentence, {}, with_scheme("forgetting")), Error);
}

TEST(AttendSentences, GivesMapsWhoseRowsSumToOne) {
  for (const std::string& scheme : ready_schemes()) {
    for (const bool causal : {false, true}) {
      if (!causal && looks_back_only(scheme)) continue;
      SentenceAttentionOptions options = with_scheme(scheme);
      options.causal = causal;
      const SentenceAttention result = attend_sentences(kSentence, {}, options);
      ASSERT_EQ(result.weights.shape(), Shape({4, 7, 7}));
      ASSERT_EQ(result.output.shape(), Shape({7, 64}));
      EXPECT_EQ(result.queries, kSentence);
      EXPECT_EQ(result.keys, kSentence);
      for (std::int64_t head = 0; head < 4; ++head) {
        for (std::int64_t query = 0; query < 7; ++query) {
          double sum = 0;
          for (std::int64_t key = 0; key < 7; ++key) {
            sum += result.weights(head, query, key);
            if (causal && key > query) {
              EXPECT_EQ(result.weights(head, query, key), 0);
            }
          }
          EXPECT_NEAR(sum, 1, 14 * 0x1p-53);  // seven divisions and seven additions
        }
      }
    }
  }
}

TEST(AttendSentences, LetsASecondSentenceAnswer) {
  const Words answer{"a", "dog", "slept"};
  for (const std::string& scheme : ready_schemes()) {
    for (const bool causal : {false, true}) {
      if (!causal && looks_back_only(scheme)) continue;
      SentenceAttentionOptions options = with_scheme(scheme);
      options.causal = causal;
      const SentenceAttention result = attend_sentences(kSentence, answer, options);
      EXPECT_EQ(result.weights.shape(), Shape({4, 7, 3}));
      EXPECT_EQ(result.keys, answer);
      const bool looks_back = causal || scheme == "retnet";  // which hides later keys itself
      EXPECT_EQ(result.weights(0, 0, 1) == 0, looks_back) << scheme;
      EXPECT_EQ(attend_sentences(answer, kSentence, options).weights.shape(), Shape({4, 3, 7}));
    }
  }
}

TEST(AttendSentences, GivesAWordTheSameVectorEverywhere) {
  const SentenceAttention result = attend_sentences(kSentence, {}, {});
  for (std::int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(result.output(0, i), result.output(5, i));  // "the"
  EXPECT_NE(result.output(0, 0), result.output(1, 0));
  // A word alone attends to itself: its output is its value, whatever its place in a sentence was.
  const SentenceAttention alone = attend_sentences({"the"}, {"the"}, {});
  EXPECT_EQ(alone.weights(0, 0, 0), 1);
}

TEST(AttendSentences, SaysWhatGoesIn) {
  const std::vector<std::string> words = {"a", "b", "a"};
  const SentenceAttention plain = attend_sentences(words, {}, {});
  const SentenceAttention placed = attend_sentences(words, {}, {.schemes = {"sinusoidal"}});
  const Tensor<double> table = sinusoidal<double>({.length = 3, .width = 64});
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 64; ++j) {
      EXPECT_EQ(plain.inputs(i, j), plain.words(i, j));
      EXPECT_EQ(placed.words(i, j), plain.words(i, j));
      EXPECT_EQ(placed.inputs(i, j), placed.words(i, j) + table(i, j));
    }
  }
}

TEST(AttendSentences, MovedTextsKeepTheirWeightsWhereOnlyDistancesCount) {
  const std::vector<std::string> words = {"the", "zebra", "chased", "the", "lion", "."};
  const auto change = [&](const char* scheme) {
    const Tensor<double> here = attend_sentences(words, {}, {.schemes = {scheme}}).weights;
    const Tensor<double> there =
        attend_sentences(words, {}, {.schemes = {scheme}, .first_position = 1000}).weights;
    double largest = 0;
    for (std::int64_t i = 0; i < here.count(); ++i) {
      largest = std::max(largest, std::abs(here.data()[i] - there.data()[i]));
    }
    return largest;
  };
  EXPECT_LT(change("rotary"), 1e-13);
  EXPECT_LT(change("alibi"), 1e-13);
  EXPECT_GT(change("sinusoidal"), 0.01);
}

TEST(AttendSentences, DependsOnTheSeed) {
  SentenceAttentionOptions other;
  other.seed = 8;
  EXPECT_NE(attend_sentences(kSentence, {}, {}).weights(0, 0, 0),
            attend_sentences(kSentence, {}, other).weights(0, 0, 0));
  EXPECT_EQ(attend_sentences(kSentence, {}, other).weights(0, 0, 0),
            attend_sentences(kSentence, {}, other).weights(0, 0, 0));
}

// The deviation of the scores is 2, so the logarithms of a row's weights spread by about that much.
TEST(AttendSentences, MakesMapsThatAreNeitherFlatNorOneWordEach) {
  const Words many{"seven", "wise", "men",     "with", "knowledge",
                   "so",    "fine", "created", "a",    "sextant"};
  double sum = 0, square = 0;
  int count = 0;
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    SentenceAttentionOptions options;
    options.seed = seed;
    const SentenceAttention result = attend_sentences(many, {}, options);
    for (std::int64_t head = 0; head < 4; ++head) {
      for (std::int64_t query = 0; query < 10; ++query) {
        for (std::int64_t key = 0; key < 10; ++key) {
          const double relative =
              std::log(result.weights(head, query, key) / result.weights(head, query, 0));
          sum += relative;
          square += relative * relative;
          ++count;
        }
      }
    }
  }
  const double deviation = std::sqrt(square / count - (sum / count) * (sum / count));
  EXPECT_GT(deviation, 1.5);
  EXPECT_LT(deviation, 4);
}

TEST(AttendSentences, TakesWordsOfEveryScript) {
  const Words words{"\xc3\xa9tude", "\xe6\x98\x9f", "\xf0\x9f\x8c\x9f", "\xe6\x98\x9f"};
  const SentenceAttention result = attend_sentences(words, {}, {});
  EXPECT_EQ(result.weights(0, 1, 2), result.weights(0, 3, 2));
}

TEST(AttendSentences, RefusesOptionsThatDoNotFit) {
  SentenceAttentionOptions options;
  EXPECT_THROW(attend_sentences({}, {}, options), Error);
  EXPECT_THROW(attend_sentences({}, kSentence, options), Error);
  options.heads = 5;
  EXPECT_THROW(attend_sentences(kSentence, {}, options), Error);
  options.heads = 0;
  EXPECT_THROW(attend_sentences(kSentence, {}, options), Error);
  options.heads = 4;
  options.width = 0;
  EXPECT_THROW(attend_sentences(kSentence, {}, options), Error);
  EXPECT_THROW(attend_sentences(kSentence, {}, with_scheme("learnt")), Error);
  SentenceAttentionOptions single_channel = with_scheme("rotary");
  single_channel.heads = 64;
  EXPECT_THROW(attend_sentences(kSentence, {}, single_channel), Error);
}

TEST(CompareOrder, FindsNoOrderWithoutPositions) {
  const OrderVerdict verdict = compare_order(kSentence, kReordered, {});
  EXPECT_TRUE(verdict.same);
  EXPECT_LT(verdict.first.rounding + verdict.second.rounding, 1e-10);
  EXPECT_EQ(verdict.first.weights(0, 0, 1), 0);  // causal
  SentenceAttentionOptions wide;
  wide.width = 512;
  wide.heads = 8;
  EXPECT_TRUE(compare_order(kSentence, kReordered, wide).same);
}

TEST(CompareOrder, CannotTellWhereTheLastWordDiffers) {
  const OrderVerdict verdict = compare_order(kSentence, kAnotherEnd, {});
  EXPECT_TRUE(verdict.last_differs);
  EXPECT_FALSE(verdict.same);
  EXPECT_EQ(verdict.headline(),
            "cannot tell: the last word itself differs; end both with a full stop");
  EXPECT_EQ(verdict.verdict("no positions").find(verdict.why, verdict.headline().size()),
            std::string::npos);  // said once
  EXPECT_FALSE(compare_order(kSentence, kReordered, {}).last_differs);
}

TEST(CompareOrder, RefusesOtherWords) {
  EXPECT_EQ(error_of_comparing({"a", "b", "."}, {"b", "c", "."}),
            "[compare_order.second] must be the words of the first sentence in another order, got "
            "'a' not at all, there it is once");
  EXPECT_EQ(error_of_comparing({"a", "b"}, {"a", "b", "b"}),
            "[compare_order.second] must be the words of the first sentence in another order, got "
            "'b' 2 times, there it is once");
}

TEST(CompareOrder, FindsOrderWithEveryScheme) {
  for (const std::string& scheme : ready_schemes()) {
    if (find_scheme(scheme).kind == SchemeKind::none) continue;
    if (scheme == "temperature") continue;  // sets in after 8191 words
    const OrderVerdict verdict = compare_order(kSentence, kReordered, with_scheme(scheme));
    EXPECT_FALSE(verdict.same) << scheme;
    EXPECT_GT(verdict.largest_difference, 1e-3) << scheme;
    EXPECT_TRUE(compare_order(kSentence, kSentence, with_scheme(scheme)).same) << scheme;
  }
  EXPECT_THROW(compare_order(kSentence, {}, {}), Error);
}

TEST(CompareOrder, FindsOrderWithALearnedTable) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "sextant_layers_learned.npy").string();
  NumpyRandom random(1);
  Tensor<float> table({16, 64});
  for (float& value : table.span()) value = static_cast<float>(random.normal());
  save_npy(path, table);
  SentenceAttentionOptions options = with_scheme("learned");
  options.schemes[0].parameters["file"] = path;
  EXPECT_FALSE(compare_order(kSentence, kReordered, options).same);
  options.width = 32;
  EXPECT_THROW(compare_order(kSentence, kReordered, options), Error);
  options.width = 64;
  EXPECT_THROW(attend_sentences(Words(17, "word"), {}, options), Error);
  std::remove(path.c_str());
  // Without a file: where its training starts, the same table for both sentences.
  EXPECT_FALSE(compare_order(kSentence, kReordered, with_scheme("learned")).same);
  EXPECT_TRUE(compare_order(kSentence, kSentence, with_scheme("learned")).same);
}

TEST(SentenceAttention, TakesSchemesThatGoTogether) {
  const std::vector<std::string> words{"a", "b", "c"};
  SentenceAttentionOptions options;
  options.schemes = {"rotary", "alibi"};
  const SentenceAttention both = attend_sentences(words, {}, options);
  options.schemes = {"rotary"};
  const SentenceAttention rotary = attend_sentences(words, {}, options);
  EXPECT_NE(both.weights(0, 0, 2), rotary.weights(0, 0, 2));
  const SchemeWeights weights;
  options.schemes = {"rotary", "alibi"};
  options.weights = &weights;
  EXPECT_THROW(attend_sentences(words, {}, options), Error);
}

TEST(PlainSelfAttention, IsTheFormula) {
  NumpyRandom random(2);
  Tensor<double> x({5, 8});
  for (double& value : x.span()) value = random.normal();
  const naive::Matrix rows = naive::matrix<double>(x);
  // Scores below 20 from 8 products: e^score is off by less than 20 x 12 roundings, a weight by
  // twice that and ten more.
  EXPECT_LE(naive::distance<double>(plain_self_attention(x), naive::weights(rows, rows, false)),
            500 * 0x1p-53);
}

TEST(PlainSelfAttention, LetsEveryTokenAttendMostlyToItself) {
  NumpyRandom random(3);
  Tensor<double> x({12, 64});
  for (double& value : x.span()) value = random.normal();
  const Tensor<double> map = plain_self_attention(x);
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_GT(map(i, i), 0.5) << i;
  EXPECT_THROW(plain_self_attention(Tensor<double>({0, 3})), Error);
  EXPECT_THROW(plain_self_attention(Tensor<double>({3})), Error);
}

}  // namespace
}  // namespace sextant::sentence_attention_test

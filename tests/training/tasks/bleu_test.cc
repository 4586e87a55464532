// BLEU against sacreBLEU (golden/bleu.json), by hand, and on the Shakespeare pairs.
#include "sextant/training/tasks/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/files.h"
#include "sextant/text/pairs.h"
#include "support/error_of.h"
#include "support/folders.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

const Json& golden() {
  static const auto values =
      Json::parse(read_file(sextant::tests::data_folder() + "/training/tasks/golden/bleu.json"));
  return values;
}

BleuOptions options_of(const Json& given) {
  BleuOptions options;
  options.tokens = given["tokenize"] == "13a" ? BleuTokens::v13a : BleuTokens::none;
  options.lower_case = given["lowercase"].get<bool>();
  if (!given.contains("smooth_method")) return options;
  const std::string smoothing = given["smooth_method"].text();
  options.smoothing = smoothing == "exp"     ? BleuSmoothing::exp
                      : smoothing == "floor" ? BleuSmoothing::floor
                      : smoothing == "none"  ? BleuSmoothing::none
                                             : BleuSmoothing::add_k;
  if (!given["smooth_value"].is_null())
    options.smoothing_value = given["smooth_value"].get<double>();
  options.effective_order = given["effective_order"].get<bool>();
  return options;
}

TEST(BleuGolden, CutsEverySentenceAsSacrebleu) {
  EXPECT_EQ(golden()["made_by"], "sacrebleu 2.6.0");
  ASSERT_GE(golden()["tokens"].size(), 400u);
  for (const Json& each : golden()["tokens"]) {
    EXPECT_EQ(bleu_tokens(each["text"].get<std::string>(), options_of(each)),
              each["tokens"].get<Texts>())
        << each["text"];
  }
}

// The same operations on the same whole numbers; only exp, log and the order of a sum of four may
// differ, by less than 20 units in the last place of 100.
constexpr double kTolerance = 20 * 100 * 0x1p-52;

TEST(BleuGolden, GivesEveryScoreOfSacrebleu) {
  ASSERT_GE(golden()["scores"].size(), 190u);
  for (const Json& each : golden()["scores"]) {
    const auto references = each["references"].get<std::vector<Texts>>();
    const Bleu got = bleu(each["hypotheses"].get<Texts>(), references, options_of(each["options"]));
    EXPECT_NEAR(got.score, each["score"].get<double>(), kTolerance) << each;
    EXPECT_NEAR(got.brevity_penalty, each["bp"].get<double>(), kTolerance);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_NEAR(got.precisions[n], each["precisions"][n].get<double>(), kTolerance) << each;
    }
    EXPECT_EQ(got.hypothesis_length, each["hypothesis_length"]);
    EXPECT_EQ(got.reference_length, each["reference_length"]) << each;
    EXPECT_EQ(got.signature, each["signature"]);
    const auto text = each["text"].get<std::string>();  // "BLEU = ..."
    EXPECT_EQ(describe(got), "BLEU|" + got.signature + text.substr(4));
  }
}

// The example of Papineni et al. 2002, section 2.1: "the" counts twice at most.
TEST(Bleu, ClipsCountsByTheReference) {
  const Texts hypothesis = {"the the the the the the the"};
  const std::vector<Texts> references = {{"the cat is on the mat", "there is a cat on the mat"}};
  const Bleu got = bleu(hypothesis, references, {.smoothing = BleuSmoothing::none});
  EXPECT_THAT(got.matches, ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(got.totals, ElementsAre(7, 6, 5, 4));
  EXPECT_EQ(got.precisions[0], 100 * 2.0 / 7);
  EXPECT_EQ(got.score, 0);
}

TEST(Bleu, OfTheSameTextIsHundred) {
  const Texts text = {"the cat sat on the mat .", "it was 3.5 years old"};
  EXPECT_NEAR(bleu(text, text).score, 100, kTolerance);
  EXPECT_EQ(bleu(text, text).brevity_penalty, 1);
}

TEST(Bleu, OfAShorterTextIsPunished) {
  const Bleu got = bleu(Texts{"a b c d"}, Texts{"a b c d e f g h"});
  EXPECT_EQ(got.brevity_penalty, std::exp(-1.0));
  EXPECT_NEAR(got.score, 100 * std::exp(-1.0), kTolerance);
}

TEST(Bleu, RefusesWhatCannotBeCompared) {
  EXPECT_THAT(error_of([] { bleu(Texts{}, Texts{}); }),
              HasSubstr("[bleu.hypotheses] must hold at least one"));
  EXPECT_THAT(error_of([] {
                bleu(Texts{"a"}, Texts{"a", "b"});
              }),
              HasSubstr("[bleu.references] must be as many as hypotheses, 1, got 2"));
  EXPECT_THAT(error_of([] {
                bleu(Texts{"a", "b"}, std::vector<Texts>{{"a"}, {}});
              }),
              HasSubstr("at least one for each hypothesis, got none for 1"));
  EXPECT_THAT(error_of([] { bleu(Texts{"a\xFF"}, Texts{"a"}); }), HasSubstr("must be UTF-8"));
  for (const double bad : {-0.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(error_of([&] { bleu(Texts{"a"}, Texts{"a"}, {.smoothing_value = bad}); }),
                HasSubstr("[bleu.smoothing_value] must be >= 0 and finite"));
  }
  EXPECT_THROW(bleu(Texts{"a"}, Texts{"a"}, {.tokens = static_cast<BleuTokens>(7)}), Error);
  EXPECT_THROW(bleu(Texts{"a"}, Texts{"a"}, {.smoothing = static_cast<BleuSmoothing>(7)}), Error);
}

TEST(Bleu, CopyingTheSourceOfTheShakespearePairs) {
  const auto path =
      std::filesystem::path(sextant::tests::shared_folder()) / "data" / "shakespeare" / "valid.tsv";
  if (!std::filesystem::exists(path)) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "data is missing: " << path;
    GTEST_SKIP() << "no data at " << path;
  }
  const SentencePairs pairs = load_pairs(path.string());
  EXPECT_EQ(pairs.source.size(), 1218u);
  const Bleu cased = bleu(pairs.source, pairs.target);
  EXPECT_EQ(describe(cased),
            "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp = 16.3 45.4/20.5/11.4/6.6 (BP = "
            "1.000 ratio = 1.085 hyp_len = 13356 ref_len = 12308)");
  // sacreBLEU 2.6.0 on the same file.
  EXPECT_NEAR(cased.score, 16.28709781826006, kTolerance);
  EXPECT_NEAR(bleu(pairs.source, pairs.target, {.lower_case = true}).score, 17.035048091954508,
              kTolerance);
}

}  // namespace
}  // namespace sextant

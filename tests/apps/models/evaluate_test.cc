// `sextant evaluate`: BLEU and perplexity of trained models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"
#include "sextant/training/tasks/bleu.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string pairs_text() {
  const SentencePairs pairs = turned_words();
  std::string text;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    text += pairs.source[i] + "\t" + pairs.target[i] + "\n";
  }
  return text;
}

TEST(EvaluateCommand, ComparesTranslationsWithReferences) {
  const Folder folder;
  put(folder / "pairs.tsv", pairs_text() + "a b\tb a c d\n" + "e f\tf a e\n");
  const std::string command =
      "evaluate --model " + turning_model() + " --pairs " + folder / "pairs.tsv";
  const Outcome outcome = sextant(command + " --json -o " + folder / "made.txt");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["pairs"], 38);
  EXPECT_NEAR(json["exact_percent"].get<double>(), 100.0 * 36 / 38, 1e-12);
  EXPECT_EQ(json["reference_tokens"], 36 * 3 + 5 + 4);
  EXPECT_EQ(json["unknown_tokens"], 0);
  EXPECT_EQ(json["beams"], 4);

  std::vector<std::string> made = turned_words().target, references = made;
  made.insert(made.end(), {"b a", "f e"});
  references.insert(references.end(), {"b a c d", "f a e"});
  const Bleu expected = bleu(made, references);
  EXPECT_EQ(json["bleu"]["score"], expected.score);
  EXPECT_EQ(json["bleu"]["signature"], "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp");
  std::vector<std::string> sources = turned_words().source;
  sources.insert(sources.end(), {"a b", "e f"});
  EXPECT_EQ(json["source_bleu"], bleu(sources, references).score);
  std::string lines;
  for (const std::string& line : made) lines += line + "\n";
  EXPECT_EQ(contents(folder / "made.txt"), lines);

  const Outcome text = sextant(command + " --beams 1 --limit 36");
  EXPECT_THAT(text.out, StartsWith("pairs       36\nBLEU        "));
  EXPECT_THAT(text.out, HasSubstr("exact       100.00 % of the translations\n"));
}

TEST(EvaluateCommand, ThePerplexityIsThatOfTheModelsLoss) {
  const Folder folder;
  put(folder / "pairs.tsv", "a b\tb a\nb c\tf c\n");
  const auto json =
      sextant("evaluate --json --model " + turning_model() + " --pairs " + folder / "pairs.tsv")
          .json();
  const TextTranslator model = TextTranslator::load(turning_model());
  const SentencePairs pairs = parse_pairs("a b\tb a\nb c\tf c\n");
  Workspace memory;
  Pass pass{.memory = memory};
  const LossSum sum = model.loss(
      pair_batch(TokenPairs::encode(pairs, model.tokenizer), std::vector<std::int64_t>{0, 1}), {},
      nullptr, pass);
  // Decoding rounds log-probabilities to float32, the loss adds exponentials in it: a few 2^-24 of
  // numbers below 16.
  const double expected = std::exp(sum.loss / 6);
  EXPECT_NEAR(json["perplexity"].get<double>(), expected, 1e-5 * expected);
  EXPECT_EQ(json["reference_tokens"], 6);
}

TEST(EvaluateCommand, SeveralModelsAreEvaluatedTogether) {
  const Folder folder;
  put(folder / "pairs.tsv", "a b\tb a\nb c\tc b\n");
  const std::string command = "evaluate --model " + turning_model() + " --model " +
                              turning_model() + " --pairs " + folder / "pairs.tsv";
  const auto json = sextant(command + " --json").json();
  EXPECT_EQ(json["exact_percent"], 100);
  EXPECT_EQ(json["models"].size(), 2U);
  // Twice the same model is that model.
  const auto alone =
      sextant("evaluate --json --model " + turning_model() + " --pairs " + folder / "pairs.tsv")
          .json();
  EXPECT_NEAR(json["perplexity"].get<double>(), alone["perplexity"].get<double>(),
              1e-5 * alone["perplexity"].get<double>());
  EXPECT_EQ(json["reference_tokens"], 6);
  put(folder / "text", "a b c");
  const Outcome text = sextant("evaluate --model " + alphabet_model() + " --model " +
                               alphabet_model() + " --file " + folder / "text");
  EXPECT_EQ(text.code, 1);
  EXPECT_EQ(text.err, "sextant: [evaluate.model] must be one folder here, got 2\n");
}

TEST(EvaluateCommand, TranslatesTheOtherWayWhenAsked) {
  const Folder folder;
  put(folder / "pairs.tsv", "x\ta b\ny\tc d\n");
  const auto json = sextant("evaluate --json --reverse --model " + turning_model() + " --pairs " +
                            folder / "pairs.tsv -o " + folder / "made.txt")
                        .json();
  EXPECT_EQ(contents(folder / "made.txt"), "b a\nd c\n");
  EXPECT_EQ(json["unknown_tokens"], 2);
}

// The mean of -log likelihood of each token, with the tokens that each window shows.
double perplexity(const std::string& text, std::int64_t length, std::int64_t stride) {
  const TextModel model = TextModel::load(alphabet_model());
  const auto tokens = model.tokenizer.encode(text);
  const auto count = static_cast<std::int64_t>(tokens.size());
  Workspace memory;
  Pass pass{.memory = memory};
  double sum = 0;
  for (std::int64_t target = 1; target < count; ++target) {
    // The first window that reads the token before the target.
    std::int64_t begin = 0;
    while (begin + length < target) begin += stride;
    TokenBatch batch{{tokens.begin() + begin, tokens.begin() + target}, {0, target - begin}, {}};
    batch.targets.assign(batch.tokens.size(), -1);
    batch.targets.back() = tokens[static_cast<std::size_t>(target)];
    sum -= model.log_likelihoods(batch, pass)(target - begin - 1);
  }
  return std::exp(sum / static_cast<double>(count - 1));
}

TEST(EvaluateCommand, ScoresEveryTokenOfATextOnce) {
  const Folder folder;
  std::string text = "abdcefghijabcdefghijjihgfabcdefghij";
  put(folder / "text", text);
  const auto json = sextant("evaluate --json --length 8 --stride 3 --model " + alphabet_model() +
                            " --file " + folder / "text")
                        .json();
  EXPECT_EQ(json["tokens"], text.size());
  EXPECT_EQ(json["characters"], text.size());
  ASSERT_EQ(json["results"].size(), 2U);
  for (const auto& row : json["results"]) {
    const double expected = perplexity(text, 8, row["stride"].get<std::int64_t>());
    // float32 sums of a model of two layers, in another order: 1e-5 of the logits.
    EXPECT_NEAR(row["perplexity"].get<double>(), expected, 1e-4 * expected);
    EXPECT_NEAR(row["bits_per_character"].get<double>(), std::log2(row["perplexity"].get<double>()),
                1e-12);
  }
  EXPECT_EQ(json["results"][0]["stride"], 8);
  EXPECT_EQ(json["results"][1]["stride"], 3);
  const Outcome shown =
      sextant("evaluate --model " + alphabet_model() + " --file " + folder / "text");
  EXPECT_THAT(shown.out, StartsWith("35 tokens, 0 unknown, 35 characters\nwindows "));
}

TEST(EvaluateCommand, RefusesWhatItCannotUse) {
  const Folder folder;
  put(folder / "pairs.tsv", "a\tb\n");
  put(folder / "text", "abc");
  put(folder / "letter", "a");
  put(folder / "broken.tsv", "a\tb\nc\n");
  const std::string pairs = "--model " + turning_model() + " --pairs " + folder / "pairs.tsv";
  const std::string text = "--model " + alphabet_model() + " --file " + folder / "text";
  for (const std::string& wrong :
       {"--model " + turning_model(), "--pairs " + folder / "pairs.tsv",
        pairs + " --file " + folder / "text", pairs + " --length 5", text + " --beams 1",
        text + " --reverse", text + " --length 4 --stride 5", pairs + " --limit 0"}) {
    EXPECT_EQ(sextant("evaluate " + wrong).code, 2) << wrong;
  }
  for (const auto& [wrong, says] : std::vector<std::pair<std::string, std::string>>{
           {"--model " + alphabet_model() + " --pairs " + folder / "pairs.tsv",
            "[evaluate.model] must be a translator, got a causal language model in "},
           {"--model " + turning_model() + " --file " + folder / "text",
            "[evaluate.model] must be a causal language model, got a translator in "},
           {"--model nowhere --file " + folder / "text", "[nowhere] must be a model's folder"},
           {"--model " + turning_model() + " --pairs nowhere", "[nowhere] "},
           {"--model " + turning_model() + " --pairs " + folder / "broken.tsv", "broken.tsv"},
           {"--model " + alphabet_model() + " --file " + folder / "letter",
            "must have at least 2 tokens, got 1"},
           {text + " --stride 1000", "[evaluate.stride] must be 1 .. 512, the length, got 1000"},
           {pairs + " -o " + folder / "no/folder", "no/folder"}}) {
    const Outcome outcome = sextant("evaluate " + wrong);
    EXPECT_EQ(outcome.code, 1) << wrong;
    EXPECT_EQ(outcome.out, "") << wrong;
    EXPECT_THAT(outcome.err, HasSubstr(says)) << wrong;
  }
}

}  // namespace
}  // namespace sextant::app_tests

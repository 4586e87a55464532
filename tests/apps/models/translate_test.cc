// `sextant translate`: lines of text through a trained translator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string translate(const std::string& rest) {
  return "translate --model " + turning_model() + " " + rest;
}

// A date of another year too.
TEST(TranslateCommand, SaysWhatTheModelOfTheProgramWasTaughtAndHowSureItIs) {
  const std::string taught = "English dates of the years 1900 to 2099";
  const auto answer = [](const std::string& text) {
    return sextant("translate --model shipped --json '" + text + "'").json();
  };
  const auto probability = [&](const std::string& text) {
    return answer(text)["translations"][0]["probability"].get<double>();
  };
  const auto json = answer("July 4th, 1776");
  EXPECT_EQ(json["taught"], taught);
  EXPECT_EQ(json["translations"][0]["text"], "2076-07-04");
  EXPECT_EQ(probability("July 4th, 1776"),
            std::exp(json["translations"][0]["log_probability"].get<double>()));
  EXPECT_GT(probability("July 4th, 1776"), 0.99);
  EXPECT_LT(probability("hello world"), 0.9);
  EXPECT_EQ(sextant("info --model shipped --json").json()["taught"], taught);
  EXPECT_FALSE(sextant(translate("'a b' --json")).json().contains("taught"));
  EXPECT_THAT(sextant("translate --help").out, HasSubstr("1900"));
}

TEST(TranslateCommand, AnswersLineByLine) {
  const Folder folder;
  put(folder / "lines",
      "\xEF\xBB\xBF"
      "a b\r\n\n  \nf c\nb d");
  const std::string expected = "b a\n\n\nc f\nd b\n";
  const Outcome made = sextant(translate("--file " + folder / "lines"));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, expected);
  EXPECT_EQ(shell("sextant " + translate("- < ") + folder / "lines").out, expected);
  EXPECT_EQ(sextant(translate("$'a b\\nf c'")).out, "b a\nc f\n");
  EXPECT_EQ(sextant(translate("'a b' --beams 1")).out, "b a\n");
}

TEST(TranslateCommand, AnswersALineBeforeTheNextOneComes) {
  // The second line is sent when the first one's answer was read.
  const Outcome made =
      shell("coproc sextant " + translate("-") +
            "\necho 'a b' >&${COPROC[1]}; read -t 60 first <&${COPROC[0]}; echo \"$first\"\n"
            "echo 'f c' >&${COPROC[1]}; exec {COPROC[1]}>&-; cat <&${COPROC[0]}");
  EXPECT_EQ(made.out, "b a\nc f\n") << made.err;
}

TEST(TranslateCommand, MoreLinesThanGoTogetherStayInOrder) {
  const SentencePairs pairs = turned_words();
  std::string lines, expected;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < pairs.source.size(); ++i) {
      lines += pairs.source[i] + "\n";
      expected += pairs.target[i] + "\n";
    }
  }
  const Folder folder;
  put(folder / "lines", lines);
  EXPECT_EQ(sextant(translate("--file " + folder / "lines")).out, expected);
}

TEST(TranslateCommand, GivesSeveralTranslationsWithScores) {
  const std::string text = sextant(translate("$'a b\\n\\nc d' --n-best 2")).out;
  EXPECT_THAT(text, StartsWith("1\t-0.0"));
  EXPECT_THAT(text, HasSubstr("\tb a\n1\t-"));
  EXPECT_THAT(text, HasSubstr("\n2\t0.0000\t\n3\t-0.0"));
  const auto json = sextant(translate("'a b' --n-best 3 --json")).json();
  EXPECT_EQ(json["source"], "a b");
  ASSERT_EQ(json["translations"].size(), 3U);
  EXPECT_EQ(json["translations"][0]["text"], "b a");
  EXPECT_EQ(json["translations"][0]["finished"], true);
  EXPECT_GT(json["translations"][0]["score"].get<double>(),
            json["translations"][1]["score"].get<double>());
}

TEST(TranslateCommand, TheLengthPenaltyChangesScoresOnly) {
  const auto score = [](const std::string& penalty) {
    const auto json = sextant(translate("'a b' --json --length-penalty " + penalty)).json();
    return json["translations"][0];
  };
  EXPECT_EQ(score("0")["score"], score("0")["log_probability"]);
  EXPECT_EQ(score("1")["log_probability"], score("0")["log_probability"]);
  // Three tokens with the end: the score is divided by (5 + 3) / 6.
  EXPECT_NEAR(score("1")["score"].get<double>() * 8 / 6,
              score("1")["log_probability"].get<double>(), 1e-12);
}

TEST(TranslateCommand, RefusesWhatItCannotUse) {
  for (const char* wrong : {"", "'a' --beams 0", "'a' --n-best 5", "'a' --n-best 2 --beams 1",
                            "'a' --length-penalty -1", "'a' --file b", "'a' --beams x"}) {
    const Outcome outcome = sextant(translate(wrong));
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_EQ(outcome.out, "") << wrong;
  }
  const Outcome best = sextant(translate("a --n-best 5"));
  EXPECT_THAT(best.err, StartsWith("sextant: [translate.n-best] must be 1 .. 4, the beams, got 5"));
  EXPECT_EQ(sextant("translate 'a'").code, 2);
  const Outcome bytes = shell("printf 'a b\\n\\xff\\n' | sextant " + translate("-"));
  EXPECT_EQ(bytes.code, 1);
  EXPECT_THAT(bytes.err, StartsWith("sextant: [stdin:2] "));
  EXPECT_EQ(sextant(translate("''")).code, 1);
  EXPECT_EQ(shell("printf '' | sextant " + translate("-")).code, 1);
  const Outcome longer =
      shell("for i in {1..5000}; do printf 'a '; done | sextant " + translate("-"));
  EXPECT_EQ(longer.code, 1);
  EXPECT_EQ(longer.err, "sextant: [stdin:1] must be at most 4096 tokens for a model, got 5000\n");
  const Outcome missing = sextant("translate a --model no-such-folder");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, StartsWith("sextant: [no-such-folder] must be a model's folder"));
}

TEST(TranslateCommand, SeveralModelsDecideTogether) {
  const Folder folder;
  save_turning_model(folder / "pointer", true);
  const auto answer = [](const std::string& model) {
    const auto json = sextant("translate 'a b' --json --model " + model).json();
    return std::pair(json["translations"][0]["text"].get<std::string>(),
                     std::exp(json["translations"][0]["log_probability"].get<double>()));
  };
  const auto first = answer(turning_model()), second = answer(folder / "pointer");
  const auto both = answer(turning_model() + " --model " + folder / "pointer");
  EXPECT_EQ(both.first, "b a");
  EXPECT_GT(both.second, std::min(first.second, second.second));
  EXPECT_LT(both.second, std::max(first.second, second.second));
}

TEST(TranslateCommand, AWordThatIsNotKnownIsCopied) {
  const Folder folder;
  const SentencePairs pairs = turned_words();
  const Tokenizer tokenizer = Tokenizer::train(std::vector<std::string>{"a b c d e"});
  const auto tokens = TokenPairs::encode(pairs, tokenizer);
  for (const bool pointer : {true, false}) {
    TransformerConfig config = small_model(ModelKind::translator);
    config.pointer = pointer;
    TranslationTask task({tokenizer, tokens, tokens}, config,
                         {.batch_size = 18, .label_smoothing = 0});
    learn(task, 200);
    task.save_model(folder / "model");
    const std::string command = "--model " + folder / "model";
    const std::string made = sextant("translate 'Yorick a' " + command).out;
    if (pointer) {
      EXPECT_EQ(made, "a Yorick\n");
    } else {
      EXPECT_THAT(made, AllOf(StartsWith("a "), Not(HasSubstr("<unk>"))));
    }
    put(folder / "pairs.tsv", "b Yorick\tYorick b\n");
    EXPECT_EQ(sextant("evaluate --json --pairs " + folder / "pairs.tsv " + command)
                  .json()["exact_percent"],
              pointer ? 100 : 0);
  }
}

TEST(TranslateCommand, RefusesModelsWithTokenizersOfTheirOwn) {
  const Folder folder;
  const SentencePairs pairs = turned_words();
  const Tokenizer tokenizer = Tokenizer::train(std::vector<std::string>{"a b c d e g"});
  const auto tokens = TokenPairs::encode(pairs, tokenizer);
  TranslationTask task({tokenizer, tokens, tokens}, small_model(ModelKind::translator));
  task.save_model(folder / "model");
  const Outcome outcome = sextant(translate("'a b' --model " + folder / "model"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "sextant: [" + folder / "model" + "] must have the tokenizer of " +
                             turning_model() + ", got another one\n");
}

TEST(TranslateCommand, RefusesModelsThatDoNotTranslate) {
  const Folder folder;
  save_alphabet_model(folder / "model");
  const Outcome outcome = sextant("translate abc --model " + folder / "model");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "sextant: [translate.model] must be a translator, got a causal language model in " +
                folder / "model" + "\n");
}

TEST(TranslateCommand, RefusesDamagedFiles) {
  const Folder folder;
  std::filesystem::copy(turning_model(), folder / "model");
  const std::string weights = contents(folder / "model/model.safetensors");
  put(folder / "model/model.safetensors", weights.substr(0, 1000));
  const Outcome cut = sextant("translate 'a b' --model " + folder / "model");
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("model.safetensors"));
  put(folder / "model/tokenizer.json", "[]");
  EXPECT_THAT(sextant("translate 'a b' --model " + folder / "model").err,
              HasSubstr("tokenizer.json"));
}

// A folder of the hub, with a word for each id.
TEST(TranslateCommand, TakesEncodersAndDecodersOfTheHub) {
  const Folder folder;
  const std::string model = folder / "t5";
  ASSERT_EQ(shell("cp -r " + tests::data_folder() + "/hub/golden/t5 " + model).code, 0);
  Json words = Json::object();
  for (int i = 0; i < 48; ++i) words["w" + std::to_string(i)] = i;
  put(model + "/tokenizer.json",
      R"({"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "WordLevel", "unk_token": "w0", "vocab": )" +
          words.dump() + "}}");
  const Outcome made = sextant("translate --model " + model + " $'w5 w6\\n\\nw7'");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(std::ranges::count(made.out, '\n'), 3);
  EXPECT_THAT(made.out, AllOf(StartsWith("w"), HasSubstr("\n\n"), Not(HasSubstr("w0 "))));
  const Outcome info = sextant("info --model " + model);
  EXPECT_THAT(info.out, AllOf(HasSubstr("2 of the encoder, 3 of the decoder"),
                              HasSubstr("of the decoder t5 bidirectional=no")));
  const Outcome cross = sextant("attend --model " + model + " 'w5 w6' 'w7 w8' --part cross --json");
  EXPECT_EQ(cross.code, 0) << cross.err;
  EXPECT_EQ(cross.json()["queries"].size(), 3u);
  EXPECT_EQ(cross.json()["keys"].size(), 2u);
}

}  // namespace
}  // namespace sextant::app_tests

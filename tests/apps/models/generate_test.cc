// `sextant generate`: a trained model goes on with a text, and fills in what is hidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string& words() {
  return trained_once([](const std::string& folder) { save_word_model(folder); });
}

std::string greedy(const std::string& rest) {
  return "generate --greedy --max-tokens 12 --model " + alphabet_model() + " " + rest;
}

TEST(GenerateCommand, GoesOnWithThePrompt) {
  const Outcome made = sextant(greedy("--prompt cde"));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "cdefghijabcdefg\n");
  EXPECT_EQ(shell("echo cde | sextant " + greedy("--prompt -")).out, made.out);
  EXPECT_EQ(sextant(greedy("--prompt cde --threads 1")).out, made.out);
}

TEST(GenerateCommand, PutsSpacesBetweenWordsAndKeepsCharactersWhole) {
  const std::string command = "generate --greedy --max-tokens 9 --model " + words() + " --prompt ";
  EXPECT_EQ(sextant(command + "'to be'").out, "to be or not , that is the Frage für ☃\n");
  EXPECT_EQ(sextant(command + "'to be '").out, "to be or not , that is the Frage für ☃\n");
}

TEST(GenerateCommand, EndsBeforeTheTextThatStops) {
  EXPECT_EQ(sextant(greedy("--prompt cde --stop ij")).out, "cdefgh\n");
  EXPECT_EQ(sextant(greedy("--prompt cde --stop jb")).out, "cdefghijabcdefg\n");
  const auto json = sextant(greedy("--prompt cde --stop ij --json")).json();
  EXPECT_EQ(json["text"], "fgh");
  EXPECT_EQ(json["ended_by"], "stop");
  EXPECT_EQ(json["tokens"].size(), 5U);
}

TEST(GenerateCommand, SaysInJsonWhatWasMadeAndHow) {
  const auto json = sextant(greedy("--prompt cde --json")).json();
  EXPECT_EQ(json["prompt"], "cde");
  EXPECT_EQ(json["text"], "fghijabcdefg");
  EXPECT_EQ(json["tokens"].size(), 12U);
  EXPECT_EQ(json["ended_by"], "tokens");
  EXPECT_EQ(json["temperature"], 0);
}

TEST(GenerateCommand, EndsWithTheTableOfPositionsUnlessItSlides) {
  const Folder folder;
  TransformerConfig config = small_model(ModelKind::causal);
  config.schemes = {"learned"};
  config.length = 20;
  save_alphabet_model(folder / "model", ModelKind::causal, config);
  const std::string command = "generate --greedy --model " + folder / "model";
  const Outcome ended = sextant(command + " --prompt cde");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out.size(), 3U + 18U + 1U);  // 17 are read after the prompt, and one follows
  EXPECT_THAT(ended.err, HasSubstr("ends after 18 tokens, where the positions of the model "
                                   "(learned) end: 20 tokens with the prompt; --slide continues"));
  EXPECT_EQ(sextant(command + " --prompt cde --json").json()["ended_by"], "positions");
  const Outcome slides = sextant(command + " --prompt cde --slide --max-tokens 40");
  EXPECT_EQ(slides.err, "");
  EXPECT_EQ(slides.out.size(), 3U + 40U + 1U);
  put(folder / "prompts.txt", "cde\na\n");
  const Outcome several =
      sextant(command + " --max-tokens 19 --samples 2 --file " + folder / "prompts.txt");
  EXPECT_EQ(several.code, 0);
  EXPECT_THAT(several.err, HasSubstr("2 of 4 texts end where the positions of the model (learned) "
                                     "end: 20 tokens with the prompt; --slide continues"));
  const std::string longer = " --prompt abcdefghijabcdefghijabcdefghij";
  EXPECT_THAT(sextant(command + longer).err,
              HasSubstr("[generate.prompt] must be at most 20 tokens"));
  EXPECT_EQ(sextant(command + longer + " --slide").code, 0);
}

TEST(GenerateCommand, DrawsTheSameTokensFromTheSameSeed) {
  const auto drawn = [](int seed) {
    return sextant("generate --model " + alphabet_model() +
                   " --prompt a --max-tokens 30 --temperature 3 " +
                   "--top-k 8 --top-p 0.99 --seed " + std::to_string(seed))
        .out;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST(GenerateCommand, ContinuesEachLineOfAFile) {
  const Folder folder;
  put(folder / "prompts.txt", "cde\r\nj\nab");
  const std::string command =
      "generate --greedy --max-tokens 4 --model " + alphabet_model() + " --file ";
  const Outcome made = sextant(command + folder / "prompts.txt");
  EXPECT_EQ(made.code, 0) << made.err;
  const std::string texts =
      "--- prompt 1 ---\ncdefghi\n--- prompt 2 ---\njabcd\n--- prompt 3 ---\nabcdef\n";
  EXPECT_EQ(made.out, texts);
  EXPECT_EQ(shell("sextant " + command + "- < " + folder / "prompts.txt").out, texts);
  EXPECT_EQ(sextant(command + folder / "prompts.txt --batch-size 1 --threads 1").out, texts);
  EXPECT_EQ(sextant(command + folder / "prompts.txt --stop de").out,
            "--- prompt 1 ---\ncdefghi\n--- prompt 2 ---\njabcd\n--- prompt 3 ---\nabc\n");

  put(folder / "wrong.txt", "cde\n\nab\n");
  EXPECT_EQ(sextant(command + folder / "wrong.txt").err,
            "sextant: [" + folder / "wrong.txt:2] must have at least one token\n");
  put(folder / "empty.txt", "");
  EXPECT_EQ(sextant(command + folder / "empty.txt").err,
            "sextant: [" + folder / "empty.txt] must have a prompt on each line, got none\n");
}

TEST(GenerateCommand, DrawsSeveralSamplesAsSeedsDrawOne) {
  const std::string command = "generate --model " + alphabet_model() +
                              " --max-tokens 20 --temperature 3 --alternatives 2 --json";
  const auto one = [&](const std::string& prompt, int seed) {
    return sextant(command + " --prompt " + prompt + " --seed " + std::to_string(seed)).json();
  };
  const Folder folder;
  put(folder / "prompts.txt", "cde\nj\n");
  const auto json =
      sextant(command + " --samples 3 --seed 4 --file " + folder / "prompts.txt").json();
  EXPECT_EQ(json["samples"], 3);
  EXPECT_EQ(json["seed"], 4);
  EXPECT_EQ(json["temperature"], 3);
  ASSERT_EQ(json["results"].size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& result = json["results"][i];
    const auto alone = one(i < 3 ? "cde" : "j", 4 + static_cast<int>(i % 3));
    for (const char* key : {"prompt", "text", "tokens", "ended_by", "seed", "steps"}) {
      EXPECT_EQ(result[key], alone[key]) << key << " of " << i;
    }
    EXPECT_EQ(result["sample"], i % 3 + 1);
    EXPECT_GT(result["steps"].size(), 0U);
  }
  EXPECT_NE(json["results"][0]["text"], json["results"][1]["text"]);
  const std::string texts = sextant(
                                "generate --greedy --max-tokens 2 --samples 2 --prompt a "
                                "--model " +
                                alphabet_model())
                                .out;
  EXPECT_EQ(texts, "--- sample 1 ---\nabc\n--- sample 2 ---\nabc\n");
}

TEST(GenerateCommand, FindsTheModelOfATrainingRun) {
  const Folder run;
  std::filesystem::copy(alphabet_model(), run / "last");
  const std::string command = "generate --greedy --max-tokens 3 --prompt a --model ";
  EXPECT_EQ(sextant(command + run.path().string()).out, "abcd\n");
}

TEST(GenerateCommand, FillsHolesOfAMaskedModel) {
  const Folder folder;
  save_alphabet_model(folder / "model", ModelKind::masked);
  const std::string command = "generate --model " + folder / "model";
  const auto json =
      sextant(command + " --fill 'abc[MASK]efghijabcdef[MASK]hij' --top-k 3 --json").json();
  EXPECT_EQ(json["filled"], "abcdefghijabcdefghij");
  ASSERT_EQ(json["masks"].size(), 2U);
  EXPECT_EQ(json["masks"][0]["tokens"][0], "d");
  EXPECT_EQ(json["masks"][1]["tokens"].size(), 3U);
  EXPECT_GT(json["masks"][0]["probabilities"][0].get<double>(),
            json["masks"][0]["probabilities"][1].get<double>());
  const Outcome text = sextant(command + " --fill 'abc[MASK]efghij'");
  EXPECT_THAT(text.out, StartsWith("abcdefghij\n\n[MASK] 1  probability\nd "));

  const Outcome none = sextant(command + " --fill abc");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "sextant: [generate.fill] must have [MASK] where a token is hidden\n");
  const Outcome prompt = sextant(command + " --prompt abc");
  EXPECT_EQ(prompt.code, 1);
  EXPECT_THAT(prompt.err, StartsWith("sextant: [generate.model] must be a causal language model, "
                                     "got a masked language model in "));
}

TEST(GenerateCommand, RefusesWhatItCannotUse) {
  const std::string model = "generate --model " + alphabet_model();
  EXPECT_EQ(sextant("generate --prompt a").code, 2);
  EXPECT_EQ(sextant(model).code, 2);
  EXPECT_EQ(sextant(model + " --prompt a --fill b").code, 2);
  for (const char* wrong :
       {"--max-tokens 0", "--temperature -1", "--temperature x", "--top-k -1", "--top-p 0",
        "--top-p 1.1", "--repetition-penalty 0", "--seed -1", "--greedy --temperature 1",
        "--samples 0", "--batch-size 0", "--file prompts.txt"}) {
    const Outcome outcome = sextant(model + " --prompt a " + wrong);
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_EQ(outcome.out, "") << wrong;
  }
  for (const char* wrong : {"--prompt $'a\\xff'", "--fill 'a[MASK]'"}) {
    const Outcome outcome = sextant(model + " " + wrong);
    EXPECT_EQ(outcome.code, 1) << wrong;
    EXPECT_EQ(outcome.out, "") << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [generate.")) << wrong;
  }
}

TEST(GenerateCommand, RefusesFoldersThatHoldNoModel) {
  const Folder folder;
  const auto tried = [&folder] {
    const Outcome outcome =
        sextant("generate --prompt a --max-tokens 1 --model " + folder / "model");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(tried(), HasSubstr("must be a model's folder with config.json"));
  std::filesystem::copy(alphabet_model(), folder / "model");
  const std::string weights = contents(folder / "model/model.safetensors");
  put(folder / "model/model.safetensors", weights.substr(0, weights.size() / 2));
  EXPECT_THAT(tried(), HasSubstr("model/model.safetensors"));
  std::filesystem::remove(folder / "model/model.safetensors");
  EXPECT_THAT(tried(), HasSubstr("model/model.safetensors"));
  put(folder / "model/config.json", "{");
  EXPECT_THAT(tried(), HasSubstr("model/config.json"));
  EXPECT_THAT(sextant("generate --prompt a --model ''").err,
              StartsWith("sextant: [generate.model] must not be empty, got ''"));
}

}  // namespace
}  // namespace sextant::app_tests

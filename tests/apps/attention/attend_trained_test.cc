// `sextant attend --model`: maps of trained models, by part, layer and head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"
#include "hub/text_folder.h"
#include "sextant/core/npy.h"
#include "sextant/hub/load_pretrained.h"

namespace sextant::app_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string& copying() {
  static const Folder folder;
  static const std::string path = [] {
    save_turning_model(folder / "model", true);
    return folder / "model";
  }();
  return path;
}

std::string attend(const std::string& rest) { return "attend --model " + copying() + " " + rest; }

double largest_error_of_rows(const Json& heads) {
  double largest = 0;
  for (const auto& head : heads) {
    for (const auto& row : head) {
      double sum = 0;
      for (const auto& weight : row) sum += weight.get<double>();
      largest = std::max(largest, std::abs(sum - 1));
    }
  }
  return largest;
}

TEST(AttendTrained, ADecoderHidesWhatComesLater) {
  const std::string decoder = sextant(attend("'a b' --part decoder --format svg")).out;
  EXPECT_THAT(decoder, HasSubstr("<title>b → a: hidden</title>"));
  EXPECT_THAT(decoder, HasSubstr(">hidden</text>"));
  for (const std::string part : {"encoder", "cross", "copy"}) {
    EXPECT_THAT(sextant(attend("'a b' --format svg --part " + part)).out,
                ::testing::Not(HasSubstr("hidden")))
        << part;
  }
}

TEST(AttendTrained, EveryPartHasItsTokensAndRowsThatSumToOne) {
  const auto part = [](const std::string& name) {
    const auto json = sextant(attend("'a b' --json --part " + name)).json();
    EXPECT_EQ(json["part"], name);
    // Float32 weights: a few roundings of 6e-8.
    if (name != "copy") {
      EXPECT_LT(largest_error_of_rows(json["weights"]), 1e-6) << name;
    }
    return json;
  };
  const auto encoder = part("encoder"), decoder = part("decoder"), cross = part("cross"),
             copy = part("copy");
  EXPECT_THAT(encoder["queries"], ElementsAre("a", "b"));
  EXPECT_EQ(encoder["keys"], encoder["queries"]);
  EXPECT_THAT(decoder["queries"], ElementsAre("<bos>", "b", "a"));
  EXPECT_EQ(decoder["keys"], decoder["queries"]);
  EXPECT_EQ(decoder["weights"][0][0], (std::vector<double>{1, 0, 0}));
  EXPECT_THAT(cross["queries"], ElementsAre("b", "a", "<eos>"));
  EXPECT_THAT(cross["keys"], ElementsAre("a", "b"));
  EXPECT_EQ(cross["heads"], 4);
  EXPECT_EQ(cross["layer"], 1);
  EXPECT_EQ(copy["heads"], 1);
  EXPECT_TRUE(copy["layer"].is_null());
  for (const auto& row : copy["weights"][0]) {  // its sum is the probability of copying at all
    const double sum = row[0].get<double>() + row[1].get<double>();
    EXPECT_GT(sum, 0);
    EXPECT_LT(sum, 1);
  }
  EXPECT_EQ(sextant(attend("'a b' --json")).json(), cross);
}

TEST(AttendTrained, LayersAndHeadsCanBeChosen) {
  const auto last = sextant(attend("'a b' --json --layer 1")).json();
  EXPECT_EQ(last, sextant(attend("'a b' --json")).json());
  EXPECT_NE(last["weights"], sextant(attend("'a b' --json --layer 0")).json()["weights"]);
  const auto head = sextant(attend("'a b' --json --head 2")).json();
  ASSERT_EQ(head["weights"].size(), 1U);
  EXPECT_EQ(head["weights"][0], last["weights"][2]);
  EXPECT_EQ(head["head"], 2);
}

TEST(AttendTrained, TheTranslationIsTheModelsOwnUnlessItIsGiven) {
  const auto own = sextant(attend("'a b' --json")).json();
  EXPECT_EQ(sextant(attend("'a b' 'b a' --json")).json(), own);
  EXPECT_EQ(sextant(attend("'a b' --second 'b a' --json")).json(), own);
  EXPECT_EQ(shell("echo b a | sextant " + attend("'a b' - --json")).json(), own);
  // A word that the model does not know is labelled as it stands there.
  EXPECT_THAT(sextant(attend("'a b' 'c zebra d' --json")).json()["queries"],
              ElementsAre("c", "zebra", "d", "<eos>"));
}

TEST(AttendTrained, LanguageModelsLookAtTheirOwnText) {
  const Folder folder;
  save_word_model(folder / "model");
  const std::string command = "attend --model " + folder / "model" + " 'to be or ☃' ";
  const auto json = sextant(command + "--json").json();
  EXPECT_EQ(json["part"], "self");
  EXPECT_THAT(json["queries"], ElementsAre("to", "be", "or", "☃"));
  EXPECT_EQ(json["weights"][0][0], (std::vector<double>{1, 0, 0, 0}));
  EXPECT_LT(largest_error_of_rows(json["weights"]), 1e-6);
  for (const auto& [wrong, says] : std::vector<std::pair<std::string, std::string>>{
           {"--part cross", "[attend.part] must be self for this model, got 'cross'"},
           {"'or not'",
            "[attend.target] must not be given: a causal language model looks at one text"},
           {"--layer 2", "[attend.layer] must be 0 .. 1, got 2"},
           {"--head 4", "[attend.head] must be 0 .. 3, got 4"}}) {
    const Outcome outcome = sextant(command + wrong);
    EXPECT_EQ(outcome.code, 1) << wrong;
    EXPECT_EQ(outcome.err, "sextant: " + says + "\n");
  }
}

TEST(AttendTrained, SavesEveryFormatByItsEnding) {
  const Folder folder;
  for (const char* ending : {"svg", "png", "html", "json", "npy"}) {
    const Outcome saved = sextant(attend("'a b' -o ") + folder / "map." + ending);
    EXPECT_EQ(saved.code, 0) << ending << saved.err;
  }
  EXPECT_THAT(contents(folder / "map.svg"), HasSubstr("Cross attention, layer 1"));
  EXPECT_THAT(contents(folder / "map.png"), StartsWith("\x89PNG"));
  EXPECT_EQ(load_npy(folder / "map.npy").shape, (Shape{4, 3, 2}));
  ASSERT_EQ(sextant(attend("'a b' --head 2 --lines -o ") + folder / "lines.svg").code, 0);
  EXPECT_THAT(contents(folder / "lines.svg"), HasSubstr("Cross attention, layer 1 · Head 2"));
  const std::string page = contents(folder / "map.html");
  for (const char* title : {"Encoder attention, layer 0", "Encoder attention, layer 1",
                            "Decoder attention, layer 1", "Cross attention, layer 0", "Copying"}) {
    EXPECT_THAT(page, HasSubstr(title));
  }
  const std::string text = sextant(attend("'a b' --part copy")).out;
  EXPECT_THAT(text, StartsWith("Copying\n"));
  EXPECT_THAT(text, HasSubstr("<eos>"));
}

TEST(AttendTrained, RefusesOptionsOfRandomWeightsAndTheOtherWayRound) {
  for (const char* option : {"--heads 2", "--width 8", "--seed 3", "--causal", "--scheme none",
                             "--base 100", "--split spaces", "--lower-case"}) {
    const Outcome outcome = sextant(attend(std::string("'a b' ") + option));
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [attend.model] must not be combined with --"))
        << option;
  }
  for (const char* option : {"'b a'", "--part cross", "--layer 0", "--threads 1"}) {
    const Outcome outcome = sextant(std::string("attend 'a b' ") + option);
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [attend.model] must be given with ")) << option;
  }
  EXPECT_EQ(sextant(attend("'a b' --part all")).code, 2);
  EXPECT_EQ(sextant(attend("'a b' 'b a' --second 'b a'")).code, 2);
}

TEST(AttendTrained, RefusesWhatItCannotUse) {
  for (const auto& [wrong, says] : std::vector<std::pair<std::string, std::string>>{
           {attend("'a b' --part copy --layer 0"),
            "[attend.layer] must not be given with --part copy: the pointer has one map"},
           {attend("'a b' --part self"),
            "[attend.part] must be encoder | decoder | cross | copy for this model, got 'self'"},
           {attend("''"), "[attend.text] "},
           {attend("'a b' ''"), "[attend.target] "},
           {"attend 'a b' --model nowhere", "[nowhere] must be a model's folder"},
           {attend("'a b' --rows 0,1"), "[attend.rows] must be given with a language model, got "},
           {attend("\"$(for i in {1..9000}; do printf 'a '; done)\""),
            "[attend.text] must have at most 2^25 attention weights in the maps, got "}}) {
    const Outcome outcome = sextant(wrong);
    EXPECT_EQ(outcome.code, 1) << wrong;
    EXPECT_EQ(outcome.out, "") << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: " + says)) << wrong;
  }
  EXPECT_EQ(sextant("attend 'a b' --model ''").code, 2);
  const Folder folder;
  save_turning_model(folder / "model");
  const Outcome none = sextant("attend 'a b' --part copy --model " + folder / "model");
  EXPECT_EQ(
      none.err,
      "sextant: [attend.part] must be encoder | decoder | cross for this model, got 'copy'\n");
}

TEST(AttendTrained, EncodersReadAPairOfTexts) {
  const std::string bert = R"({"type": "BertProcessing", "cls": ["w1", 1], "sep": ["w2", 2]})";
  const TextFolder typed("bert", words(48, bert)), untyped("distilbert", words(48, bert));
  const std::string command = "attend --layer 0 --json 'w3 w4' w5 --model ";
  const Json json = sextant(command + typed.write()).json();
  EXPECT_THAT(json["keys"], ElementsAre("w1", "w3", "w4", "w2", "w5", "w2"));
  const std::vector<std::int64_t> ids = {1, 3, 4, 2, 5, 2}, types = {0, 0, 0, 0, 1, 1};
  Workspace memory;
  Pass pass{memory};
  const auto first_of = [&](const TextFolder& folder, std::span<const std::int64_t> given) {
    auto maps = load_pretrained(folder.path("")).attention_maps(ids, pass, {}, given);
    return std::move(maps[0]);
  };
  const auto expect = [](const Json& weights, const Tensor<float>& map) {
    for (std::int64_t head = 0; head < map.size(0); ++head) {
      for (std::int64_t i = 0; i < map.size(1); ++i) {
        for (std::int64_t k = 0; k < map.size(2); ++k) {
          EXPECT_EQ(weights[static_cast<std::size_t>(head)][static_cast<std::size_t>(i)]
                           [static_cast<std::size_t>(k)],
                    static_cast<double>(map(head, i, k)));
        }
      }
    }
  };
  const Tensor<float> map = first_of(typed, types);
  expect(json["weights"], map);
  EXPECT_NE(map(0, 4, 0), first_of(typed, {})(0, 4, 0));
  const Json of_untyped = sextant(command + untyped.write()).json();
  expect(of_untyped["weights"], first_of(untyped, {}));
  const TextFolder causal("gpt2");
  EXPECT_THAT(sextant(command + causal.write()).err,
              HasSubstr("[attend.target] must not be given: a causal language model looks at one"));
}

}  // namespace
}  // namespace sextant::app_tests

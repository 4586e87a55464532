// `sextant logit-lens`, what else could have come, what a model is, and models without positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LogitLensCommand, ShowsWhatEveryLayerWouldWrite) {
  const std::string command = "logit-lens --model " + alphabet_model() + " ";
  const auto json = sextant(command + "abcd --json --top-k 3").json();
  EXPECT_EQ(json["tokens"].dump(), R"(["a","b","c","d"])");
  EXPECT_EQ(json["next"].dump(), R"(["b","c","d",null])");
  ASSERT_EQ(json["layers"].size(), 3U);
  EXPECT_EQ(json["layers"][0]["name"], "embedding");
  EXPECT_EQ(json["layers"][2]["name"], "layer 1");
  const auto& last = json["layers"][2];
  ASSERT_EQ(last["predictions"].size(), 4U);
  EXPECT_EQ(last["predictions"][0].size(), 3U);
  EXPECT_EQ(last["predictions"][3][0]["token"], "e");
  // What it says of the next token is in the list of predictions too.
  EXPECT_EQ(last["predictions"][1][0]["token"], "c");
  EXPECT_EQ(last["next_probability"][1], last["predictions"][1][0]["probability"]);
  EXPECT_TRUE(last["next_probability"][3].is_null());

  const Outcome text = sextant(command + "abcd");
  EXPECT_THAT(text.out, StartsWith("read  embedding"));
  EXPECT_THAT(text.out, HasSubstr("e 0."));
  const Outcome csv = sextant(command + "ab --format csv --top-k 2");
  EXPECT_THAT(csv.out, StartsWith("row,read,layer,rank,prediction,probability\n0,\"a\",0,1,\""));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 2 * 3 * 2);
}

TEST(LogitLensCommand, FollowsATranslation) {
  const std::string command = "logit-lens --json --model " + turning_model() + " 'a b'";
  const auto own = sextant(command).json();
  EXPECT_EQ(own["tokens"].dump(), R"(["<bos>","b","a"])");
  EXPECT_EQ(own["next"].dump(), R"(["b","a","<eos>"])");
  const auto given = sextant(command + " 'c c c'").json();
  EXPECT_EQ(given["tokens"].size(), 4U);
  EXPECT_THAT(sextant("logit-lens --model " + alphabet_model() + " ab cd").err,
              HasSubstr("[logit-lens.target] must not be given"));
}

TEST(LogitLensCommand, RefusesWhatItCannotShow) {
  const std::string command = "logit-lens --model " + alphabet_model() + " ";
  EXPECT_EQ(sextant(command).code, 2);
  EXPECT_EQ(sextant("logit-lens abc").code, 2);
  EXPECT_EQ(sextant(command + "abc --top-k 0").code, 2);
  EXPECT_EQ(sextant(command + "abc -o x.svg").code, 2);
  EXPECT_EQ(sextant(command + "''").code, 1);
}

TEST(GenerateCommand, SaysWhatElseCouldHaveCome) {
  const std::string command =
      "generate --max-tokens 4 --json --alternatives 3 --prompt abc --model " + alphabet_model();
  const auto json = sextant(command + " --temperature 0.5 --top-k 2").json();
  ASSERT_EQ(json["steps"].size(), 4U);
  const auto& step = json["steps"][0];
  EXPECT_EQ(step["token"], json["tokens"][0]);
  ASSERT_EQ(step["alternatives"].size(), 3U);
  const auto p = step["alternatives"][0]["probability"].get<double>();
  const auto q = step["alternatives"][1]["probability"].get<double>();
  EXPECT_GT(p, q);
  // Of two tokens at half the temperature: p^2 / (p^2 + q^2), a few roundings of numbers up to 1.
  EXPECT_NEAR(step["alternatives"][0]["drawn"].get<double>(), p * p / (p * p + q * q), 1e-12);
  EXPECT_EQ(step["alternatives"][2]["drawn"], 0);
  // The model's own are those of `guess`, to the last bit.
  const auto guess =
      sextant("logit-lens --json --top-k 3 --model " + alphabet_model() + " abc").json();
  EXPECT_EQ(guess["layers"][2]["predictions"][2][0]["probability"], p);
  EXPECT_EQ(sextant("generate --alternatives 3 --prompt abc --model " + alphabet_model()).code, 2);
}

TEST(WithoutPositions, EveryCommandReadsTheSameModel) {
  const Outcome with =
      sextant("generate --greedy --max-tokens 8 --prompt cde --model " + alphabet_model());
  const Outcome without =
      sextant("generate --greedy --max-tokens 8 --without-positions --prompt cde --model " +
              alphabet_model());
  EXPECT_EQ(with.code + without.code, 0) << without.err;
  // A translator that turns two words around cannot know which one was first.
  const std::string turning = " --model " + turning_model() + " --without-positions ";
  EXPECT_EQ(sextant("translate" + turning + "'a b'").out,
            sextant("translate" + turning + "'b a'").out);
  EXPECT_NE(sextant("translate --model " + turning_model() + " 'a b'").out,
            sextant("translate --model " + turning_model() + " 'b a'").out);
  const auto maps = sextant("attend --json --part encoder" + turning + "'a a'").json();
  for (const auto& head : maps["weights"]) {
    EXPECT_EQ(head[0][0], head[0][1]);  // equal words are equal keys
    EXPECT_EQ(head[0], head[1]);
  }
  EXPECT_EQ(sextant("logit-lens --json" + turning + "'a b'").json()["positions"], false);
  const std::string model = " --model " + alphabet_model();
  for (const std::string& command :
       {"generate --greedy --max-tokens 8 --prompt cde" + model, "attend abcabc" + model}) {
    EXPECT_EQ(sextant(command + " --replace-scheme none").out,
              sextant(command + " --without-positions").out);
    EXPECT_THAT(sextant(command + " --replace-scheme t5").err,
                HasSubstr("replace-scheme] must be schemes that learn nothing"));
    EXPECT_THAT(sextant(command + " --replace-scheme none,alibi").err,
                HasSubstr("replace-scheme] must be one"));
    EXPECT_EQ(sextant(command + " --replace-scheme none --without-positions").code, 2);
    EXPECT_EQ(sextant(command + " --without-positions --replace-in 0").code, 0);
    EXPECT_THAT(sextant(command + " --without-positions --replace-in 90").err,
                HasSubstr("replace-in] must be layers 0 .. "));
    EXPECT_THAT(sextant(command + " --replace-in 0").err, HasSubstr("replace-in] must be given"));
    EXPECT_THAT(sextant(command + " --read-as llama").err,
                HasSubstr("read-as] must be given for a Hugging Face folder alone"));
  }
  EXPECT_THAT(sextant("attend 'a b' --without-positions").err, HasSubstr("attend.model"));
}

TEST(AttendRows, AreThoseOfTheWholeMap) {
  const std::string command = "attend abcabc --json --model " + alphabet_model();
  const Json all = sextant(command).json();
  EXPECT_NE(sextant(command + " --dtype bfloat16").json()["weights"], all["weights"]);
  const Json some = sextant(command + " --head 1 --rows 2,4").json();
  ASSERT_EQ(some["queries"].size(), 2u);
  EXPECT_EQ(some["first_query"], 2);
  EXPECT_EQ(some["weights"][0][0], all["weights"][1][2]);
  EXPECT_EQ(some["weights"][0][1], all["weights"][1][3]);
  for (const auto& [rows, code] :
       {std::pair{"4,4", 1}, {"0,99", 1}, {"2", 2}, {"a,b", 2}, {"-1,2", 2}}) {
    const Outcome refused = sextant(command + " --rows=" + rows);
    EXPECT_EQ(refused.code, code) << rows;
    EXPECT_THAT(refused.err, HasSubstr("[attend.rows] ")) << rows;
  }
}

TEST(AttendCommand, ShowsAllHeadsByWhatTheyLookAt) {
  const std::string command = "attend abcabc --overview --model " + alphabet_model();
  const Json json = sextant(command + " --json").json();
  EXPECT_GT(json["heads"].size(), 1);
  for (const char* key : {"layer", "head", "role", "score", "previous", "first", "distance"}) {
    EXPECT_TRUE(json["heads"][0].contains(key)) << key;
  }
  EXPECT_THAT(sextant(command).out, HasSubstr("layer  head"));
  EXPECT_THAT(sextant(command + " --format svg").out, HasSubstr("heads by their roles"));
  EXPECT_THAT(sextant(command + " --layer 0").err, HasSubstr("[attend.layer]"));
  EXPECT_THAT(sextant(command + " --format npy").err, HasSubstr("[attend.overview]"));
  EXPECT_THAT(sextant("attend abc --overview").err, HasSubstr("[attend.model]"));
  EXPECT_THAT(sextant(command + " --rows 0,2").err, HasSubstr("[attend.rows]"));
}

TEST(InfoCommand, DescribesAModel) {
  const auto json = sextant("info --json --model " + turning_model()).json();
  EXPECT_EQ(json["config"]["kind"], "translator");
  EXPECT_EQ(json["tokenizer"], "word");
  ASSERT_EQ(json["schemes"].size(), 1U);
  EXPECT_EQ(json["schemes"][0]["name"], "rotary");
  EXPECT_EQ(json["schemes"][0]["kind"], "rotated");
  EXPECT_GT(json["parameters"].get<int>(), 10000);
  ASSERT_EQ(json["float32_errors"].size(), 2U);
  const auto near = json["float32_errors"][0]["largest"].get<double>();
  const auto far = json["float32_errors"][1]["largest"].get<double>();
  EXPECT_LT(near, 1e-4);  // angles of a few units have roundings of 2^-22
  EXPECT_GT(far, 1e-3);   // angles up to 10^6 have roundings of 2^-5
  EXPECT_LT(far, 2);
  EXPECT_THAT(sextant("info --model shipped").out, HasSubstr("positions   rotary"));
  EXPECT_THAT(sextant("info --model shipped").out, HasSubstr("at position 1,000,000"));
  EXPECT_EQ(sextant("info --model /nowhere").code, 1);
}

}  // namespace
}  // namespace sextant::app_tests

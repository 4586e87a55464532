// `sextant similarity`: the chapter's three numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <sstream>

#include "apps/run_program.h"
#include "core/json/json.h"
#include "sextant/lessons/similarity.h"
#include "sextant/models/text_model.h"

namespace sextant::app_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kChapter =
    "The black cat sat on the couch and the brown dog slept on the rug.";

class Similarity : public ::testing::Test {
 protected:
  void SetUp() override { put(text_, kChapter); }
  std::string command(const std::string& rest) const {
    return "similarity black brown --file " + text_ + " " + rest;
  }
  const Folder folder_;
  const std::string text_ = folder_ / "file.txt";
};

TEST_F(Similarity, ThePositionalOneHasTheChaptersDigits) {
  const Outcome formula = sextant(command("--positions 2,10 --width 512"));
  EXPECT_EQ(formula.code, 0) << formula.err;
  EXPECT_THAT(formula.out, HasSubstr("0.72252008324682"));
  const Outcome doubled = sextant(command("--positions 2,10 --width 512 --doubled-exponent"));
  EXPECT_THAT(doubled.out, HasSubstr("0.86000133313923"));
  EXPECT_THAT(doubled.out, HasSubstr("mistake"));
}

TEST_F(Similarity, JsonHasAllThree) {
  const auto json = sextant(command("--positions 2,10 --json")).json();
  // The true value is 0.72252008324682734...; the chapter's last digit has the rounding of its sum.
  EXPECT_NEAR(json["position"].get<double>(), 0.72252008324682734, 0x1p-53);
  EXPECT_NEAR(json["position"].get<double>(), 0.7225200832468275, 0x1p-52);
  EXPECT_EQ(json["width"], 512);
  EXPECT_THAT(json["words"], ElementsAre("black", "brown"));
}

TEST_F(Similarity, PositionsAreThePlacesOfTheWordsUnlessGiven) {
  EXPECT_THAT(sextant(command("--json")).json()["positions"], ElementsAre(1, 9));
  put(text_, std::string("A brown day. Rain fell.\n") + kChapter);
  EXPECT_THAT(sextant(command("--json")).json()["positions"], ElementsAre(1, 9));
  put(text_, "Here is black paint. A brown day.");
  EXPECT_THAT(sextant(command("--json")).json()["positions"], ElementsAre(2, 1));
}

TEST_F(Similarity, FindsTheWordsNearestToASum) {
  put(folder_ / "v.vec", "king 1 1 0\nqueen 1 0 1\nboy 0 1 0\ngirl 0 0 1\nking-size 5 5 -1\n");
  const std::string of = " --vectors " + folder_ / "v.vec";
  const Json json = sextant("similarity --nearest 'King - boy + girl' --json" + of).json();
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["word"], "queen");
  EXPECT_EQ(json[0]["similarity"], 1.0);
  EXPECT_EQ(json[1]["word"], "king-size");
  EXPECT_EQ(sextant("similarity --nearest 'king - boy + girl' --count 1" + of).out, "queen  1\n");
  EXPECT_EQ(sextant("similarity --nearest 'king boy'" + of).code, 2);
  EXPECT_THAT(sextant("similarity --nearest 'king-boy+girl'" + of).err,
              HasSubstr("apart from + and - by spaces"));
  EXPECT_EQ(sextant("similarity king --nearest boy" + of).code, 2);
  EXPECT_EQ(sextant("similarity king" + of).code, 2);
  EXPECT_EQ(sextant("similarity king queen --count 3 --positions 0,1" + of).code, 2);
  EXPECT_THAT(sextant("similarity --nearest 'king - kin'" + of).err, HasSubstr("kin"));
}

TEST_F(Similarity, VectorsCanBeKeptAndLoaded) {
  const std::string vectors = folder_ / "words.vec";
  const auto trained =
      sextant(command("--width 16 --positions 2,10 --json --save-vectors " + vectors)).json();
  const auto loaded =
      sextant("similarity black brown --positions 2,10 --json --vectors " + vectors).json();
  EXPECT_EQ(loaded["width"], 16);
  EXPECT_EQ(loaded["position"], trained["position"]);
  EXPECT_NEAR(loaded["word"].get<double>(), trained["word"].get<double>(), 1e-6);  // float32 text
  const Outcome wrong =
      sextant("similarity black brown --positions 2,10 --width 8 --vectors " + vectors);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, StartsWith("sextant: [similarity.width]"));
}

// <a, b> / (|a| |b|) of the vectors, as the formula says it.
double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double dot = 0, norm_a = 0, norm_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b[i];
    norm_a += a[i] * a[i];
    norm_b += b[i] * b[i];
  }
  return dot / std::sqrt(norm_a * norm_b);
}

// The vector of a word in the text format: "word number number ...".
std::vector<double> vector_of(const std::string& file, const std::string& word) {
  std::istringstream lines(contents(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string first;
    if (!(in >> first) || first != word) continue;
    return {std::istream_iterator<float>(in), {}};  // its digits are those of float32
  }
  return {};
}

TEST_F(Similarity, AllThreeAreTheFormulaOfTheSavedVectors) {
  const std::string file = folder_ / "words.vec";
  constexpr std::size_t kWidth = 16;
  const auto json =
      sextant(command("--width 16 --positions 2,10 --json --save-vectors " + file)).json();
  std::vector<double> words[2] = {vector_of(file, "black"), vector_of(file, "brown")};
  std::vector<double> places[2], both[2];
  for (const int word : {0, 1}) {
    ASSERT_EQ(words[word].size(), kWidth);
    const double position = word == 0 ? 2 : 10;
    for (std::size_t i = 0; i < kWidth; ++i) {
      const double angle = position / std::pow(1e4, static_cast<double>(i / 2 * 2) / kWidth);
      places[word].push_back(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      both[word].push_back(std::sqrt(static_cast<double>(kWidth)) * words[word][i] +
                           places[word][i]);
    }
  }
  // The vectors are float32, written with digits that read back as the same; a sum of 16 products
  // here has an error of 16 * 2^-53 of its size, which the quotient has four times.
  EXPECT_NEAR(json["word"].get<double>(), cosine(words[0], words[1]), 64 * 0x1p-53);
  EXPECT_NEAR(json["position"].get<double>(), cosine(places[0], places[1]), 64 * 0x1p-53);
  EXPECT_NEAR(json["both"].get<double>(), cosine(both[0], both[1]), 64 * 0x1p-53);
}

TEST_F(Similarity, VectorsCanBeThoseOfAModel) {
  const std::vector<std::string> texts = {kChapter};
  const Tokenizer tokenizer = Tokenizer::train(texts, {.lower_case = true});
  TransformerConfig config;
  config.width = 16;
  config.layers = 1;
  TextModel model(config, tokenizer);
  model.save(folder_ / "");
  const auto words = tokenizer.encode("black brown");
  const auto vector = [&model](std::int64_t token) {
    Tensor<double> wide({model.config.width});
    for (std::int64_t i = 0; i < wide.count(); ++i) {
      wide(i) = static_cast<double>(model.embedding.table()(token, i));
    }
    return wide;
  };
  const double expected = cosine_similarity(vector(words[0]), vector(words[1]));
  const Outcome outcome =
      sextant("similarity black brown --positions 2,10 --json --model " + (folder_ / ""));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(Json::parse(outcome.out)["word"].get<double>(), expected, 1e-15);
  EXPECT_NE(sextant("similarity black brown --positions 2,10 --model nowhere").code, 0);
}

TEST_F(Similarity, WhatItWouldIgnoreIsRefused) {
  const std::string file = folder_ / "words.vec";
  ASSERT_EQ(sextant(command("--width 8 --save-vectors " + file)).code, 0);
  const std::string loaded = "similarity black brown --vectors " + file;
  EXPECT_EQ(sextant(loaded + " --positions 2,10").code, 0);
  EXPECT_EQ(sextant(loaded + " --file " + text_).code, 0);  // to find the words in
  for (const std::string& wrong :
       {std::string(" --positions 2,10 --window 3"), std::string(" --positions 2,10 --epochs 3"),
        std::string(" --positions 2,10 --seed 3"), " --positions 2,10 --file " + text_,
        std::string(), std::string(" --positions 2,10 --scheme learned")}) {
    EXPECT_EQ(sextant(loaded + wrong).code, 2) << wrong;
  }
  const Outcome rotary = sextant(command("--scheme rotary"));
  EXPECT_EQ(rotary.code, 2);
  EXPECT_EQ(rotary.err, "sextant: [similarity.scheme] must be one of sinusoidal, got 'rotary'\n");
}

TEST_F(Similarity, WordsThatAreNotThereAreNamed) {
  const Outcome wrong = sextant("similarity black violet --file " + text_);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("violet"));
  EXPECT_EQ(sextant("similarity black brown").code, 2);
  EXPECT_EQ(sextant("similarity black brown --file no-such-file").code, 1);
  EXPECT_EQ(sextant(command("--positions 2")).code, 2);
  EXPECT_EQ(sextant("similarity black").code, 2);
}

}  // namespace
}  // namespace sextant::app_tests

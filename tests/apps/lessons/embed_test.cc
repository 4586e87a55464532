// `sextant embed`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "apps/run_program.h"
#include "core/json/json.h"
#include "sextant/core/npy.h"
#include "sextant/hub/sentence_vectors.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

TEST(EmbedCommand, VectorsOfAModelAreThoseOfTheLibrary) {
  const Folder folder;
  const std::vector<std::string> texts = {"to be or not to be"};
  TransformerConfig config{.kind = ModelKind::masked, .width = 8, .heads = 2};
  const TextModel model(config, Tokenizer::train(texts));
  model.save(folder / "model");
  put(folder / "texts", "to be\nnot to be\n");
  const std::string command = "embed --model " + folder / "model";
  const Json json = sextant(command + " 'to be' 'not to be' --json").json();
  EXPECT_EQ(json["pooling"], "mean");
  const auto wanted = sentence_vectors(model, std::vector<std::string>{"to be", "not to be"});
  for (std::int64_t c = 0; c < 8; ++c) {
    EXPECT_EQ(json["vectors"][1][static_cast<std::size_t>(c)].get<float>(), wanted.vectors(1, c));
  }
  EXPECT_EQ(json["similarities"][0][0], 1);
  EXPECT_EQ(json["similarities"][0][1], json["similarities"][1][0]);
  EXPECT_EQ(sextant(command + " --file " + folder / "texts" + " --json").json()["vectors"],
            json["vectors"]);
  ASSERT_EQ(sextant(command + " 'to be' 'not to be' -o " + folder / "v.npy").code, 0);
  EXPECT_EQ(load_npy(folder / "v.npy").shape, (Shape{2, 8}));
  EXPECT_THAT(sextant(command + " 'to be' 'not to be' --format svg").out, HasSubstr("not to be"));
  EXPECT_THAT(sextant(command + " 'to be' 'not'").out, HasSubstr("1.0000"));
  EXPECT_THAT(sextant(command + " a --width 4").err, HasSubstr("[embed.width]"));
  EXPECT_THAT(sextant("embed a --format npy").err, HasSubstr("[embed.output]"));
  EXPECT_THAT(sextant("embed --file x").err, HasSubstr("[embed.file]"));
}

TEST(EmbedCommand, PaddingHasItsPositionAloneAndIsMasked) {
  const Json json = sextant("embed 'the black cat sat' 'The cat' --width 6 --json").json();
  EXPECT_EQ(json["tokens"][1].dump(), R"(["the","cat","<pad>","<pad>"])");
  EXPECT_EQ(json["ids"].dump(), "[[4,1,2,3],[4,2,0,0]]");
  EXPECT_EQ(json["mask"].dump(), "[[true,true,true,true],[true,true,false,false]]");
  for (int i = 0; i < 3;
       ++i) {  // half-split sinusoids of position 3; their products with 1 are exact
    const double angle = 3 / std::pow(10000.0, i / 3.0);
    EXPECT_NEAR(json["vectors"][1][3][static_cast<std::size_t>(i)].get<double>(), std::sin(angle),
                0x1p-51);
    EXPECT_NEAR(json["vectors"][1][3][static_cast<std::size_t>(i + 3)].get<double>(),
                std::cos(angle), 0x1p-51);
  }
}

TEST(EmbedCommand, AWordHasOneVectorAndEachPlaceAnother) {
  const Json json = sextant("embed 'the cat saw the cat' 'the dog' --json").json();
  const auto at = [&json](std::size_t sentence, std::size_t place) {
    return json["vectors"][sentence][place].dump();
  };
  EXPECT_EQ(at(0, 0), at(1, 0));
  EXPECT_NE(at(0, 0), at(0, 3));
  EXPECT_NE(at(0, 1), at(1, 1));
  EXPECT_NE(
      json["vectors"].dump(),
      sextant("embed 'the cat saw the cat' 'the dog' --seed 2 --json").json()["vectors"].dump());
}

TEST(EmbedCommand, RefusesWhatItCannotEmbed) {
  EXPECT_EQ(sextant("embed").code, 2);
  EXPECT_EQ(sextant("embed 'a b' --width 0").code, 2);
  EXPECT_EQ(sextant("embed '  '").code, 1);
  const Outcome mark = sextant("embed 'a <pad>'");
  EXPECT_EQ(mark.code, 1);
  EXPECT_THAT(mark.err, HasSubstr("<pad>"));
}

}  // namespace
}  // namespace sextant::app_tests

// `sextant embed`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "apps/run_program.h"
#include "core/json/json.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

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

// `sextant attend --vectors`: attention of word vectors without learned weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/run_program.h"
#include "core/json/json.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AttendVectors : public ::testing::Test {
 protected:
  void SetUp() override { put(folder_ / "v.vec", "sun 4 0\nmoon 0 4\nday 3 3\n"); }
  std::string command() const { return "attend 'Sun moon day' --vectors " + folder_ / "v.vec"; }
  const Folder folder_;
};

TEST_F(AttendVectors, ShowsWeightsAndTheNearestWords) {
  const Json json = sextant(command() + " --json").json();
  EXPECT_EQ(json["tokens"].dump(), R"(["sun","moon","day"])");
  ASSERT_EQ(json["weights"].size(), 3u);
  EXPECT_EQ(json["nearest"][2]["word"], "day");
  EXPECT_EQ(json["weights"][0][0], json["weights"][1][1]) << "the vectors mirror each other";
  const Outcome text = sextant(command());
  EXPECT_THAT(text.out, StartsWith("Attention without learned weights\n"));
  EXPECT_THAT(text.out, HasSubstr("\nword  its output is nearest to  similarity\nsun   sun "));
  for (const char* file : {"a.svg", "a.png", "a.html"}) {
    EXPECT_EQ(sextant(command() + " -o " + folder_ / file).code, 0) << file;
  }
  EXPECT_THAT(contents(folder_ / "a.html"), HasSubstr("moon"));
  EXPECT_EQ(sextant(command() + " --lines --format svg").code, 0);
}

TEST_F(AttendVectors, RefusesWhatHasNoMeaningHere) {
  for (const char* other : {" --heads 2", " --causal", " --scheme rotary", " --second moon",
                            " --seed 3", " --model m", " --head 0"}) {
    const Outcome refused = sextant(command() + other);
    EXPECT_EQ(refused.code, 2) << other;
    EXPECT_THAT(refused.err, StartsWith("sextant: [attend.vectors] must not be combined with"))
        << other;
  }
  const Outcome unknown = sextant("attend 'sun sky' --vectors " + folder_ / "v.vec");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("sky"));
}

}  // namespace
}  // namespace sextant::app_tests

// `sextant recommend`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "apps/run_program.h"
#include "core/json/json.h"
#include "sextant/core/npy.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RecommendCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    put(folder_ / "u.csv", "name,action,romance\nAnn,1,-0.5\nBo,-1,1\n");
    put(folder_ / "m.csv", "film,romance,action\nHeat,-0.5,1\nEmma,1,-1\nAlien,-1,1\n");
  }
  std::string command() const {
    return "recommend --users " + folder_ / "u.csv" + " --items " + folder_ / "m.csv";
  }
  const Folder folder_;
};

TEST_F(RecommendCommand, JsonHasNamesScoresAndWeights) {
  const Json json = sextant(command() + " --json").json();
  EXPECT_EQ(json["users"].dump(), R"(["Ann","Bo"])");
  EXPECT_EQ(json["items"].dump(), R"(["Heat","Emma","Alien"])");
  EXPECT_EQ(json["attributes"].dump(), R"(["action","romance"])");
  ASSERT_EQ(json["weights"].size(), 2u);
  ASSERT_EQ(json["weights"][0].size(), 3u);
  // Ann: (1 + 0.25, -1 - 0.5, 1 + 0.5) / sqrt(2); each weight within a few roundings.
  const double heat = 1.25 / std::sqrt(2.0), emma = -1.5 / std::sqrt(2.0), alien = -emma;
  const double sum = std::exp(heat) + std::exp(emma) + std::exp(alien);
  EXPECT_NEAR(json["scores"][0][1].get<double>(), emma, 3 * 0x1p-52);
  EXPECT_NEAR(json["weights"][0][0].get<double>(), std::exp(heat) / sum, 8 * 0x1p-52);
  EXPECT_NEAR(json["weights"][0][2].get<double>(), std::exp(alien) / sum, 8 * 0x1p-52);
}

TEST_F(RecommendCommand, ShowsTablesAndPictures) {
  const Outcome shown = sextant(command());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("scores: users x items / sqrt(2)"));
  EXPECT_THAT(shown.out, HasSubstr("Emma"));
  EXPECT_EQ(sextant(command() + " -o " + folder_ / "w.svg").code, 0);
  const std::string svg = contents(folder_ / "w.svg");
  for (const char* name : {"Ann", "Bo", "Heat", "Emma", "Alien"}) EXPECT_THAT(svg, HasSubstr(name));
  for (const char* axis : {">Users</text>", ">Film</text>"}) EXPECT_THAT(svg, HasSubstr(axis));
  for (const char* fixed : {"Queries", "Items", "queries"}) {
    EXPECT_THAT(svg, ::testing::Not(HasSubstr(fixed)));
  }
  EXPECT_EQ(sextant(command() + " -o " + folder_ / "w.npy").code, 0);
  EXPECT_EQ(load_npy(folder_ / "w.npy").shape, (Shape{2, 3}));
}

TEST_F(RecommendCommand, ShowDrawsTheTableThatIsAskedFor) {
  const auto picture = [&](const std::string& what) {
    return sextant(command() + " --format svg --show " + what).out;
  };
  const std::string users = picture("users"), items = picture("items"), scores = picture("scores");
  for (const char* name : {"Ann", "Bo", "action", "romance", "Users", "Attributes"}) {
    EXPECT_THAT(users, HasSubstr(">" + std::string(name) + "</text>"));
  }
  EXPECT_THAT(users, ::testing::Not(HasSubstr(">Heat<")));
  for (const char* name : {"Heat", "Alien", "romance", "Film"}) {
    EXPECT_THAT(items, HasSubstr(">" + std::string(name) + "</text>"));
  }
  for (const char* name : {"Ann", "Emma", "Users", "Film", "Score"}) {
    EXPECT_THAT(scores, HasSubstr(">" + std::string(name) + "</text>"));
  }
  EXPECT_EQ(sextant(command() + " --show scores -o " + folder_ / "s.npy").code, 0);
  const Array saved = load_npy(folder_ / "s.npy");
  EXPECT_EQ(saved.as<double>()(0, 1), sextant(command() + " --json").json()["scores"][0][1]);
  const Outcome ignored = sextant(command() + " --show users");
  EXPECT_EQ(ignored.code, 2);
  EXPECT_THAT(ignored.err,
              HasSubstr("[recommend.show] must be given with svg, png, pdf, html or npy"));
  EXPECT_EQ(sextant(command() + " --show films -o x.svg").code, 2);
}

TEST_F(RecommendCommand, NamesWhatDoesNotFit) {
  put(folder_ / "m.csv", "film,romance,war\nHeat,1,1\n");
  const Outcome other = sextant(command());
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, StartsWith("sextant: [recommend.items] must have the attributes"));
  put(folder_ / "m.csv", "film,romance,action\nHeat,1\n");
  EXPECT_THAT(sextant(command()).err, HasSubstr("m.csv line 2] must have a name and 2 numbers"));
  EXPECT_EQ(sextant("recommend --users -  --items -").code, 2);
  EXPECT_EQ(sextant("recommend --users u.csv").code, 2);
}

}  // namespace
}  // namespace sextant::app_tests

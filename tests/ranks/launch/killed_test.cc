// A rank that is killed in any phase ends all, soon, with its number in the message.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "ranks/launch/launch.h"

namespace sextant::ranks {
namespace {

class KilledRank : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Phases, KilledRank,
                         testing::Values("start", "send", "compute", "reduce", "write"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(KilledRank, EndsAllWithinTenSecondsAndIsNamed) {
  const std::string folder = testing::TempDir() + "/killed-" + GetParam();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Ended ended = launch(3, phases_program() + " " + GetParam() + " " + folder);
  EXPECT_NE(ended.code, 0);
  EXPECT_LE(ended.seconds, 10);
  EXPECT_NE(ended.text.find("rank 1"), std::string::npos) << ended.text;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    // Complete, and nothing half-written: a rank that is killed while it writes leaves the file
    // that it would have renamed.
    const std::string name = file.path().filename().string();
    if (name.starts_with(".sextant-")) continue;
    EXPECT_EQ(name, "first.npy");
  }
}

TEST(Ranks, EndWellWhenNobodyIsKilled) {
  const Ended ended = launch(3, phases_program() + " none " + testing::TempDir());
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(ended.text, "");
}

}  // namespace
}  // namespace sextant::ranks

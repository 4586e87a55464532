// A rank that is killed while it trains ends all, and the run goes on from the last checkpoint.
#include <gtest/gtest.h>

#include <filesystem>

#include "ranks/launch/launch.h"
#include "sextant/core/files.h"

namespace sextant::ranks {
namespace {

std::string folder_of(const std::string& phase) {
  return testing::TempDir() + "/killed-training-" + phase;
}
Ended train_in(const std::string& phase, const std::string& folder, int ranks) {
  return launch(ranks, training_phases_program() + " " + phase + " " + folder_of(folder));
}
std::string model_of(const std::string& folder) {
  return read_file(folder_of(folder) + "/last/model.safetensors");
}

TEST(KilledTraining, EndsAllWithinTenSecondsAndGoesOnFromItsCheckpoint) {
  std::filesystem::remove_all(folder_of("none"));
  const Ended straight = train_in("none", "none", 1);
  ASSERT_EQ(straight.code, 0) << straight.text;
  for (const std::string phase : {"step", "reduce", "checkpoint"}) {
    std::filesystem::remove_all(folder_of(phase));
    const Ended ended = train_in(phase, phase, 3);
    EXPECT_NE(ended.code, 0);
    EXPECT_LE(ended.seconds, 10) << phase;
    const std::string victim = phase == "checkpoint" ? "rank 0" : "rank 1";
    EXPECT_NE(ended.text.find(victim), std::string::npos) << phase << ": " << ended.text;
    EXPECT_EQ(std::filesystem::read_symlink(folder_of(phase) + "/last"), "checkpoint-000000004");
    const Ended resumed = train_in("resume", phase, 2);
    EXPECT_EQ(resumed.code, 0) << resumed.text;
    EXPECT_EQ(model_of(phase), model_of("none")) << phase;
  }
}

// The other one may wait for it in a call of attention.
TEST(KilledTraining, EndsWhenARankOfASequenceAloneFails) {
  std::filesystem::remove_all(folder_of("alone"));
  const Ended ended = train_in("alone", "alone", 2);
  EXPECT_NE(ended.code, 0);
  EXPECT_LE(ended.seconds, 10);
  EXPECT_NE(ended.text.find("rank 1: [task] must have memory"), std::string::npos) << ended.text;
}

}  // namespace
}  // namespace sextant::ranks

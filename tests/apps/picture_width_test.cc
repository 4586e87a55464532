// --max-width, of every command that writes pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

TEST(PictureWidth, NoPictureIsWiderThanAskedFor) {
  const Folder folder;
  std::filesystem::create_directory(folder / "run");
  put(folder / "run/metrics.jsonl",
      "{\"step\":1,\"loss\":2,\"mean_loss\":2,\"seconds\":1}\n"
      "{\"step\":2,\"loss\":1,\"mean_loss\":1.5,\"seconds\":2}\n");
  put(folder / "users.csv", "name,action,romance\nAnn,1,-0.5\nBen,-1,1\n");
  put(folder / "films.csv", "film,action,romance\nHeat,1,-0.8\nEmma,-0.9,1\n");
  const std::vector<std::string> commands = {
      "plot sinusoids 'I am a robot'",
      "plot rows",
      "plot heatmap",
      "plot heatmap --scheme rotary",
      "plot heatmap --scheme fire --heads 4",
      "plot similarity",
      "plot distance",
      "plot distance --schemes sinusoidal,rotary,alibi",
      "plot offset-matrix",
      "plot offset-matrix --position 3",
      "plot difference --schemes rotary,rotary:base=500000",
      "plot losses " + (folder / "run"),
      "encode --length 40 --width 64",
      "encode --length 40 --scheme fire --heads 4",
      "attend 'the black cat sat'",
      "attend 'the black cat sat' --lines",
      "attend 'the black cat sat' --step q",
      "compare 'the dog bit the man' 'the man bit the dog'",
      "recommend --users " + (folder / "users.csv") + " --items " + (folder / "films.csv"),
      "recommend --show users --users " + (folder / "users.csv") + " --items " +
          (folder / "films.csv"),
  };
  for (const std::string& command : commands) {
    const Outcome drawn = sextant(command + " --max-width 350 --format svg");
    ASSERT_EQ(drawn.code, 0) << command << ": " << drawn.err;
    EXPECT_LE(width_of(drawn.out), 350) << command;
  }
}

TEST(PictureWidth, IsRefusedWithoutAPicture) {
  for (const char* command :
       {"plot heatmap", "plot heatmap --format csv", "encode --length 4 --width 4", "attend 'a b'",
        "attend 'a b' --json", "compare 'a b' 'b a' --json"}) {
    const Outcome refused = sextant(std::string(command) + " --max-width 350");
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_THAT(refused.err,
                HasSubstr(".max-width] must be given with svg, png, pdf or html, got it "))
        << command;
  }
}

}  // namespace
}  // namespace sextant::app_tests

// `mpirun sextant extrapolate` beside the same command in one process.
#include <gtest/gtest.h>

#include <sstream>

#include "ranks/launch/started.h"

namespace sextant::ranks {
namespace {

namespace fs = std::filesystem;

class ExtrapolateOnRanks : public testing::Test {
 protected:
  ExtrapolateOnRanks() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "the cat sat on "[i * i % 15];
    write_file(path("text.txt"), text);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string extrapolate(const std::string& more, const std::string& folder) const {
    return sextant_program() + " extrapolate --file " + path("text.txt") +
           " --width 16 --heads 2 --layers 1 --train-length 16 --test-lengths 16,32"
           " --batch-size 4 --stride 8 --scored 128 " +
           more + " -o " + path(folder);
  }
  // results.json but for the seconds.
  std::string results(const std::string& folder) const {
    std::istringstream lines(read_file(path(folder) + "/results.json"));
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("\"seconds\"") == line.npos) text += line + "\n";
    }
    return text;
  }

  std::string folder_ = testing::TempDir() + "/extrapolate-on-ranks";
};

TEST_F(ExtrapolateOnRanks, HasTheResultsOfOneProcess) {
  const std::string steps = "--steps 5 --schemes none,rotary,alibi,t5";
  const Ended one = run_alone(extrapolate(steps, "1")), all = launch(3, extrapolate(steps, "3"));
  ASSERT_EQ(one.code, 0) << one.text;
  ASSERT_EQ(all.code, 0) << all.text;
  EXPECT_EQ(results("3"), results("1"));
  EXPECT_EQ(count_of(all.text, "Perplexity per character"), 1) << "one tells it";
  for (const char* model : {"/none", "/rotary", "/alibi", "/t5"}) {
    EXPECT_EQ(read_file(path("3") + model + "/last/model.safetensors"),
              read_file(path("1") + model + "/last/model.safetensors"));
  }
  EXPECT_TRUE(fs::exists(path("3/extrapolation.svg")));
}

TEST_F(ExtrapolateOnRanks, HasTheSeedsOfOneProcess) {
  const std::string seeds = "--steps 5 --schemes none,rotary,t5 --seeds 3";
  const Ended one = run_alone(extrapolate(seeds, "1")), all = launch(2, extrapolate(seeds, "2"));
  ASSERT_EQ(one.code, 0) << one.text;
  ASSERT_EQ(all.code, 0) << all.text;
  EXPECT_EQ(results("2"), results("1"));
  EXPECT_EQ(count_of(all.text, "): training"), 9) << all.text;
  for (const char* model : {"/none", "/seed-1/rotary", "/seed-2/t5"}) {
    EXPECT_EQ(read_file(path("2") + model + "/last/model.safetensors"),
              read_file(path("1") + model + "/last/model.safetensors"));
  }
}

// The models that were finished are kept, and the same command goes on.
TEST_F(ExtrapolateOnRanks, GoesOnAfterALossAndAfterAnInterrupt) {
  const std::string steps = "--steps 400 --schemes none,rotary,t5 --seeds 2";
  ASSERT_EQ(run_alone(extrapolate(steps, "straight")).code, 0);
  for (const int signal : {SIGKILL, SIGINT}) {
    const std::string run = "run-" + std::to_string(signal);
    Started started(2, extrapolate(steps, run), folder_);
    ASSERT_TRUE(started.wait_for(path(run) + "/results.json"));
    const auto told = std::chrono::steady_clock::now();
    started.tell(1, signal);
    Ended ended = started.end();
    EXPECT_LE(std::chrono::steady_clock::now() - told, std::chrono::seconds(10));
    if (signal == SIGKILL) {
      EXPECT_NE(ended.code, 0);
      EXPECT_NE(ended.text.find("rank 1"), std::string::npos) << ended.text;
    } else {
      EXPECT_EQ(ended.code, 130) << ended.text;
      EXPECT_EQ(count_of(ended.text, "sextant: stopped; the same command continues"), 1);
    }
    EXPECT_NE(results(run), results("straight"));
    ended = launch(2, extrapolate(steps, run));
    EXPECT_EQ(ended.code, 0) << ended.text;
    EXPECT_LT(count_of(ended.text, "): training"), 6) << ended.text;
    EXPECT_EQ(results(run), results("straight"));
  }
}

TEST_F(ExtrapolateOnRanks, TellsOnceWhatDiffersBetweenRanks) {
  const Ended ended =
      launch(1, extrapolate("--steps 5", "r") + " : -n 1 " + extrapolate("--steps 6", "r"));
  EXPECT_EQ(ended.code, 1);
  const std::string says =
      "sextant: [extrapolate.steps] must be the same on all ranks, got 5 on rank 0 and 6 on rank "
      "1";
  EXPECT_EQ(count_of(ended.text, says), 1) << ended.text;
  EXPECT_FALSE(fs::exists(path("r")));
}

}  // namespace
}  // namespace sextant::ranks

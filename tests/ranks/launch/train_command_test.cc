// `mpirun sextant train` beside the same command in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ranks/launch/started.h"
#include "sextant/core/random.h"

namespace sextant::ranks {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TrainOnRanks : public testing::Test {
 protected:
  TrainOnRanks() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    NumpyRandom random(1);
    std::string text, pairs;
    for (int line = 0; line < 60; ++line) {
      std::string words;
      for (int i = 0; i < 6; ++i) words += "the cat sat on a mat "[random.bits() % 21];
      text += words + " saw the dog\n";
      pairs += words + "\t" + words + "\n";
    }
    write_file(path("text.txt"), text);
    write_file(path("pairs.tsv"), pairs);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string train(const std::string& words, const std::string& folder) const {
    return sextant_program() + " train " + words + " -o " + path(folder);
  }
  std::string language_model(const std::string& folder, const std::string& more) const {
    return train("lm --file " + path("text.txt") + kSmall + more, folder);
  }
  std::string model(const std::string& folder) const {
    return read_file(path(folder) + "/model.safetensors");
  }
  void expect_same_run(const std::string& a, const std::string& b) const {
    for (const char* which : {"/best", "/last"}) EXPECT_EQ(model(a + which), model(b + which));
    EXPECT_EQ(read_file(path(a) + "/run.json"), read_file(path(b) + "/run.json"));
  }

  static constexpr const char* kSmall =
      " --width 16 --heads 2 --layers 1 --length 16 --batch-size 5 --validate-every 3 --warmup 2"
      " --decay constant ";
  std::string folder_ = testing::TempDir() + "/train-on-ranks";
};

TEST_F(TrainOnRanks, WritesTheModelsOfOneProcess) {
  const std::string text = " --file " + path("text.txt") + kSmall,
                    pairs = " --pairs " + path("pairs.tsv") + kSmall;
  for (const auto& [kind, words, ranks] : {std::tuple{"lm", text, 4},
                                           {"mlm", text + "--tokenizer character ", 3},
                                           {"translate", pairs + "--tokenizer character ", 2}}) {
    const std::string all =
        kind + words + "--steps 7 --accumulation-steps " + std::to_string(ranks);
    const Ended one = run_alone(train(all, std::string(kind) + "-1"));
    const Ended many = launch(ranks, train(all, std::string(kind) + "-r"));
    ASSERT_EQ(one.code, 0) << one.text;
    ASSERT_EQ(many.code, 0) << many.text;
    expect_same_run(std::string(kind) + "-1", std::string(kind) + "-r");
    EXPECT_EQ(count_of(many.text, "\nperplexity"), 1) << "one tells it";
  }
}

// A step is made in a batch for each rank unless it is told otherwise, and then stays so.
TEST_F(TrainOnRanks, ResumesOnAnotherNumberOfRanks) {
  ASSERT_EQ(run_alone(language_model("1", "--steps 9 --accumulation-steps 3")).code, 0);
  Ended ended = launch(3, language_model("r", "--steps 4"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("; 3 ranks make each step in 3 batches"));
  ended = launch(2, train("--resume --steps 6", "r"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  ended = launch(4, train("--resume --steps 9", "r"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("in 3 batches, so that some have nothing to do"));
  EXPECT_EQ(model("r/last"), model("1/last"));
}

TEST_F(TrainOnRanks, TellsOnceWhatDiffersBetweenRanks) {
  const std::string steps = "--steps 4 --accumulation-steps 2 ";
  const auto differ = [&](const std::string& command, const std::string& says) {
    const Ended ended = launch(1, language_model("r", steps) + " : -n 1 " + command);
    EXPECT_NE(ended.code, 0) << command;
    EXPECT_EQ(count_of(ended.text, says), 1) << says << " is not in: " << ended.text;
    EXPECT_LE(ended.seconds, 10);
    EXPECT_FALSE(fs::exists(path("r")));
  };
  differ(language_model("r", steps + "--seed 2"),
         "sextant: [train.seed] must be the same on all ranks, got nothing on rank 0 and 2 on rank "
         "1");
  differ(language_model("r", steps + "--rate 0.5"), "sextant: [train.rate] must be the same");
  differ(
      language_model("r", "--steps 4 --accumulation-steps 1"),
      "sextant: [train.accumulation-steps] must be the same on all ranks, got 2 on rank 0 and 1");
  differ(language_model("other", steps), "sextant: [train.output] must be the same on all ranks");
  EXPECT_FALSE(fs::exists(path("other")));
  differ(train("lm --file " + path("none.txt") + kSmall + steps, "r"),
         "none.txt] cannot be opened");
  differ(train("reverse " + std::string(kSmall) + steps, "r"), "must be the same on all ranks");
  const Ended few = launch(2, language_model("r", "--steps 4 --accumulation-steps 1"));
  EXPECT_EQ(few.code, 1);
  EXPECT_EQ(count_of(few.text, "sextant: [train.accumulation-steps] must be at least"), 1);
}

// Four ranks as two pairs, each of which has half of the sequences and both halves of them.
TEST_F(TrainOnRanks, DividesSequences) {
  ASSERT_EQ(run_alone(language_model("1", "--steps 4 --accumulation-steps 2")).code, 0);
  Ended ended = launch(4, language_model("r", "--steps 4 --context-parallel 2"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text,
              HasSubstr("; 4 ranks make each step in 2 batches, 2 of them each sequence"));
  const std::string metrics = read_file(path("r/metrics.jsonl"));
  EXPECT_EQ(count_of(metrics, "\n"), 4);
  // The first step's loss, before any update has enlarged what rounding makes different.
  const auto loss = [](const std::string& text) {
    return std::stod(text.substr(text.find("loss") + 6));
  };
  EXPECT_NEAR(loss(metrics), loss(read_file(path("1/metrics.jsonl"))), 1e-6 * loss(metrics));
  for (const auto& [ranks, of_each] : {std::pair{3, 3}, {2, 1}}) {
    ended = launch(ranks, train("--resume --steps " + std::to_string(9 - ranks) +
                                    " --context-parallel " + std::to_string(of_each),
                                "r"));
    ASSERT_EQ(ended.code, 0) << ended.text;
  }
  EXPECT_EQ(count_of(read_file(path("r/metrics.jsonl")), "\n"), 7);
}

TEST_F(TrainOnRanks, RefusesToDivideWhatItCannot) {
  const auto refuses = [&](const Ended& ended, const std::string& says) {
    EXPECT_NE(ended.code, 0);
    EXPECT_EQ(count_of(ended.text, says), 1) << says << " is not in: " << ended.text;
    EXPECT_FALSE(fs::exists(path("r")));
  };
  const std::string divided = "--steps 4 --context-parallel 2";
  refuses(launch(3, language_model("r", divided)),
          "sextant: [ranks.context_parallel] must divide the number of ranks, 3, got 2");
  refuses(run_alone(language_model("r", divided)),
          "[train.context-parallel] must be 1 without mpirun, which starts the ranks, got 2");
  refuses(run_alone(train("reverse " + std::string(kSmall) + divided, "r")),
          "[train.context-parallel] must be given with lm mlm only, got it with reverse");
  ASSERT_EQ(run_alone(train("reverse " + std::string(kSmall) + "--steps 2", "pairs")).code, 0);
  refuses(launch(2, train("--resume " + divided, "pairs")),
          "sextant: [train.context-parallel] must be 1 for reverse, got 2: only lm and mlm divide");
}

// The others wait for it in a call of attention.
TEST_F(TrainOnRanks, EndsWhenARankOfASequenceIsKilled) {
  Started started(
      2, language_model("r", "--steps 1000000 --checkpoint-every 2 --context-parallel 2"), folder_);
  ASSERT_TRUE(started.wait_for(path("r") + "/last/training.json"));
  started.tell(1, SIGKILL);
  Ended ended = started.end();
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.text, HasSubstr("rank 1"));
  const std::string last = fs::read_symlink(path("r") + "/last").string();
  const std::int64_t step = std::stoll(last.substr(last.rfind('-') + 1));
  ended = run_alone(train("--resume --steps " + std::to_string(step + 2), "r"));
  EXPECT_EQ(ended.code, 0) << ended.text;
}

// Ctrl-C reaches all ranks, an operator perhaps one: the rest is the same.
TEST_F(TrainOnRanks, SavesAndEndsAsOneProcessDoesWhenItIsInterrupted) {
  for (const bool all : {true, false}) {
    const std::string run = all ? "all" : "one";
    Started started(2, language_model(run, "--steps 1000000 --accumulation-steps 2"), folder_);
    ASSERT_TRUE(started.wait_for(path(run) + "/metrics.jsonl"));
    if (all) started.tell(0, SIGINT);
    started.tell(1, SIGINT);
    Ended ended = started.end();
    EXPECT_EQ(ended.code, 130) << ended.text;
    EXPECT_EQ(count_of(ended.text, "sextant: saving after this step"), all ? 1 : 0);
    EXPECT_EQ(count_of(ended.text, "which is saved"), 1) << ended.text;
    const std::string last = fs::read_symlink(path(run) + "/last").string();
    const std::int64_t step = std::stoll(last.substr(last.rfind('-') + 1));
    ended = run_alone(train("--resume --steps " + std::to_string(step + 2), run));
    EXPECT_EQ(ended.code, 0) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("trained "));
  }
}

}  // namespace
}  // namespace sextant::ranks

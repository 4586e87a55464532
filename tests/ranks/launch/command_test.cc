// `sextant attention --ranks` beside the same command in one process.
#include <gtest/gtest.h>

#include <filesystem>

#include "ranks/launch/launch.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/core/random.h"
#include "sextant/kernels.h"

namespace sextant::ranks {
namespace {

class AttentionOnRanks : public testing::Test {
 protected:
  AttentionOnRanks() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("q", {2, 4, 90, 16}, 1);
    write("k", {2, 2, 90, 16}, 2);
    write("v", {2, 2, 90, 8}, 3);
    write("dout", {2, 4, 90, 8}, 4);
    write("mask", {90, 90}, 5);
    write("bias", {4, 199}, 6);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const Shape& shape, std::uint32_t seed) const {
    NumpyRandom random(seed);
    Tensor<float> x(shape);
    for (float& value : x.span()) value = static_cast<float>(random.normal());
    save_npy<float>(path(name + ".npy"), x);
  }
  std::string call(const std::string& more, const std::string& end) const {
    return sextant_program() + " attention --q " + path("q.npy") + " --k " + path("k.npy") +
           " --v " + path("v.npy") + " -o " + path("out" + end) + " --log-sum-exp " +
           path("lse" + end) + " " + more;
  }
  // Every file of the results has the bytes of one process's.
  void expect_same(int count, const std::string& more, const std::string& ranks,
                   const std::vector<std::string>& results) const {
    std::string alone = call(more, "-1.npy"), many = call(more + " " + ranks, "-r.npy");
    for (const std::string& name : results) {
      alone += " --" + name + " " + path(name + "-1.npy");
      many += " --" + name + " " + path(name + "-r.npy");
    }
    const Ended one = run_alone(alone), all = launch(count, many);
    ASSERT_EQ(one.code, 0) << one.text;
    ASSERT_EQ(all.code, 0) << all.text;
    EXPECT_EQ(all.text, "");
    for (std::string name : results)
      EXPECT_EQ(bytes(name + "-1.npy"), bytes(name + "-r.npy")) << name;
    EXPECT_EQ(bytes("out-1.npy"), bytes("out-r.npy"));
    EXPECT_EQ(bytes("lse-1.npy"), bytes("lse-r.npy"));
  }
  std::string bytes(const std::string& name) const { return read_file(path(name)); }

  std::string folder_ = testing::TempDir() + "/attention-on-ranks";
};

TEST_F(AttentionOnRanks, ReproducibleWritesTheFilesOfOneProcess) {
  expect_same(3, "--causal top_left --rotary-base 10000 --window 40,-1",
              "--ranks gather --divide zigzag --reproducible", {});
  expect_same(
      2,
      "--mask " + path("mask.npy") + " --bias " + path("bias.npy") + " --dout " + path("dout.npy"),
      "--ranks ulysses --divide striped --reproducible", {"dq", "dk", "dv", "dmask", "dbias"});
}

TEST_F(AttentionOnRanks, ARingWritesNearlyTheSameNumbers) {
  const Ended one = run_alone(call("--causal top_left --alibi", "-1.npy"));
  const Ended all =
      launch(3, call("--causal top_left --alibi --ranks ring --divide zigzag", "-r.npy"));
  ASSERT_EQ(one.code + all.code, 0) << one.text << all.text;
  const Array a = load_npy(path("out-1.npy")), b = load_npy(path("out-r.npy"));
  ASSERT_EQ(a.shape, b.shape);
  for (std::int64_t n = 0; n < a.count(); ++n) {
    // Chains of 90 additions of values of about 1, and three of them merged.
    EXPECT_NEAR(a.as<float>().data()[n], b.as<float>().data()[n], 100 * 0x1p-24);
  }
}

TEST_F(AttentionOnRanks, ReplacesWhatALinkLeadsToAndKeepsItsPermissions) {
  namespace fs = std::filesystem;
  const auto permissions = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  write_file(path("old.npy"), "old");
  fs::permissions(path("old.npy"), permissions);
  fs::create_symlink("old.npy", path("out-r.npy"));
  const Ended ended = launch(2, call("--ranks gather", "-r.npy"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_TRUE(fs::is_symlink(path("out-r.npy")));
  EXPECT_EQ(load_npy(path("old.npy")).shape, (Shape{2, 4, 90, 8}));
  EXPECT_EQ(fs::status(path("old.npy")).permissions(), permissions);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

TEST_F(AttentionOnRanks, ExplainsItsPlan) {
  const Ended ended = launch(2, sextant_program() + " attention --q " + path("q.npy") + " --k " +
                                    path("k.npy") + " --v " + path("v.npy") +
                                    " --causal top_left --ranks auto --divide zigzag --explain");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.text.find("ranks: 2, algorithm "), std::string::npos) << ended.text;
  // 90 positions in 4 pieces: the outer two see 16560 of the 32760 pairs, 0.989 = 32760 / (2 *
  // 16560).
  EXPECT_NE(ended.text.find("sharding zigzag"), std::string::npos);
  EXPECT_NE(ended.text.find("balance 0.989"), std::string::npos) << ended.text;
}

TEST_F(AttentionOnRanks, TellsAMistakeOnceAndEnds) {
  const auto lines_with = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  std::filesystem::remove(path("k.npy"));
  Ended ended = launch(3, call("--ranks ring", "-r.npy"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(lines_with(ended.text, "k.npy] cannot be opened"), 1) << ended.text;
  write("k", {2, 3, 90, 16}, 2);
  ended = launch(3, call("--ranks ring", "-r.npy"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(lines_with(ended.text, "sextant: [attention.k]"), 1) << ended.text;
  ended = launch(2, call("--ranks ring --weights " + path("w.npy"), "-r.npy"));
  EXPECT_NE(ended.text.find("[attention.weights] must not be combined with --ranks"),
            std::string::npos);
}

// Rank 0 divides a call; rank 1 does something else. All end, one says why, nothing is written.
TEST_F(AttentionOnRanks, EndsWithWordsWhereARankRunsSomethingElse) {
  const std::string own = "--ranks ring --causal top_left";
  const auto ends = [&](const std::string& first, const std::string& second,
                        const std::string& says) {
    std::filesystem::remove(path("out-r.npy"));
    const Ended ended = launch(1, first + " : -n 1 " + second);
    EXPECT_NE(ended.code, 0) << second;
    EXPECT_NE(ended.code, 124) << second << " still waited";
    EXPECT_NE(ended.text.find(says), std::string::npos) << says << " is not in: " << ended.text;
    EXPECT_FALSE(std::filesystem::exists(path("out-r.npy"))) << second;
  };
  const std::string divided = call(own, "-r.npy");
  ends(divided, call("--causal top_left", "-r.npy"),
       "sextant: [attention.ranks] must be given where a launcher starts 2 processes");
  ends(
      divided, call(own + " --softcap 5", "-r.npy"),
      "sextant: [attention.softcap] must be the same on all ranks, got nothing on rank 0 and 5 on");
  ends(divided, call(own, "-s.npy"), "out-s.npy on rank 1");
  ends(divided, sextant_program() + " train reverse --steps 2 -o " + path("run"),
       "sextant: [command] must be the same on all ranks, got attention on rank 0 and train on");
  write("other", {2, 4, 90, 16}, 7);
  std::string other = divided;
  other.replace(other.find("q.npy"), 5, "other.npy");
  ends(divided, other, "sextant: [attention.q] must be the same on all ranks, got other values on");
}

TEST_F(AttentionOnRanks, ReadsCopiesOfAFileAndMayUseOtherThreads) {
  std::filesystem::copy_file(path("q.npy"), path("copy.npy"));
  std::string other = call("--ranks gather --threads 2", "-r.npy");
  other.replace(other.find("q.npy"), 5, "copy.npy");
  const Ended ended = launch(1, call("--ranks gather", "-r.npy") + " : -n 1 " + other);
  EXPECT_EQ(ended.code, 0) << ended.text;
}

// Where the bits have to be those of one process, ranks compute with the same instructions.
TEST_F(AttentionOnRanks, RefusesOtherInstructionsForTheSameBits) {
  const std::string all = compiled_targets();
  const std::string least = all.substr(all.rfind(' ') + 1);
  if (chosen_target() == least) GTEST_SKIP() << "only " << least << " is here";
  const auto run = [&](const std::string& more) {
    const std::string command = call("--ranks gather" + more, "-r.npy");
    return launch(1, command + " : -n 1 env SEXTANT_TARGET=" + least + " " + command);
  };
  const Ended ended = run(" --reproducible");
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.text.find("sextant: [SEXTANT_TARGET] must be the same on all ranks, got " +
                            chosen_target() + " on rank 0 and " + least + " on rank 1"),
            std::string::npos)
      << ended.text;
  EXPECT_EQ(run("").code, 0);
}

// One that never starts MPI: another program, which runs on or has ended.
TEST_F(AttentionOnRanks, DoesNotWaitForEverForAnotherProgram) {
  for (const char* program : {"sleep 60", "true"}) {
    const Ended ended = launch(
        1, "env SEXTANT_START_SECONDS=3 " + call("--ranks ring", "-r.npy") + " : -n 1 " + program);
    EXPECT_NE(ended.code, 0) << program;
    EXPECT_LE(ended.seconds, 30) << program;
    EXPECT_FALSE(std::filesystem::exists(path("out-r.npy")));
  }
}

}  // namespace
}  // namespace sextant::ranks

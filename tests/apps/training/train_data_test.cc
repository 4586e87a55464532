// `sextant train` on files of tokens, on documents and on data that moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTiny =
    " --width 16 --heads 2 --layers 1 --batch-size 4 --threads 1 --length 16 ";

class TrainData : public ::testing::Test {
 protected:
  TrainData() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "abcdefghijklmnopqrstuvwxyz\n";
    put(text_, text);
  }
  std::string lm(const std::string& file, const std::string& run, const std::string& more) const {
    return "train lm --file " + file + " -o " + (folder_ / run) + kTiny + more;
  }
  std::string model(const std::string& run) const {
    return contents(folder_ / run + "/last/model.safetensors");
  }

  Folder folder_;
  const std::string text_ = folder_ / "text.txt", tokens_ = folder_ / "tokens.safetensors";
};

TEST_F(TrainData, TokensOfAFileTrainAsItsTextDoes) {
  ASSERT_EQ(sextant(lm(text_, "run", "--steps 3")).code, 0);
  const std::string of_run = folder_ / "run/data/tokens.safetensors";
  const Outcome again = sextant(lm(of_run, "again", "--steps 3"));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(model("again"), model("run"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "again/data"));

  const Outcome tokenized =
      sextant("tokenize --file " + text_ + " --model " + (folder_ / "run") + " -o " + tokens_);
  ASSERT_EQ(tokenized.code, 0) << tokenized.err;
  EXPECT_EQ(tokenized.out, "");
  const Outcome without = sextant(lm(tokens_, "without", "--steps 3"));
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.err, StartsWith("sextant: [train.tokenizer-from] must be given for tokens"));
  const Outcome with =
      sextant(lm(tokens_, "with", "--steps 3 --tokenizer-from " + (folder_ / "run")));
  ASSERT_EQ(with.code, 0) << with.err;
  const Outcome from = sextant("train lm --file " + tokens_ + " --length 16 --steps 1 -o " +
                               (folder_ / "from") + " --from " + (folder_ / "run"));
  EXPECT_EQ(from.code, 0) << from.err;
  EXPECT_EQ(sextant("train --resume --steps 4 -o " + (folder_ / "with")).code, 0);
}

TEST_F(TrainData, ATokenizerMayBeThatOfAnotherRun) {
  ASSERT_EQ(sextant(lm(text_, "run", "--steps 1")).code, 0);
  put(folder_ / "other.txt", std::string(400, 'a'));
  const std::string from = " --tokenizer-from " + (folder_ / "run");
  ASSERT_EQ(sextant(lm(folder_ / "other.txt", "other", "--steps 1" + from)).code, 0);
  EXPECT_EQ(contents(folder_ / "other/last/tokenizer.json"),
            contents(folder_ / "run/last/tokenizer.json"));
  for (const std::string more : {"--min-count 2", "--vocabulary 20", "--tokenizer word"}) {
    const Outcome refused = sextant(lm(text_, "none", "--steps 1 " + more + from));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("must not be given with --tokenizer-from"));
  }
}

TEST_F(TrainData, TokenizeSaysWhatAFileOfTokensNeeds) {
  ASSERT_EQ(sextant(lm(text_, "run", "--steps 1")).code, 0);
  const std::string to = " -o " + tokens_, with = " --model " + (folder_ / "run");
  EXPECT_THAT(sextant("tokenize --file " + text_ + to).err, HasSubstr("--model"));
  EXPECT_THAT(sextant("tokenize abc" + with + to).err, HasSubstr("--file"));
  for (const char* more : {" --eos", " --length 3", " --json", " --format text"}) {
    EXPECT_THAT(sextant("tokenize --file " + text_ + with + to + more).err,
                HasSubstr("must not be given with -o NAME.safetensors"));
  }
  EXPECT_THAT(sextant("tokenize abc --documents line" + with).err,
              HasSubstr("[tokenize.documents] must be given with -o NAME.safetensors only"));
  EXPECT_EQ(shell("cat " + text_ + " | sextant tokenize --file - " + with + to).code, 0);
  EXPECT_EQ(sextant(lm(tokens_, "piped", "--steps 1 --tokenizer-from " + (folder_ / "run"))).code,
            0);
}

TEST_F(TrainData, GenerationEndsWhereDocumentsDo) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += i % 2 ? "abcd\n" : "efgh\n";
  put(text_, lines);
  const Outcome run = sextant(lm(text_, "run",
                                 "--documents line --document-mask --steps 80 --rate 0.01 "
                                 "--dropout 0"));
  ASSERT_EQ(run.code, 0) << run.err;
  const Outcome made = sextant("generate --model " + (folder_ / "run") +
                               " --prompt a --temperature 0 --max-tokens 50");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("abcd\n"));
  EXPECT_THAT(made.out, ::testing::Not(HasSubstr("abcda")));
  EXPECT_THAT(sextant(lm(text_, "mask", "--steps 1 --document-mask")).err,
              HasSubstr("[train.document-mask] must be no for a text without documents"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mask"));
}

TEST_F(TrainData, MovesWithTheRunOrIsNamedAgain) {
  std::filesystem::create_directory(folder_ / "project");
  std::filesystem::rename(text_, folder_ / "project/text.txt");
  ASSERT_EQ(sextant(lm(folder_ / "project/text.txt", "project/run", "--steps 2")).code, 0);
  std::filesystem::remove_all(folder_ / "project/run/data");
  std::filesystem::rename(folder_ / "project", folder_ / "moved");
  const std::string resume = "train --resume -o " + (folder_ / "moved/run");
  EXPECT_EQ(sextant(resume + " --steps 3").code, 0);
  std::filesystem::remove_all(folder_ / "moved/run/data");
  std::filesystem::rename(folder_ / "moved/text.txt", text_);
  const Outcome gone = sextant(resume + " --steps 4");
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, HasSubstr("cannot be opened"));
  const Outcome named = sextant(resume + " --steps 4 --json --file " + text_);
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.json()["step"], 4);
  put(folder_ / "other.txt", "other\n");
  EXPECT_THAT(sextant(resume + " --steps 5 --file " + (folder_ / "other.txt")).err,
              HasSubstr("must be the same as at the start of the run, but has changed"));
  EXPECT_THAT(sextant(resume + " --steps 5 --pairs " + text_).err,
              HasSubstr("[train.pairs] must not be given for a run of lm"));
  EXPECT_THAT(sextant(resume + " --steps 5 --file " + text_ + " " + text_).err,
              HasSubstr("[train.file] must be as many files as the run has, 1, got 2"));
}

TEST_F(TrainData, PairsMayMoveToo) {
  std::string pairs;
  for (char a = 'a'; a <= 'z'; ++a) pairs += std::string(3, a) + "\t" + a + "\n";
  put(folder_ / "pairs.tsv", pairs);
  put(folder_ / "valid.tsv", pairs.substr(0, 12));
  ASSERT_EQ(
      sextant("train translate --tokenizer character --steps 2 --pairs " + (folder_ / "pairs.tsv") +
              " --valid " + (folder_ / "valid.tsv") + " -o " + (folder_ / "run") + kTiny)
          .code,
      0);
  std::filesystem::create_directory(folder_ / "to");
  for (const char* name : {"pairs.tsv", "valid.tsv"}) {
    std::filesystem::rename(folder_ / name, folder_ / "to" + "/" + name);
  }
  const Outcome named =
      sextant("train --resume --steps 3 -o " + (folder_ / "run") + " --pairs " +
              (folder_ / "to/pairs.tsv") + " --valid " + (folder_ / "to/valid.tsv"));
  EXPECT_EQ(named.code, 0) << named.err;
}

TEST_F(TrainData, EpochsAreALimit) {
  const Outcome run = sextant(lm(text_, "run", "--epochs 2 --validate-epochs 1 --json"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("22 steps see all of it once"));
  EXPECT_EQ(run.json()["step"], 44);
  const Outcome more = sextant("train --resume --epochs 3 --json -o " + (folder_ / "run"));
  EXPECT_EQ(more.json()["step"], 66);
  EXPECT_EQ(sextant(lm(text_, "none", "--validate-epochs 1")).code, 2);
  EXPECT_THAT(sextant(lm(text_, "none", "--epochs 0")).err,
              HasSubstr("[train.steps] must be above 0 when there are no --epochs or --minutes"));
}

#ifndef SEXTANT_SANITIZED
// MiB of memory that the program takes at most.
long peak_of(const std::string& arguments) {
  int both[2] = {};
  if (::pipe(both) != 0) return -1;
  const pid_t child = ::fork();  // whose children are this one alone
  if (child == 0) {
    const std::string line =
        "\"" + sextant::tests::program() + "\" " + arguments + " >/dev/null 2>&1";
    struct rusage usage {};
    const bool ran = std::system(line.c_str()) == 0;
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const long peak = ran ? usage.ru_maxrss / 1024 : -1;
    const bool told = ::write(both[1], &peak, sizeof(peak)) == sizeof(peak);
    ::_exit(told ? 0 : 1);
  }
  long peak = -1;
  if (::read(both[0], &peak, sizeof(peak)) != sizeof(peak)) peak = -1;
  ::waitpid(child, nullptr, 0);
  ::close(both[0]);
  ::close(both[1]);
  return peak;
}

// 42 MiB were measured, of which 16 are the order of the sequences; 2700 when all was in memory.
TEST_F(TrainData, ATextOf64MiBTakesFewerThan52) {
  {
    std::ofstream file(text_);
    for (int i = 0; file.tellp() < 1 << 26; ++i) {
      file << "the quick brown fox jumps over the lazy dog, number " << i << (i % 5 ? ". " : "\n");
    }
  }
  const long peak = peak_of(lm(text_, "run", "--steps 1 --held-out 0.0001"));
  EXPECT_GT(peak, 0);
  EXPECT_LT(peak, 52);
  const long resumed = peak_of("train --resume --steps 2 -o " + (folder_ / "run"));
  EXPECT_GT(resumed, 0);
  EXPECT_LT(resumed, 52);
  EXPECT_LT(
      peak_of("tokenize --file " + text_ + " --model " + (folder_ / "run") + " -o " + tokens_), 30);
}
#endif

}  // namespace
}  // namespace sextant::app_tests

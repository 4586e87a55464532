// `sextant train`: what it learns, writes, prints, and how it goes on after a kill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A text that a tiny model learns something of in a few steps.
std::string alphabet(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "abcdefghijklmnopqrstuvwxyz\n";
  return text;
}

std::string pairs(int count) {
  std::string text = "digits\twords\n";
  const char* const words[] = {"zero", "one", "two",   "three", "four",
                               "five", "six", "seven", "eight", "nine"};
  for (int i = 0; i < count; ++i) {
    const int a = i % 10, b = i / 10 % 10;
    text += std::to_string(a) + " " + std::to_string(b) + "\t" + words[a] + " " + words[b] + "\n";
  }
  return text;
}

constexpr const char* kTinyRun = " --width 16 --heads 2 --layers 1 --batch-size 4 --threads 1 ";

// The program as a job of the shell, and its id in $pid.
std::string in_background(const std::string& arguments) {
  return "\"" + sextant::tests::program() + "\" " + arguments + " & pid=$!\n";
}

class Train : public ::testing::Test {
 protected:
  Train() {
    put(text_, alphabet(60));
    put(pairs_, pairs(100));
  }
  std::string lm(const std::string& run, const std::string& more) const {
    return "train lm --file " + text_ + " --length 16 -o " + (folder_ / run) + kTinyRun + more;
  }
  std::string translate(const std::string& run, const std::string& more) const {
    return "train translate --pairs " + pairs_ + " --tokenizer word -o " + (folder_ / run) +
           kTinyRun + more;
  }
  std::string model(const std::string& run) const {
    return contents(folder_ / run + "/last/model.safetensors");
  }

  Folder folder_;
  const std::string text_ = folder_ / "text.txt", pairs_ = folder_ / "pairs.tsv";
};

// With a rate that diverges, the first validation is the best.
TEST_F(Train, GoesOnWithoutItsBestCheckpointAndSaysSo) {
  ASSERT_EQ(sextant(lm("run", "--steps 8 --validate-every 4 --rate 3 --decay constant")).code, 0);
  const std::string run = folder_ / "run";
  const auto best = std::filesystem::canonical(run + "/best");
  ASSERT_NE(best, std::filesystem::canonical(run + "/last"));
  std::filesystem::remove_all(best);
  const Outcome resumed = sextant("train --resume --steps 12 -o " + run);
  EXPECT_EQ(resumed.code, 0);
  EXPECT_THAT(resumed.err, HasSubstr("the best checkpoint, of step 4, was gone"));
  EXPECT_TRUE(std::filesystem::exists(run + "/best/model.safetensors"));
}

// Whether the page can show the model, beside what was saved.
TEST_F(Train, SaysWhatTheExplorerOpens) {
  EXPECT_THAT(sextant(lm("letters", "--steps 1")).out, HasSubstr("explorer    opens this run\n"));
  EXPECT_THAT(sextant(translate("words", "--steps 1")).out,
              HasSubstr("explorer    opens models of characters, of words between white space "
                        "(--no-split-punctuation) and of a tokenizer.json of Hugging Face\n"));
}

TEST_F(Train, LearnsATextAndKeepsModelMetricsAndCurves) {
  const Outcome run = sextant(lm("run", "--steps 60 --rate 0.01 --dropout 0 --json"));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = run.json();
  EXPECT_EQ(json["step"], 60);
  EXPECT_EQ(json["end"], "steps");
  // 27 characters: log 27 = 3.3 at first.
  EXPECT_LT(json["validation_loss"].get<double>(), 2.5);
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(json["validation_loss"].get<double>()),
              1e-9);
  EXPECT_NEAR(json["bits_per_character"].get<double>(),
              json["validation_loss"].get<double>() / std::log(2.0), 1e-9);
  for (const char* file :
       {"run.json", "metrics.jsonl", "best/model.safetensors", "best/config.json",
        "best/tokenizer.json", "last/optimiser.safetensors"}) {
    EXPECT_NE(contents(folder_ / "run/" + file), "") << file;
  }
  EXPECT_THAT(contents(folder_ / "run/loss.svg"), AllOf(StartsWith("<svg"), HasSubstr("held out")));
}

TEST_F(Train, SaysWhatItCameToAndWhatToDoNext) {
  const Outcome run = sextant(lm("run", "--steps 2"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("perplexity"), HasSubstr("bits per character"),
                             HasSubstr("sextant generate --model"), HasSubstr("--resume")));
  EXPECT_THAT(run.err, AllOf(HasSubstr("to learn from"), HasSubstr("step 2/2")));
  EXPECT_THAT(run.err, Not(HasSubstr("\r")));  // lines are rewritten on terminals only
}

TEST_F(Train, LearnsHiddenTokensAndPairsInEitherDirection) {
  const Outcome masked = sextant("train mlm --file " + text_ + " --tokenizer character -o " +
                                 (folder_ / "masked") + kTinyRun + "--length 16 --steps 2 --json");
  ASSERT_EQ(masked.code, 0) << masked.err;
  EXPECT_EQ(masked.json()["model"]["kind"], "masked");
  EXPECT_TRUE(masked.json()["bits_per_character"].is_null());
  const Outcome there =
      sextant(translate("there", "--steps 2 --pointer --encoder-layers 2 --json"));
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_EQ(there.json()["data"], "90 pairs to learn from, 10 held out");
  EXPECT_EQ(there.json()["model"]["encoder_layers"], 2);
  const Outcome back =
      sextant(translate("back", "--steps 2 --reverse --valid " + pairs_ + " --json"));
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(back.json()["data"], "100 pairs to learn from, 100 held out");
  EXPECT_NE(back.json()["training_loss"], there.json()["training_loss"]);
  // The tokenizer is that of the pairs themselves.
  const Outcome more = sextant(translate("more",
                                         "--steps 2 --pointer --encoder-layers 2 --augment "
                                         "swap,shuffle,replace,join --json"));
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(more.json()["data"], "539 pairs to learn from, 10 held out");
  EXPECT_EQ(contents(folder_ / "more/last/tokenizer.json"),
            contents(folder_ / "there/last/tokenizer.json"));
}

TEST_F(Train, SplitsSubWordsAnewInEachStep) {
  const auto loss = [this](const std::string& run, const std::string& more) {
    const Outcome done = sextant("train translate --pairs " + pairs_ + " --vocabulary 50 -o " +
                                 (folder_ / run) + kTinyRun + "--steps 2 --json " + more);
    EXPECT_EQ(done.code, 0) << done.err;
    return done.code == 0 ? done.json()["training_loss"].get<double>() : 0;
  };
  const double split = loss("split", "--subword-dropout 0.9");
  EXPECT_EQ(split, loss("again", "--subword-dropout 0.9"));
  EXPECT_NE(split, loss("whole", ""));
  EXPECT_THAT(sextant(translate("words", "--steps 1 --subword-dropout 0.1")).err,
              HasSubstr("[train.subword-dropout] must be given with sub-words only, got tokens of "
                        "kind word"));
}

TEST_F(Train, KeepsAnAverageOfTheWeights) {
  const auto trained = [this](const std::string& run, const std::string& more) {
    const Outcome done = sextant(translate(run, "--steps 6 --json " + more));
    EXPECT_EQ(done.code, 0) << done.err;
    return done.json();
  };
  const auto weights = trained("weights", ""), average = trained("average", "--ema-decay 0.9");
  EXPECT_EQ(average["training_loss"], weights["training_loss"]);
  EXPECT_NE(average["validation_loss"], weights["validation_loss"]);
  EXPECT_NE(contents(folder_ / "average/run.json").find("\"ema_decay\": 0.9"), std::string::npos);
  const Outcome more = sextant("train --resume --steps 8 --json -o " + (folder_ / "average"));
  EXPECT_EQ(more.json()["step"], 8) << more.err;
  EXPECT_THAT(sextant(translate("none", "--steps 1 --ema-decay 1")).err,
              HasSubstr("[train.ema-decay] must be at least 0 and below 1, got 1"));
}

TEST_F(Train, ChecksDatesItHasNotSeen) {
  const Outcome run =
      sextant("train dates -o " + (folder_ / "dates") + kTinyRun + "--steps 2 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["exact_match_count"], 1000);
  EXPECT_LT(run.json()["exact_match"].get<double>(), 0.5);  // of two steps
}

TEST_F(Train, LearnsTasksOnLetters) {
  for (const std::string task : {"copy", "reverse", "sort"}) {
    const Outcome run =
        sextant("train " + task + " -o " + (folder_ / task) + kTinyRun + "--steps 2 --json");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["exact_match_count"], 1000);
    EXPECT_THAT(run.json()["data"].dump(), HasSubstr("20,000 pairs to learn from, 500 held out"));
    EXPECT_EQ(sextant("translate --model " + (folder_ / task) + " dbca").code, 0);
  }
}

TEST_F(Train, PrintsALineForEveryStepOnRequest) {
  const Outcome run =
      sextant("train sort -o " + (folder_ / "run") + kTinyRun + "--steps 3 --json-lines");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string metrics = contents(folder_ / "run/metrics.jsonl");
  ASSERT_EQ(run.out.substr(0, metrics.size()), metrics);
  const Json result = Json::parse(run.out.substr(metrics.size()));
  EXPECT_EQ(result["kind"], "sort");
  EXPECT_EQ(result["step"], 3);
}

TEST_F(Train, TakesSchemesWithTheirParameters) {
  const auto json = sextant(lm("run", "--scheme rotary --base 500 --steps 1 --json")).json();
  EXPECT_EQ(json["model"]["schemes"][0]["scheme"], "rotary");
  EXPECT_EQ(json["model"]["schemes"][0]["parameters"]["base"], "500");
  EXPECT_EQ(sextant(lm("t5", "--scheme t5 --steps 1")).code, 0);
  EXPECT_THAT(sextant(lm("f", "--scheme forgetting --steps 1")).err,
              StartsWith("sextant: [train.scheme]"));
}

TEST_F(Train, GoesOnAfterAKillAsIfThereHadBeenNone) {
  const std::string options =
      "--steps 40 --validate-every 7 --dropout 0.1 --attention-dropout 0.2 ";
  ASSERT_EQ(sextant(lm("straight", options)).code, 0);
  // Killed when its first checkpoint is there, wherever it is by then.
  const Outcome killed =
      shell(in_background(lm("killed", options + "--checkpoint-every 5")) + "until [ -e " +
            (folder_ / "killed/last") + " ]; do sleep 0.01; done\nkill -9 $pid; wait $pid; exit 0");
  ASSERT_EQ(killed.code, 0) << killed.err;
  const Outcome resumed = sextant("train --resume -o " + (folder_ / "killed") + " --json");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["step"], 40);
  EXPECT_EQ(model("killed"), model("straight"));
  EXPECT_NE(model("killed"), "");
}

TEST_F(Train, ASignalSavesTheStepAndEndsWithItsCode) {
  const std::string options = "--decay constant --warmup 0 --dropout 0 ";
  const Outcome stopped =
      shell(in_background(lm("stopped", options + "--minutes 10 --checkpoint-every 3 --json")) +
            "until [ -e " + (folder_ / "stopped/last") +
            " ]; do sleep 0.01; done\nkill -TERM $pid; wait $pid");
  ASSERT_EQ(stopped.code, 128 + 15) << stopped.err;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("saving after this step"), HasSubstr("continues")));
  EXPECT_EQ(stopped.json()["end"], "stopped");
  const std::string steps = stopped.json()["step"].dump();
  ASSERT_EQ(sextant(lm("straight", options + "--steps " + steps)).code, 0);
  EXPECT_EQ(model("stopped"), model("straight"));
}

TEST_F(Train, AClosedTerminalSavesTheStepToo) {
  const std::string command = lm("closed", "--minutes 10 --checkpoint-every 3 ");
  // Nobody reads what is printed then: both streams fail.
  const Outcome stopped =
      shell("\"" + sextant::tests::program() + "\" " + command +
            " >/dev/full 2>/dev/full & pid=$!\nuntil [ -e " + (folder_ / "closed/last") +
            " ]; do sleep 0.01; done\nkill -HUP $pid; wait $pid");
  EXPECT_EQ(stopped.code, 128 + 1) << stopped.err;
  const Outcome losses = sextant("plot losses " + (folder_ / "closed") + " --json");
  ASSERT_EQ(losses.code, 0) << losses.err;
  const std::size_t steps = losses.json()[0]["steps"].size();
  const Outcome resumed = sextant("train --resume --steps " + std::to_string(steps) +
                                  " --json -o " + (folder_ / "closed"));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["step"], steps) << "the last step of the metrics was saved";
}

TEST_F(Train, WithoutStandardStreamsKeepsItsFilesCleanAndGoesOn) {
  const Outcome begun = shell("sextant " + lm("run", "--steps 4 <&- >&- 2>&-"));
  EXPECT_EQ(begun.code, 0);
  const std::string metrics = contents(folder_ / "run/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 4) << metrics;
  EXPECT_THAT(metrics, Not(HasSubstr("sextant:")));
  const Outcome resumed = sextant("train --resume --steps 6 --json -o " + (folder_ / "run"));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["step"], 6);
}

TEST_F(Train, ResumesWithHigherLimitsOnly) {
  ASSERT_EQ(sextant(lm("run", "--steps 3")).code, 0);
  const std::string resume = "train --resume -o " + (folder_ / "run");
  EXPECT_EQ(sextant(resume + " --steps 5 --json").json()["step"], 5);
  EXPECT_EQ(sextant("train lm --resume --steps 6 --json -o " + (folder_ / "run")).json()["step"],
            6);
  const Outcome other = sextant(resume + " --width 32");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, StartsWith("sextant: [train.width] must not be given with --resume"));
  EXPECT_THAT(sextant("train mlm --resume -o " + (folder_ / "run")).err,
              StartsWith("sextant: [train.kind] must be lm"));
}

TEST_F(Train, AFinishedRunThatIsResumedSaysWhatItCameTo) {
  const Outcome first = sextant(lm("run", "--steps 3 --json"));
  ASSERT_EQ(first.code, 0) << first.err;
  const Outcome again = sextant("train --resume --json -o " + (folder_ / "run"));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["tokens"], 3 * 4 * 16);
  EXPECT_EQ(again.json(), first.json());
}

TEST_F(Train, ADivergedRunMayBeBegunAgainInItsFolder) {
  const Outcome diverged =
      sextant(lm("run", "--steps 40 --warmup 0 --rate 1e30 --clip 0 --dropout 0"));
  EXPECT_EQ(diverged.code, 1);
  EXPECT_THAT(diverged.err, HasSubstr("must be finite"));
  EXPECT_EQ(sextant(lm("run", "--steps 2")).code, 0);
}

TEST_F(Train, RefusesChangedData) {
  ASSERT_EQ(sextant(lm("run", "--steps 2")).code, 0);
  put(text_, alphabet(61));
  const Outcome resumed = sextant("train --resume --steps 4 -o " + (folder_ / "run"));
  EXPECT_EQ(resumed.code, 1);
  EXPECT_THAT(resumed.err, HasSubstr("text.txt] must be the same as at the start of the run"));
}

TEST_F(Train, GoesOnFromAnotherModelOnOtherData) {
  ASSERT_EQ(sextant(lm("first", "--steps 60 --rate 0.01 --dropout 0")).code, 0);
  const std::string other = folder_ / "other.txt";
  put(other, alphabet(70));
  const auto from = [&](const std::string& run, const std::string& more) {
    return "train lm --file " + other + " --length 16 --batch-size 4 --from " +
           (folder_ / "first") + " -o " + (folder_ / run) + " " + more;
  };
  const Outcome next = sextant(from("next", "--steps 1 --rate 0.0001 --json"));
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_EQ(next.json()["model"]["width"], 16);
  EXPECT_LT(next.json()["training_loss"].get<double>(), 2.5);  // as the first one ended
  EXPECT_EQ(contents(folder_ / "next/last/tokenizer.json"),
            contents(folder_ / "first/best/tokenizer.json"));
  // Resumed from its own checkpoint, wherever the first model is by then.
  std::filesystem::rename(folder_ / "first", folder_ / "gone");
  EXPECT_EQ(sextant("train --resume --steps 2 -o " + (folder_ / "next")).code, 0);
  EXPECT_THAT(sextant(from("none", "--steps 1")).err, HasSubstr("first"));
  std::filesystem::rename(folder_ / "gone", folder_ / "first");
  for (const char* option : {"--width 32", "--scheme alibi", "--base 500", "--tokenizer word",
                             "--min-count 2", "--lower-case", "--untied", "--pointer"}) {
    EXPECT_THAT(sextant(from("refused", std::string("--steps 1 ") + option)).err,
                HasSubstr("must not be given with --from"))
        << option;
  }
  const Outcome masked = sextant("train mlm --file " + other + " --steps 1 --from " +
                                 (folder_ / "first") + " -o " + (folder_ / "masked"));
  EXPECT_EQ(masked.code, 1);
  EXPECT_THAT(masked.err,
              HasSubstr("[train.from] must be a masked language model for mlm, got a causal"));
}

TEST_F(Train, RefusesWhatItCannotUse) {
  const Outcome missing =
      sextant("train lm --file no.txt --steps 1 -o " + (folder_ / "run") + kTinyRun);
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no.txt]"));
  put(text_, " \n");
  EXPECT_EQ(sextant(lm("run", "--steps 1")).code, 1);
  put(text_, "too short\n");
  EXPECT_THAT(sextant(lm("run", "--steps 1")).err, HasSubstr("must have more than length = 16"));
  put(pairs_, "one pair\tonly\n");
  EXPECT_THAT(sextant(translate("run", "--steps 1")).err, HasSubstr("two pairs or more"));
  EXPECT_THAT(sextant("train --resume -o " + (folder_ / "none")).err, HasSubstr("run.json]"));
}

TEST_F(Train, RefusesAFolderThatIsTakenOrCannotBeWritten) {
  ASSERT_EQ(sextant(lm("run", "--steps 1")).code, 0);
  const Outcome taken = sextant(lm("run", "--steps 1"));
  EXPECT_EQ(taken.code, 1);
  EXPECT_THAT(taken.err, HasSubstr("run"));
  const Outcome unwritable = sextant("train lm --file " + text_ + " --length 16 --steps 1 -o " +
                                     text_ + "/run" + kTinyRun);
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("text.txt/run"));
}

TEST_F(Train, RefusesWrongCommandLines) {
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    const Outcome run = sextant(arguments);
    EXPECT_EQ(run.code, 2) << arguments << run.err;
    EXPECT_THAT(run.err, HasSubstr(why)) << arguments;
  };
  const std::string to = " -o " + (folder_ / "run");
  refused("train", "KIND");
  refused("train poem --steps 1" + to,
          "must be one of lm, mlm, translate, dates, copy, reverse, sort");
  refused("train lm --file t --steps 1", "--output");
  refused("train lm --steps 1" + to, "--file");
  refused("train translate --steps 1" + to, "--pairs");
  refused("train lm --file t" + to, "--steps, --epochs or --minutes");
  refused("train lm --file t --steps 0" + to, "[train.steps]");
  refused("train lm --file t --minutes -1" + to, "[train.minutes]");
  refused("train lm --file t --steps 1 --pointer" + to, "[train.pointer] must be given with");
  refused("train lm --file t --steps 1 --held-out 1" + to,
          "[train.held-out] must be above 0 and below 1");
  refused("train lm --file t --minutes 1 --decay cosine" + to, "[train.decay]");
  refused("train lm --file t --steps 1 --activation tanh" + to, "[train.activation]");
  refused("train lm --file t --steps 1 --tokenizer bytes" + to, "bytes");
  refused("train translate --pairs p --steps 1 --augment swap,flip" + to,
          "[train.augment] must be of swap, shuffle, replace, join, separated by commas, got "
          "'swap,flip'");
  refused("train lm --file t --steps 1 --augment swap" + to, "must be given with translate only");
  refused("train lm --file t --steps 1 --widht 3" + to, "did you mean '--width'");
}

TEST_F(Train, LossesOfOneRunAndOfSeveralAreDrawn) {
  ASSERT_EQ(sextant(lm("one", "--steps 4 --validate-every 2")).code, 0);
  ASSERT_EQ(sextant(lm("two", "--steps 3 --scheme none")).code, 0);
  const std::string one = folder_ / "one", two = folder_ / "two";
  EXPECT_THAT(sextant("plot losses " + one).out, AllOf(StartsWith("<svg"), HasSubstr("held out")));
  const std::string picture = folder_ / "losses.svg";
  const Outcome bars = shell("TERM=xterm script -qec '" + sextant::tests::program() +
                             " plot losses " + one + "' /dev/null");
  EXPECT_THAT(bars.out, AllOf(HasSubstr("step, held-out loss"), HasSubstr("####")));
  EXPECT_THAT(bars.out, Not(HasSubstr("<svg")));
  ASSERT_EQ(sextant("plot losses " + one + " " + two + "/ -o " + picture).code, 0);
  EXPECT_THAT(contents(picture), AllOf(HasSubstr(">one<"), HasSubstr(">two<")));
  const auto json = sextant("plot losses " + one + " --json").json();
  EXPECT_EQ(json[0]["steps"].size(), 4U);
  EXPECT_EQ(json[0]["validation_steps"], (std::vector{2, 4}));
  ASSERT_EQ(sextant("plot losses " + one + " " + two + " -o " + (folder_ / "losses.csv")).code, 0);
  const std::string table = contents(folder_ / "losses.csv");
  EXPECT_EQ(std::ranges::count(table, '\n'), 1 + 4 + 3);
  EXPECT_THAT(table, StartsWith("run,step,seconds,loss,mean_loss,validation_loss\none,1,"));
  EXPECT_THAT(table, HasSubstr("," + json[0]["mean_loss"][3].dump() + "," +
                               json[0]["validation_loss"][1].dump() + "\ntwo,1,"));
  EXPECT_THAT(table, HasSubstr(",\none,2,")) << "no held-out loss at the first step";
  EXPECT_EQ(sextant("plot losses " + one + " " + two + " --format csv").out, table);
  EXPECT_EQ(sextant("plot losses " + (folder_ / "none")).code, 1);
  EXPECT_EQ(sextant("plot losses").code, 2);
  EXPECT_EQ(sextant("plot").code, 2);
}

}  // namespace
}  // namespace sextant::app_tests

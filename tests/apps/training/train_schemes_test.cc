// `sextant train` with every scheme of the list, and with a table of positions from a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "apps/run_program.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/core/safetensors.h"
#include "sextant/schemes/scheme.h"

namespace sextant::app_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Heads of 24 channels: pairs for rows and columns, and for three axes.
constexpr const char* kTinyModel =
    " --width 48 --heads 2 --layers 1 --batch-size 2 --length 16 --dropout 0 --threads 1 ";

class TrainSchemes : public ::testing::Test {
 protected:
  TrainSchemes() {
    std::string text, pairs;
    for (int i = 0; i < 40; ++i) text += "abcdefghijklmnopqrstuvwxyz\n";
    for (int i = 0; i < 40; ++i) {
      pairs += std::to_string(i) + " a b\tb " + std::to_string(i % 7) + "\n";
    }
    put(text_, text);
    put(pairs_, pairs);
  }
  std::string lm(const std::string& run, const std::string& more) const {
    return "train lm --file " + text_ + kTinyModel + "-o " + (folder_ / run) + " " + more;
  }
  Tensor<double> weight(const std::string& run, const std::string& name) const {
    return load_safetensors(folder_ / run + "/last/model.safetensors")
        .tensors.at(name)
        .to<double>();
  }
  // [rows, 48], row r is r / 100 everywhere.
  std::string table(std::int64_t rows) const {
    Tensor<float> values({rows, 48});
    for (std::int64_t i = 0; i < values.count(); ++i) {
      values.data()[i] = 0.01F * static_cast<float>(i / 48);
    }
    const std::string path = folder_ / ("table" + std::to_string(rows) + ".npy");
    save_npy(path, values);
    return path;
  }

  Folder folder_;
  const std::string text_ = folder_ / "text.txt", pairs_ = folder_ / "pairs.tsv";
};

TEST_F(TrainSchemes, MayDifferBetweenLayers) {
  const Outcome made =
      sextant("train lm --file " + text_ +
              " --width 48 --heads 2 --layers 3 --batch-size 2 --length 16 --steps 2 --warmup 0 "
              "--layer-schemes 0,2=rotary+window:left=3 --layer-schemes 1=t5 -o " +
              (folder_ / "kinds"));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(read_file(folder_ / "kinds/last/config.json"), HasSubstr("layer_schemes"));
  EXPECT_EQ(weight("kinds", "positions.2.t5.table").size(1), 2);
  EXPECT_EQ(sextant("train --resume --steps 3 -o " + (folder_ / "kinds")).code, 0);
  EXPECT_EQ(
      sextant("generate --model " + (folder_ / "kinds") + " --prompt abc --max-tokens 4").code, 0);

  for (const auto& [given, said] : std::vector<std::pair<const char*, const char*>>{
           {"0,1=none", "must have each of the layers 0 .. 0 once at most, got 1"},
           {"none", "must be layers and schemes, as in 0,2=rotary+window:left=127, got 'none'"},
           {"x=none", "must be an integer, got 'x'"},
           {"0=", "must be the name of a scheme, got ''"},
           {"0=learned", "must be schemes that work in attention, got learned"},
           {"0=forgetting", "must be one whose weights do not depend on the tokens"},
           {"0=window:side=2", "window has --left, --right, --dilation, got --side"}}) {
    const Outcome refused =
        sextant(lm("refused", std::string("--steps 1 --layer-schemes ") + given));
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("[train.layer-schemes]"), HasSubstr(said)));
  }
  EXPECT_THAT(sextant("train copy --steps 1 --layer-schemes 0=none -o " + (folder_ / "p")).err,
              HasSubstr("[train.layer-schemes] must be given with lm mlm only, got it with copy"));
}

TEST_F(TrainSchemes, EveryOneOfTheListMakesAStepAndGoesOn) {
  for (const Scheme* scheme : schemes()) {
    const std::string name(scheme->name);
    const Outcome first = sextant(lm(name, "--steps 1 --warmup 0 --scheme " + name));
    if (scheme->weights_of_tokens) {
      EXPECT_EQ(first.code, 2);
      EXPECT_FALSE(std::filesystem::exists(folder_ / name));
      continue;
    }
    ASSERT_EQ(first.code, 0) << name << ": " << first.err;
    const Outcome second = sextant("train --resume --steps 2 --json -o " + (folder_ / name));
    ASSERT_EQ(second.code, 0) << name << ": " << second.err;
    EXPECT_EQ(second.json()["step"], 2);
    // What the scheme learns is in the model.
    const auto tensors = load_safetensors(folder_ / name + "/last/model.safetensors").tensors;
    if (scheme->kind == SchemeKind::rotated) continue;
    for (const SchemeWeight& learned : scheme->weights) {
      EXPECT_TRUE(tensors.contains("positions." + std::string(learned.name)))
          << name << "." << learned.name;
    }
  }
}

TEST_F(TrainSchemes, LearnedPositionsAreLearnedByEveryTask) {
  ASSERT_EQ(sextant(lm("lm", "--steps 1 --warmup 0 --rate 0.01 --scheme learned")).code, 0);
  ASSERT_EQ(sextant(lm("start", "--steps 1 --warmup 0 --rate 1e-30 --scheme learned")).code, 0);
  const Tensor<double> start = weight("start", "positions.table"),
                       moved = weight("lm", "positions.table");
  ASSERT_EQ(moved.shape(), (Shape{16, 48}));
  for (std::int64_t row = 0; row < 16; ++row) EXPECT_NE(moved(row, 0), start(row, 0)) << row;
  EXPECT_EQ(sextant("generate --model " + (folder_ / "lm") + " --prompt abc --max-tokens 4").code,
            0);
  EXPECT_THAT(
      sextant("generate --model " + (folder_ / "lm") + " --prompt abc --max-tokens 40 --greedy")
          .err,
      HasSubstr("16"));

  const std::string learned = " --steps 1 --scheme learned -o ";
  const Outcome pairs = sextant("train translate --tokenizer word --pairs " + pairs_ + kTinyModel +
                                learned + (folder_ / "pairs"));
  ASSERT_EQ(pairs.code, 0) << pairs.err;
  EXPECT_EQ(weight("pairs", "decoder_positions.table").size(0), 2 * 16 + 16);
  const Outcome hidden = sextant("train mlm --tokenizer character --file " + text_ + kTinyModel +
                                 learned + (folder_ / "hidden"));
  ASSERT_EQ(hidden.code, 0) << hidden.err;
  const Outcome dates = sextant("train dates --width 16 --heads 2 --layers 1 --batch-size 2" +
                                learned + (folder_ / "dates"));
  ASSERT_EQ(dates.code, 0) << dates.err;
}

TEST_F(TrainSchemes, LearnedPositionsMayStartWithATable) {
  const std::string file = table(22), learned = "--scheme learned --scheme-offset 2 --steps 2 ";
  const Outcome run =
      sextant(lm("run", learned + "--rate 1e-30 --scheme-file " + file + " --json"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["model"]["length"], 20);
  EXPECT_EQ(run.json()["model"]["schemes"][0]["parameters"].size(),
            1U);  // the file is not the model's
  const Tensor<double> kept = weight("run", "positions.table");
  ASSERT_EQ(kept.shape(), (Shape{22, 48}));
  for (std::int64_t row = 0; row < 22; ++row) EXPECT_NEAR(kept(row, 5), 0.01 * double(row), 1e-7);
  // The model is whole without it, and so is the run.
  std::filesystem::rename(file, file + ".gone");
  EXPECT_EQ(sextant("generate --model " + (folder_ / "run") + " --prompt abc --max-tokens 9").code,
            0);
  EXPECT_EQ(sextant("train --resume --steps 3 -o " + (folder_ / "run")).code, 0);
  // A run that has nothing but its description starts from the file again, if it is the same.
  std::filesystem::create_directory(folder_ / "again");
  std::filesystem::copy(folder_ / "run/run.json", folder_ / "again/run.json");
  const std::string again = "train --resume --steps 2 -o " + (folder_ / "again");
  EXPECT_THAT(sextant(again).err, HasSubstr("table22.npy]"));
  std::filesystem::rename(file + ".gone", file);
  ASSERT_EQ(sextant(again).code, 0);
  EXPECT_EQ(weight("again", "positions.table")(21, 5), kept(21, 5));
  const std::string translate = "train translate --tokenizer word --steps 1 --pairs " + pairs_ +
                                kTinyModel + "--scheme learned --scheme-file " + file + " -o ";
  const Outcome pairs = sextant(translate + (folder_ / "pairs"));
  ASSERT_EQ(pairs.code, 0) << pairs.err;
  EXPECT_EQ(weight("pairs", "encoder_positions.table").size(0), 22);
}

TEST_F(TrainSchemes, SeveralTogetherAreTrainedUsedAndResumed) {
  const Outcome run = sextant(lm(
      "run", "--steps 2 --scheme learned:offset=1+rotary+t5 --base 500 --max-distance 64 --json"));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = run.json();
  const auto& positions = json["model"]["schemes"];
  ASSERT_EQ(positions.size(), 3U);
  EXPECT_EQ(positions[0]["parameters"]["offset"], "1");
  EXPECT_EQ(positions[1]["scheme"], "rotary");
  EXPECT_EQ(positions[1]["parameters"]["base"], "500");
  EXPECT_EQ(positions[2]["parameters"]["max_distance"], "64");
  EXPECT_EQ(weight("run", "positions.t5.table").size(0), 32);
  EXPECT_EQ(weight("run", "positions.learned.table").size(1), 48);
  EXPECT_EQ(sextant("generate --model " + (folder_ / "run") + " --prompt abc --max-tokens 9").code,
            0);
  EXPECT_EQ(sextant("train --resume --steps 3 -o " + (folder_ / "run")).code, 0);
}

TEST_F(TrainSchemes, RefusesSchemesThatDoNotGoTogether) {
  const auto refused = [&](const std::string& schemes, const std::string& why, int code = 2) {
    const Outcome run = sextant(lm("deep/run", "--steps 1 --scheme " + schemes));
    EXPECT_EQ(run.code, code) << schemes;
    EXPECT_THAT(run.err, HasSubstr(why)) << schemes;
  };
  refused("rotary+rotary_linear --factor 2", "must have at most one rotation", 1);
  refused("rotary+rotery", "did you mean 'rotary'?");
  refused("rotary,t5", "[train.scheme] must be one scheme, or several joined by +");
  refused("t5+forgetting", "forgetting");
  refused("learned+t5 --scheme-seed 3",
          "[train.scheme] must say which scheme --seed is for, as in "
          "learned:seed=3+t5");
  refused("rotary+t5 --factor 2", "must be schemes of which one has --factor, got rotary+t5");
  refused("rotary+t5:bidirectional=maybe", "[train.scheme] t5.bidirectional ");
  const Outcome encode = sextant("encode --length 4 --width 4 --scheme sinusoidal+learned");
  EXPECT_EQ(encode.code, 2);
  EXPECT_THAT(encode.err, HasSubstr("[encode.scheme] must be a single scheme for this command, got "
                                    "sinusoidal+learned"));
  EXPECT_EQ(sextant("encode --length 4 --width 4 --scheme sinusoidal:base=100").out,
            sextant("encode --length 4 --width 4 --scheme sinusoidal --base 100").out);
  EXPECT_THAT(sextant("plot distance --schemes rotary+t5 -o x.svg").err,
              HasSubstr("must be single schemes"));
}

TEST_F(TrainSchemes, ARefusedRunLeavesNothingBehind) {
  const auto refused = [&](const std::string& more, const std::string& why) {
    const Outcome run = sextant(lm("deep/run", "--steps 1 --scheme learned " + more));
    EXPECT_NE(run.code, 0) << more;
    EXPECT_THAT(run.err, HasSubstr(why)) << more;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "deep")) << more;
  };
  refused("--scheme-file " + (folder_ / "none.npy"), "none.npy]");
  refused("--scheme-file " + table(15), "[train.scheme-file] must have at least 16 rows");
  refused("--scheme-file " + table(17) + " --scheme-offset 2",
          "[train.scheme-file] must have at least 18 rows");
  refused("--scheme-file " + text_, "text.txt]");
  refused("--scheme-offset x", "[train.offset]");
  refused("--scheme-file " + table(30) + " --scheme-seed -1", "[train.scheme-seed]");
}

}  // namespace
}  // namespace sextant::app_tests

// `sextant identify`: names what `sextant encode` made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "apps/run_program.h"
#include "sextant/core/npy.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The table of `options` identified from its file.
Json identified(const std::string& options, const std::string& file = "P.npy",
                const std::string& more = "") {
  const Folder folder;
  const Outcome made = sextant("encode " + options + " -o " + folder / file);
  EXPECT_EQ(made.code, 0) << made.err;
  const Outcome found = sextant("identify " + folder / file + " --json " + more);
  EXPECT_EQ(found.code, 0) << found.err;
  return found.json();
}

TEST(Identify, NamesEveryFieldOfAPlainTable) {
  const auto found = identified("--length 100 --width 512");
  EXPECT_EQ(found["scheme"], "sinusoidal");
  EXPECT_EQ(found["layout"], "interleaved");
  EXPECT_EQ(found["ladder"], "d");
  EXPECT_EQ(found["base"].get<double>(), 10000);
  EXPECT_EQ(found["first"].get<double>(), 0);
  EXPECT_EQ(found["scale"].get<double>(), 1);
  EXPECT_TRUE(found["mistake"].is_null());
  EXPECT_LT(found["max_deviation"].get<double>(), 1e-7);
  EXPECT_GT(found["confidence"].get<double>(), 0.9);
}

TEST(Identify, NamesOtherMembersOfTheFamilyInEveryType) {
  for (const char* dtype : {"float64", "float32", "float16"}) {
    const auto found = identified(
        "--length 60 --width 64 --layout half_split --ladder d/2-1 "
        "--base 500 --first 7 --dtype " +
        std::string(dtype));
    EXPECT_EQ(found["scheme"], "sinusoidal") << dtype;
    EXPECT_EQ(found["layout"], "half_split") << dtype;
    EXPECT_EQ(found["ladder"], "d/2-1") << dtype;
    EXPECT_NEAR(found["base"].get<double>(), 500, 5) << dtype;
    EXPECT_EQ(found["first"].get<double>(), 7) << dtype;
    EXPECT_EQ(found["dtype"], dtype);
  }
}

TEST(Identify, NamesTheMistakes) {
  EXPECT_EQ(identified("--length 80 --width 64 --doubled-exponent")["mistake"], "doubled_exponent");
  const auto other = identified("--length 80 --width 64 --exponent doubled_unpaired");
  EXPECT_EQ(other["mistake"], "doubled_exponent_unpaired");
  EXPECT_FALSE(other["explanation"].get<std::string>().empty());
}

TEST(Identify, BfloatBitsNeedTheirName) {
  const Folder folder;
  ASSERT_EQ(sextant("encode --length 80 --width 64 --dtype bfloat16 -o " + folder / "P.npy").code,
            0);
  const Outcome bare = sextant("identify " + folder / "P.npy");
  EXPECT_EQ(bare.code, 1);
  EXPECT_THAT(bare.err, HasSubstr("--dtype bfloat16"));
  const auto found = sextant("identify --dtype bfloat16 --json " + folder / "P.npy").json();
  EXPECT_EQ(found["scheme"], "sinusoidal");
  EXPECT_EQ(found["layout"], "interleaved");
}

TEST(Identify, ReadsNumbersAsText) {
  const auto found = identified("--length 50 --width 32 --layout cos_first", "P.csv");
  EXPECT_EQ(found["scheme"], "sinusoidal");
  EXPECT_EQ(found["layout"], "cos_first");
  const Folder folder;
  EXPECT_EQ(
      shell("sextant encode --length 9 --width 8 | sextant identify - --json").json()["scheme"],
      "sinusoidal");
  put(folder / "spaces.txt",
      "# sin cos\n0 1\n0.841471 0.540302\n0.909297 -0.416147\n"
      "0.141120 -0.989992\n");
  EXPECT_EQ(sextant("identify --json " + folder / "spaces.txt").json()["scheme"], "sinusoidal");
}

TEST(Identify, RandomNumbersAreUnknown) {
  const Folder folder;
  Tensor<float> table({40, 32});
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (float& value : table.span()) value = normal(random);
  save_npy(folder / "R.npy", table);
  const Outcome outcome = sextant("identify --json " + folder / "R.npy");
  EXPECT_EQ(outcome.code, 0);
  const auto found = outcome.json();
  EXPECT_EQ(found["scheme"], "unknown");
  for (const char* name : {"layout", "ladder", "base", "first", "scale", "mistake", "command"}) {
    EXPECT_TRUE(found.contains(name) && found[name].is_null()) << name;
  }
  EXPECT_THAT(sextant("identify " + folder / "R.npy").out, HasSubstr(": unknown\n"));
}

TEST(Identify, ItsCommandMakesTheTableAgain) {
  const Folder folder;
  const std::string options = "--length 33 --width 48 --first 5 --layout cos_first --base 777";
  ASSERT_EQ(sextant("encode " + options + " -o " + folder / "P.npy").code, 0);
  const auto found = sextant("identify --json " + folder / "P.npy").json();
  const Outcome again = shell(found["command"].get<std::string>() + " -o " + folder / "Q.npy");
  ASSERT_EQ(again.code, 0) << found["command"] << again.err;
  EXPECT_EQ(contents(folder / "P.npy"), contents(folder / "Q.npy"));
}

TEST(Identify, PeopleGetAnExplanationAndATable) {
  const Folder folder;
  ASSERT_EQ(sextant("encode --length 33 --width 48 -o " + folder / "P.npy").code, 0);
  const std::string text = sextant("identify " + folder / "P.npy").out;
  for (const char* part : {"sinusoidal", "interleaved", "largest deviation",
                           "make it again: sextant "
                           "encode --length 33 --width 48"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Identify, AxesOfLengthOneAreDropped) {
  const Folder folder;
  ASSERT_EQ(sextant("encode --length 33 --width 48 -o " + folder / "P.npy").code, 0);
  const Array array = load_npy(folder / "P.npy");
  save_npy(folder / "B.npy", View<const float>(array.as<float>().data(), {1, 33, 1, 48}));
  EXPECT_EQ(sextant("identify --json " + folder / "B.npy").json()["scheme"], "sinusoidal");
}

TEST(Identify, HostileFilesGetOneClearLine) {
  const Folder folder;
  put(folder / "empty.npy", "");
  put(folder / "text.npy", "hello");
  put(folder / "cut.npy", std::string("\x93NUMPY\x01\x00", 8));
  put(folder / "words.csv", "position,sin,cos\n0,0,1\n");
  put(folder / "ragged.csv", "1,2\n3\n");
  put(folder / "trailing.csv", "1,2,\n");
  put(folder / "nan.csv", "1,nan\n0,1\n");
  for (const char* name : {"empty.npy", "text.npy", "cut.npy", "words.csv", "ragged.csv",
                           "trailing.csv", "nan.csv", "missing.npy"}) {
    const Outcome outcome = sextant("identify " + folder / name);
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [")) << name;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << name;
  }
}

TEST(Identify, NamesCachesOfRotations) {
  const Folder folder;
  Tensor<float> cosines({300, 64});
  for (std::int64_t n = 0; n < 300; ++n) {
    for (std::int64_t k = 0; k < 64; ++k) {
      const double frequency = std::pow(10000, -static_cast<double>(k % 32) / 32) / 4;
      cosines(n, k) = static_cast<float>(std::cos(static_cast<double>(n) * frequency));
    }
  }
  save_npy(folder / "cos.npy", cosines);
  const auto found = sextant("identify --json " + folder / "cos.npy").json();
  EXPECT_EQ(found["scheme"], "rotary_linear");
  EXPECT_EQ(found["parameters"]["factor"], 4);
  EXPECT_EQ(found["form"], "cosines, twice side by side");
  EXPECT_EQ(found["head_dim"], 64);
  EXPECT_EQ(found["inv_freq"].size(), 32U);
  EXPECT_TRUE(found["base"].is_null());
  EXPECT_EQ(found["command"],
            "sextant encode --scheme rotary_linear --length 300 --head-dim 64 --factor 4");
  EXPECT_EQ(shell(found["command"].get<std::string>()).code, 0);
  EXPECT_THAT(sextant("identify " + folder / "cos.npy").out, HasSubstr("holds"));
}

TEST(Identify, NamesSlopesAndWholeNumbers) {
  const Folder folder;
  Tensor<double> slopes({12, 1, 1});
  for (std::int64_t h = 0; h < 12; ++h) {
    slopes.data()[h] =
        std::exp2(h < 8 ? -static_cast<double>(h + 1) : -0.5 - static_cast<double>(h - 8));
  }
  save_npy(folder / "slopes.npy", slopes);
  const auto alibi = sextant("identify --json " + folder / "slopes.npy").json();
  EXPECT_EQ(alibi["scheme"], "alibi");
  EXPECT_EQ(alibi["heads"], 12);
  ASSERT_EQ(sextant("encode --scheme alibi --heads 4 --length 8 -o " + folder / "bias.npy").code,
            0);
  EXPECT_THAT(
      sextant("identify --json " + folder / "bias.npy").json()["command"].get<std::string>(),
      HasSubstr("--scheme alibi --length 8 --heads 4"));
  // Buckets by hand: 8 of them for the past, 4 exact, then from 4, 6, 8 and 12 on.
  Tensor<std::int64_t> map({20, 20});
  for (std::int64_t q = 0; q < 20; ++q) {
    for (std::int64_t k = 0; k < 20; ++k) {
      const std::int64_t back = std::max<std::int64_t>(q - k, 0);
      map(q, k) = back < 4 ? back : back < 6 ? 4 : back < 8 ? 5 : back < 12 ? 6 : 7;
    }
  }
  save_npy(folder / "buckets.npy", map);
  const auto t5 = sextant("identify --json " + folder / "buckets.npy").json();
  EXPECT_EQ(t5["scheme"], "t5") << t5.dump();
  EXPECT_EQ(t5["parameters"]["num_buckets"], 8);
  EXPECT_EQ(t5["parameters"]["bidirectional"], false);
  EXPECT_EQ(t5["dtype"], "int64");
}

}  // namespace
}  // namespace sextant::app_tests

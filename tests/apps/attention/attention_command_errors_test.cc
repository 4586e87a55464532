// What `sextant attention` refuses: one line that names the option, and no file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "apps/attention/attention_files.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AttentionRefusals : public AttentionFiles {
 protected:
  void SetUp() override {
    save_npy(file("q"), random_tensor<float>(Shape{2, 4, 3, 8}, 1));
    save_npy(file("k"), random_tensor<float>(Shape{2, 2, 5, 8}, 2));
    save_npy(file("v"), random_tensor<float>(Shape{2, 2, 5, 6}, 3));
    save_npy(file("g"), random_tensor<float>(Shape{2, 4, 3, 6}, 4));
    save_npy(file("kk"), random_tensor<float>(Shape{2, 2, 3, 8}, 5));
    save_npy(file("vv"), random_tensor<float>(Shape{2, 2, 3, 6}, 6));
  }

  // A whole line of options, refused with `code` and a line that starts with `start`; nothing is
  // written and nothing printed.
  void refused(const std::string& options, int code, const std::string& start) const {
    const Outcome outcome = sextant(expanded("attention " + options));
    EXPECT_EQ(outcome.code, code) << options << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [")) << options;
    EXPECT_THAT(outcome.err, HasSubstr((start.starts_with("[") ? ": " : "] ") + expanded(start)))
        << options;
    EXPECT_EQ(outcome.out, "") << options;
    EXPECT_FALSE(exists("out")) << options;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  void unusable(const std::string& options, const std::string& start) const {
    refused("--q @q --k @k --v @v -o @out " + options, 1, start);
  }
  void wrong_line(const std::string& options, const std::string& start) const {
    refused("--q @q --k @k --v @v -o @out " + options, 2, start);
  }
  // The same with as many keys as queries.
  void unusable_square(const std::string& options, const std::string& start) const {
    refused("--q @q --k @kk --v @vv -o @out " + options, 1, start);
  }
};

TEST_F(AttentionRefusals, NoneForTheFilesAsTheyAre) {
  EXPECT_EQ(run("-o @out").code, 0);
  EXPECT_EQ(sextant(expanded("attention --q @q --k @kk --v @vv -o @out --dout @g --dq @dq")).code,
            0);
}

TEST_F(AttentionRefusals, LinesWithoutWhatIsNeeded) {
  refused("", 2, "--q is required");
  refused("--q @q --k @k -o @out", 2, "--v is required");
  refused("--q @q --k @k --v @v", 2, "-o, another result, or --explain is required");
  refused("--q @q --k @k --v @v --json", 2, "-o, another result, or --explain is required");
  wrong_line("--dq @dq", "--dq requires --dout");
  wrong_line("--dout @g", "[attention.dout] must be given with at least one of --dq");
  wrong_line("--dout @g --dbias @x", "--dbias requires --bias");
  wrong_line("--dout @g --dmask @x", "--dmask requires --mask");
  wrong_line("--dout @g --dslopes @x", "--dslopes requires --alibi");
  wrong_line("--dout @g --dsinks @x", "--dsinks requires --sinks");
  wrong_line("--stage scores", "--stage requires --weights");
  wrong_line("--causal at_offsets", "[attention.causal] must be given with --query-offsets");
  wrong_line("--causal at_lengths",
             "[attention.causal] must be given with --key-lengths to be at_lengths");
}

TEST_F(AttentionRefusals, WordsThatDoNotRead) {
  wrong_line("--causal yes", "[attention.causal] must be ");
  wrong_line("--causal", "--causal: 1 required NAME missing");
  wrong_line("--weights @w --stage last", "[attention.stage] must be ");
  wrong_line("--window 3", "[attention.window] must be two whole numbers such as 2,10, got 1 item");
  wrong_line("--window 3,-2",
             "[attention.window] must be a whole number in the range -1 .. 2^63 - 1, got '-2'");
  wrong_line("--window a,b", "[attention.window] must be a whole number, got 'a'");
  wrong_line("--scale inf", "[attention.scale] must be finite, got 'inf'");
  wrong_line("--scale nan", "[attention.scale] must be finite, got 'nan'");
  wrong_line("--scale x", "[attention.scale] must be ");
  wrong_line("--softcap -1", "[attention.softcap] must be finite and >= 0, got '-1'");
  wrong_line("--rotary-base 0", "[attention.rotary-base] must be finite and > 0, got '0'");
  wrong_line("--rotary-layout llama",
             "[attention.rotary-layout] must be one of half_split, interleaved, got 'llama'");
  wrong_line("--dtype int8",
             "[attention.dtype] must be one of float64, float32, bfloat16, float16, got 'int8'");
  wrong_line("--threads -1", "[attention.threads] must be a whole number in the range 0 .. 1024");
  wrong_line("--threads 2000", "[attention.threads] must be a whole number in the range 0 .. 1024");
  wrong_line("--softcup 3", "unknown option '--softcup'; did you mean '--softcap'?");
  wrong_line("--q @k", "--q: ");
  wrong_line("extra", "unexpected argument 'extra'");
}

TEST_F(AttentionRefusals, OptionsThatExcludeEachOther) {
  wrong_line("--segments @n --key-lengths @n", "--segments excludes --key-lengths");
  wrong_line("--key-segments @n", "--key-segments requires --segments");
  wrong_line("--segments @n --query-offsets @n", "--segments excludes --query-offsets");
  wrong_line(
      "--query-offsets @n --causal top_left",
      "[attention.query-offsets] must be given with --causal at_offsets or none, got top_left");
  wrong_line("--json --explain", "[attention.explain] must not be combined with --json");
  refused("--q - --k - --v @v -o @out", 2,
          "[attention.k] must not be - : there is one stdin, which --q reads");
  refused("--q @q --k @k --v @v -o - --json", 2,
          "[attention.output] must be a file with --json, which prints to stdout");
  refused("--q @q --k @k --v @v -o - --explain", 2,
          "[attention.output] must be a file with --explain, which prints to stdout");
  refused("--q @q --k @k --v @v -o - --log-sum-exp -", 2,
          "[attention.output] must be a separate file, got - for --log-sum-exp too");
  wrong_line("--log-sum-exp " + folder_ / "." + "/out.npy",
             "[attention.output] must be a separate file, got @out for --log-sum-exp too");
}

TEST_F(AttentionRefusals, EndingsOfOtherFormats) {
  refused("--q @q --k @k --v @v -o out.csv", 2,
          "[attention.output] must be a file that ends in .npy, got 'out.csv'");
  wrong_line("--weights w", "[attention.weights] must be a file that ends in .npy, got 'w'");
}

TEST_F(AttentionRefusals, FilesThatAreNoArrays) {
  refused("--q @missing --k @k --v @v -o @out", 1, "[@missing] cannot be opened");
  put(file("text"), "1,2,3\n");
  refused("--q @text --k @k --v @v -o @out", 1, "[@text] ");
  put(file("cut"), contents(file("q")).substr(0, 300));
  refused("--q @cut --k @k --v @v -o @out", 1, "[@cut] is cut off");
  refused("--q - --k @k --v @v -o @out", 1, "[stdin] ");
}

TEST_F(AttentionRefusals, TypesThatDoNotFit) {
  save_npy(file("wide"), random_tensor<double>(Shape{2, 2, 5, 8}, 2));
  save_npy(file("whole"), Tensor<std::int64_t>(Shape{2, 2, 5, 8}));
  save_npy(file("bits"), Tensor<std::uint16_t>(Shape{2, 4, 3, 8}));
  refused("--q @q --k @wide --v @v -o @out", 1,
          "[attention.k] must hold float32, as q does, got float64 in @wide");
  refused("--q @q --k @whole --v @v -o @out", 1, "[attention.k] must hold float64, float32, ");
  refused("--q @bits --k @k --v @v -o @out", 1,
          "[attention.q] must hold floats, got uint16 in @bits; when these are the bits of "
          "bfloat16, say --dtype bfloat16");
  refused("--q @bits --k @k --v @v -o @out --dtype bfloat16", 1,
          "[attention.k] must hold bfloat16, as --dtype says, got float32 in @k");
  unusable("--dtype float16",
           "[attention.q] must hold float16, as --dtype says, got float32 in @q");
  unusable("--mask @whole",
           "[attention.mask] must hold bool, float32, float64 or float16, got int64");
  unusable("--bias @whole", "[attention.bias] must hold float32, float64 or float16, got int64");
  unusable("--key-lengths @q", "[attention.key-lengths] must hold int32 or int64, got float32");
  save_npy(file("s"), Tensor<std::int32_t>(Shape{4}));
  unusable("--sinks @s", "[attention.sinks] must hold float32, float64 or float16, got int32");
  save_npy(file("wide"), random_tensor<double>(Shape{2, 4, 3, 6}, 2));
  unusable("--dout @wide --dq @dq",
           "[attention.dout] must hold float32, as q does, got float64 in @wide");
}

TEST_F(AttentionRefusals, ShapesThatDoNotFit) {
  save_npy(file("x"), Tensor<float>(Shape{3, 8}));
  refused("--q @x --k @k --v @v -o @out", 1,
          "[attention.q] must be [batch, heads, length, head_dim], got [3, 8]");
  refused("--q @q --k @v --v @v -o @out", 1,
          "[attention.k] must be [2, 2, 5, 8], got [2, 2, 5, 6]");
  refused("--q @q --k @k --v @vv -o @out", 1,
          "[attention.v] must be [2, 2, 5, 6], got [2, 2, 3, 6]");
  unusable("--mask @x", "[attention.mask] must broadcast to [2, 4, 3, 5], got [3, 8]");
  unusable(
      "--bias @x",
      "[attention.bias] must be [heads, 2 L - 1] with index = key - query + L - 1, got [3, 8]");
  save_npy(file("b"), Tensor<float>(Shape{4, 3}));
  unusable("--bias @b --causal top_left",
           "[attention.bias] must hold the distances -2 .. 0, got [4, 3] with origin 1");
  unusable("--sinks @x", "[attention.sinks] must have one entry per head of q, [4], got [3, 8]");
  unusable("--dout @q --dq @dq",
           "[attention.dout] must have the shape of the output, [2, 4, 3, 6], got [2, 4, 3, 8]");
}

TEST_F(AttentionRefusals, NumbersThatDoNotFit) {
  const auto list = [&](std::vector<double> values) {
    save<std::int64_t>("n", {static_cast<std::int64_t>(values.size())}, values);
  };
  list({});
  unusable("--key-lengths @n",
           "[attention.key-lengths] must be one length per batch row, [2], got [0]");
  unusable_square(
      "--segments @n",
      "[attention.segments] must be where sequences begin and the last one ends, got [0]");
  unusable("--query-offsets @n", "[attention.query-offsets] must be one number per batch row, [2]");
  list({3, 6});
  unusable("--key-lengths @n", "[attention.key-lengths] must be in 0 .. 5, the length of k, got 6");
  unusable_square("--segments @n",
                  "[attention.segments] must ascend from 0 to the length 3, got 3");
  list({0, 3});
  unusable("--segments @n",
           "[attention.segments] must be given with key_segments or q_len = k_len, got 3 and 5");
  unusable("--segments @n --key-segments @n",
           "[attention.key_segments] must ascend from 0 to the length 5, got 0 .. 3");
  list({2, -1});
  unusable("--key-lengths @n",
           "[attention.key-lengths] must be in 0 .. 5, the length of k, got -1");
  unusable(
      "--query-offsets @n --rotary-base 10",
      "[attention.rotary-base] must be given with queries at positions 0 .. 2^24 - 1, got -1 for "
      "the first of batch row 1");
  list({4, 2});
  unusable(
      "--key-lengths @n --causal at_lengths --rotary-base 10",
      "[attention.rotary-base] must be given with queries at positions 0 .. 2^24 - 1, got -1 for "
      "the first of batch row 1");
  list({0, 9e15});
  unusable("--query-offsets @n --rotary-base 10",
           "[attention.rotary-base] must be given with queries");
  list({0, 9.2e18});
  unusable("--query-offsets @n", "[attention.query-offsets] must be in ");
  save_npy(file("s"), filled<float>(Shape{4}, {0, 0, NAN, 0}));
  unusable("--sinks @s", "[attention.sinks] must be within +-1e38 or -infinity, got nan");
}

TEST_F(AttentionRefusals, WhatCountsFromAnUnnamedCorner) {
  save_npy(file("b"), Tensor<float>(Shape{1, 19}));
  for (const char* counting : {"--window 1,1", "--bias @b", "--alibi", "--rotary-base 10"}) {
    unusable(counting, "[attention.causal] must be named, or --query-offsets given, for a window");
  }
}

TEST_F(AttentionRefusals, CombinationsThatFilesTell) {
  save<bool>("m", {1}, {1});
  unusable("--mask @m --dout @g --dmask @x",
           "[attention.dmask] must be given with a mask of floats, got bool");
  save_npy(file("odd"), Tensor<float>(Shape{1, 1, 3, 5}));
  refused("--q @odd --k @odd --v @odd -o @out --rotary-layout interleaved", 1,
          "[attention.rotary-base] must be given with an even head_dim, got 5");
}

TEST_F(AttentionRefusals, PlacesThatCannotBeWrittenAreSeenBeforeTheWork) {
  const std::string folder = folder_ / "no", path = folder + "/l.npy";
  const std::string start = std::string("[").append(path) + "] cannot be written: ";
  unusable("--log-sum-exp " + path, start + "there is no folder " + folder);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "no"));
  std::filesystem::create_directory(file("folder"));
  unusable("--log-sum-exp @folder", "[@folder] must be a file, got a folder");
}

TEST_F(AttentionRefusals, TheOutputIsThereOnlyWhenEverythingElseIs) {
  unusable("--log-sum-exp /dev/full", "[/dev/full] cannot be written");
}

TEST_F(AttentionRefusals, AFailedCallLeavesOldFilesAlone) {
  put(file("old"), "as it was");
  EXPECT_EQ(run("-o @old --mask @k").code, 1);
  EXPECT_EQ(contents(file("old")), "as it was");
  EXPECT_EQ(run("-o @old").code, 0);
  EXPECT_EQ(load_npy(file("old")).shape, (Shape{2, 4, 3, 6}));
  // Temporary files are gone.
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ(entry.path().extension(), ".npy") << entry.path();
  }
}

}  // namespace
}  // namespace sextant::app_tests

// --print-call: the call of a command as a command, in Python and in C++.
// python/tests/module/test_print_call.py runs the Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string printed(const std::string& line, const std::string& language) {
  const Outcome outcome = sextant(line + " --print-call " + language);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

TEST(PrintCall, ATableIsAFunctionInPythonAndARequestInCpp) {
  const std::string line = "encode --scheme rotary --length 9 --head-dim 8 --base 500";
  EXPECT_EQ(printed(line, "python"), "import sextant\n\ntable = sextant.rotary(9, 8, base=500)\n");
  EXPECT_EQ(printed(line, "c++"),
            "std::vector<std::int64_t> ids(9);\n"
            "std::iota(ids.begin(), ids.end(), 0);\n"
            "sextant::SchemeRequest request;\n"
            "request.head_dim = 8;\n"
            "request.heads = 8;\n"
            "request.positions = ids;\n"
            "request.parameters = {{\"base\", \"500\"}};\n"
            "const sextant::SchemeTable table = sextant::find_scheme(\"rotary\").make(request);\n");
}

// Whatever the order and the names in which options are given; a shell reads it back.
TEST(PrintCall, ACommandIsOneThatDoesTheSame) {
  const std::string line = "attend --print-call command --causal 'the cat' --scheme=rotary";
  const Outcome outcome = sextant(line + " --base 500");
  EXPECT_EQ(outcome.out, "sextant attend --causal --scheme rotary --base 500 'the cat'\n");
  EXPECT_EQ(sextant("encode --print-call command --positions=-1,0 --width 4").out,
            "sextant encode --width 4 --positions=-1,0\n");
  EXPECT_EQ(sextant("attend --print-call command -- '-a b'").out, "sextant attend -- '-a b'\n");
  EXPECT_EQ(shell(outcome.out.substr(0, outcome.out.size() - 1) + " --json").out,
            sextant("attend --causal 'the cat' --scheme rotary --base 500 --json").out);
}

TEST(PrintCall, OptionsAreThoseThatDifferFromTheDefaults) {
  const std::string line =
      "attend 'the cat' --heads 4 --width 32 --window 2,0 --hide '1:0,*:1' --sinks 1,2,3,4";
  EXPECT_EQ(printed(line + " --scheme none", "c++"),
            "sextant::SentenceAttentionOptions options;\n"
            "options.width = 32;\n"
            "options.window = {2,0};\n"
            "options.sinks = {1,2,3,4};\n"
            "options.hidden = {{1, 0}, {-1, 1}};\n"
            "const sextant::SentenceAttention attention = sextant::attend_sentences(\n"
            "    {\"the\", \"cat\"}, {}, options);\n");
  const Outcome missing = sextant(line + " --print-call python");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err,
              HasSubstr("[attend.print-call] must not be combined with --window, which the "
                        "Python module does not have"));
}

TEST(PrintCall, AStepIsReadFromTheSteps) {
  EXPECT_THAT(printed("attend 'a b' --step rotated_q --scheme rotary", "c++"),
              EndsWith("const sextant::Tensor<double>& rotated_q = "
                       "steps[sextant::AttentionStep::rotated_q];\n"));
}

TEST(PrintCall, TheOperatorsCallReadsAndWritesTheFiles) {
  const std::string line =
      "attention --q q.npy --k k.npy --v v.npy -o out.npy --causal top_left --window 3,-1 "
      "--key-lengths n.npy";
  EXPECT_EQ(printed(line, "python"),
            "import sextant\n\nimport numpy\n\n"
            "q = numpy.load(\"q.npy\")\nk = numpy.load(\"k.npy\")\nv = numpy.load(\"v.npy\")\n"
            "out = sextant.attention(q, k, v, causal=\"top_left\", window=(3, -1), "
            "key_lengths=numpy.load(\"n.npy\"))\n"
            "numpy.save(\"out.npy\", out)\n");
  EXPECT_THAT(
      printed(line, "c++"),
      HasSubstr("options.causal = sextant::Causal::top_left;\n"
                "options.window = {3, -1};\n"
                "const auto key_lengths = sextant::load_npy(\"n.npy\").to<std::int64_t>();\n"
                "options.key_lengths = key_lengths.span();\n"));
  EXPECT_THAT(
      sextant(line + " --mask m.npy --print-call c++").err,
      StartsWith(
          "sextant: [attention.print-call] must not be combined with --mask, which a call of "
          "C++ does not have"));
}

TEST(PrintCall, APictureIsAFunctionOfPlot) {
  EXPECT_EQ(printed("plot distance --schemes rotary:base=500,alibi --length 9 -o x.svg", "python"),
            "import sextant\n\n"
            "picture = sextant.plot.distance([{\"rotary\": {\"base\": 500}}, \"alibi\"], "
            "length=9)\npicture.save(\"x.svg\")\n");
  EXPECT_EQ(printed("plot offset-matrix --shift 3 --width 8", "c++"),
            "sextant::Sinusoidal options = sextant::sinusoidal_from({});\n"
            "options.width = 8;\n"
            "const sextant::figures::Figure figure = "
            "sextant::figures::plot_offset_matrix(options, 3);\n");
}

}  // namespace
}  // namespace sextant::app_tests

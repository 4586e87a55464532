// `sextant encode`: the exact forms, every format, every error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "apps/run_program.h"
#include "sextant/core/npy.h"
#include "sextant/core/safetensors.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A1, as the course prints it.
constexpr double kCourse[4][4] = {
    {0, 1, 0, 1},
    {0.8414709848078965, 0.5403023058681397, 0.09983341664682817, 0.9950041652780256},
    {0.9092974268256816, -0.4161468365471424, 0.19866933079506124, 0.9800665778412417},
    {0.1411200080598672, -0.9899924966004454, 0.2955202066613396, 0.9553364891256061}};

TEST(Encode, PrintsTheCoursesTableToTheLastDigit) {
  const Outcome printed =
      sextant("encode --length 4 --width 4 --base 100 --dtype float64 --format csv");
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, IsEmpty());
  const auto rows = csv(printed.out);
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    ASSERT_EQ(rows[k].size(), 4U);
    // The course's own numbers have errors of up to two units in the last place: for cos(0.1),
    // 0.995004165278025766..., it prints 0.9950041652780256.
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(rows[k][i], kCourse[k][i], 0x1p-52);
  }
  EXPECT_THAT(printed.out, StartsWith("0,1,0,1\n0.8414709848078965,0.54030230586813977,"));
}

TEST(Encode, CsvIsTheDefaultInAPipe) {
  EXPECT_EQ(sextant("encode --length 3 --width 4").out,
            sextant("encode --length 3 --width 4 --format csv").out);
}

template <class T>
std::vector<std::vector<double>> made(const Sinusoidal& options) {
  const Tensor<T> table = sinusoidal<T>(options);
  std::vector<std::vector<double>> rows;
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    rows.emplace_back();
    for (std::int64_t column = 0; column < table.size(1); ++column) {
      rows.back().push_back(static_cast<double>(table(row, column)));
    }
  }
  return rows;
}

TEST(Encode, DigitsReadBackAsTheSameNumberInEveryType) {
  const Sinusoidal options{.length = 20, .width = 10, .base = 77};
  const auto printed = [](const std::string& dtype) {
    return csv(sextant("encode --length 20 --width 10 --base 77 --dtype " + dtype).out);
  };
  EXPECT_EQ(printed("float64"), made<double>(options));
  // A narrower type is printed by the digits of float32, so it is read back through float.
  const auto narrowed = [](std::vector<std::vector<double>> rows) {
    for (auto& row : rows) {
      for (double& value : row) value = static_cast<double>(static_cast<float>(value));
    }
    return rows;
  };
  EXPECT_EQ(narrowed(printed("float32")), made<float>(options));
  EXPECT_EQ(narrowed(printed("bfloat16")), made<bfloat16>(options));
  EXPECT_EQ(narrowed(printed("float16")), made<float16>(options));
}

TEST(Encode, EveryOptionOfTheFamilyArrives) {
  Sinusoidal options{.length = 5, .width = 7};
  options.base = 500;
  options.first = -3;
  options.layout = SinusoidalLayout::half_split;
  options.ladder = Ladder::d_half_minus_1;
  options.odd_width = OddWidth::zero_column;
  options.scale = 0.5;
  EXPECT_EQ(csv(sextant("encode --length 5 --width 7 --base 500 --first -3 --layout half_split "
                        "--ladder d/2-1 --odd-width zero_column --scale 0.5 --dtype float64")
                    .out),
            made<double>(options));
  Sinusoidal slip{.length = 5, .width = 8};
  slip.exponent = Exponent::doubled;
  const auto doubled = made<double>(slip);
  const std::string size = "encode --length 5 --width 8 --dtype float64 ";
  EXPECT_EQ(csv(sextant(size + "--doubled-exponent").out), doubled);
  EXPECT_EQ(csv(sextant(size + "--exponent doubled").out), doubled);
  slip.exponent = Exponent::doubled_unpaired;
  slip.layout = SinusoidalLayout::cos_first;
  EXPECT_EQ(csv(sextant(size + "--exponent doubled_unpaired --layout cos_first").out),
            made<double>(slip));
  slip = {.length = 5, .width = 8, .first = 2147483000, .precision = Precision::framework};
  EXPECT_EQ(csv(sextant(size + "--first 2147483000 --precision framework").out),
            made<double>(slip));
}

TEST(Encode, PositionsMayBeAnyWholeNumbersOrRealOnes) {
  const auto rows = csv(sextant("encode --positions 0,5,1000000 --width 2 --dtype float64").out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NEAR(rows[1][0], std::sin(5.0), 1.2e-16);
  EXPECT_NEAR(rows[2][0], std::sin(1e6), 1.2e-16);
  EXPECT_EQ(csv(sextant("encode --positions 4..8..2 --width 2").out).size(), 3U);
  const auto real = csv(sextant("encode --positions 10.5,-2 --width 2 --dtype float64").out);
  ASSERT_EQ(real.size(), 2U);
  EXPECT_NEAR(real[0][1], std::cos(10.5), 1.2e-16);
  EXPECT_NEAR(real[1][0], std::sin(-2.0), 1.2e-16);
}

TEST(Encode, PositionsThatAreNoneAreRefused) {
  for (const char* wrong :
       {"1,,2", "1,two", "0..10,1.5", "1.5.5", "9999999999999999999", "nan,1", "''"}) {
    const Outcome outcome = sextant("encode --width 2 --positions " + std::string(wrong));
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [encode.positions] ")) << wrong;
  }
}

TEST(Encode, LengthAndPositionsExcludeEachOtherAndOneIsNeeded) {
  EXPECT_EQ(sextant("encode --width 2 --positions 1 --length 2").code, 2);
  EXPECT_EQ(sextant("encode --width 2").code, 2);
  EXPECT_EQ(sextant("encode --length 2").code, 2);
}

TEST(Encode, SavesEveryFormatByItsEnding) {
  const Folder folder;
  for (const char* ending : {"npy", "png", "svg", "csv", "json", "html"}) {
    const Outcome saved = sextant("encode --length 100 --width 512 -o " + folder / "P." + ending);
    EXPECT_EQ(saved.code, 0) << ending << saved.err;
    EXPECT_THAT(saved.out, IsEmpty()) << ending;
  }
  const Array array = load_npy(folder / "P.npy");
  EXPECT_EQ(array.dtype, DType::float32);
  EXPECT_EQ(array.shape, (Shape{100, 512}));
  const Tensor<float> table = sinusoidal<float>({.length = 100, .width = 512});
  EXPECT_TRUE(std::equal(table.data(), table.data() + table.count(), array.as<float>().data()));
  EXPECT_THAT(contents(folder / "P.png"), StartsWith("\x89PNG"));
  EXPECT_THAT(contents(folder / "P.svg"), HasSubstr("<svg"));
  EXPECT_THAT(contents(folder / "P.html"), HasSubstr("<svg"));
  EXPECT_EQ(csv(contents(folder / "P.csv")).size(), 100U);
  const auto json = Json::parse(contents(folder / "P.json"));
  EXPECT_EQ(json["scheme"], "sinusoidal");
  EXPECT_EQ(json["shape"], (std::vector{100, 512}));
  EXPECT_EQ(json["values"][1][1].get<float>(), table(1, 1));
}

TEST(Encode, AFormatWinsOverTheEndingAndAnUnknownEndingIsRefused) {
  const Folder folder;
  const std::string size = "encode --length 3 --width 4 ";
  EXPECT_EQ(sextant(size + "--format csv -o " + folder / "table.txt").code, 0);
  EXPECT_EQ(contents(folder / "table.txt"), sextant(size + "--format csv").out);
  const Outcome wrong = sextant(size + "-o " + folder / "table.doc");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, StartsWith("sextant: [encode.output] must be a file that ends in .csv"));
  EXPECT_FALSE(std::filesystem::exists(folder / "table.doc"));
}

TEST(Encode, NpyGoesThroughAPipe) {
  const Folder folder;
  EXPECT_EQ(shell("sextant encode --length 3 --width 4 --format npy >" + folder / "P.npy").code, 0);
  EXPECT_EQ(load_npy(folder / "P.npy").shape, (Shape{3, 4}));
}

TEST(Encode, BfloatFilesHoldTheirBitsAndSaySo) {
  const Folder folder;
  const Outcome saved =
      sextant("encode --length 3 --width 4 --dtype bfloat16 -o " + folder / "P.npy");
  EXPECT_EQ(saved.code, 0);
  EXPECT_THAT(saved.err, HasSubstr("uint16"));
  EXPECT_EQ(load_npy(folder / "P.npy").dtype, DType::uint16);
}

TEST(Encode, JsonHoldsTheNumbersAndHowTheyWereMade) {
  const auto json = sextant("encode --length 2 --width 4 --base 100 --dtype float64 --json").json();
  EXPECT_EQ(json["scheme"], "sinusoidal");
  EXPECT_EQ(json["parameters"]["base"], 100);
  EXPECT_EQ(json["dtype"], "float64");
  EXPECT_EQ(json["values"][1][0].get<double>(), 0.8414709848078965);
}

TEST(Encode, OtherSchemesGiveTheirOwnTables) {
  const Folder folder;
  const auto rotary =
      csv(sextant("encode --scheme rotary --length 3 --width 4 --dtype float64").out);
  ASSERT_EQ(rotary.size(), 3U);
  ASSERT_EQ(rotary[2].size(), 4U);  // two cosines, then two sines
  EXPECT_NEAR(rotary[2][0], std::cos(2.0), 1.2e-16);
  EXPECT_NEAR(rotary[2][2], std::sin(2.0), 1.2e-16);
  ASSERT_EQ(sextant("encode --length 6 --width 4 -o " + folder / "P.npy").code, 0);
  const Outcome learned = sextant("encode --scheme learned --file " + folder / "P.npy" +
                                  " --offset 2 --length 3 --width 4");
  EXPECT_EQ(learned.out, sextant("encode --first 2 --length 3 --width 4").out);
  EXPECT_EQ(sextant("encode --scheme learned --scheme-file " + folder / "P.npy" +
                    " --offset 2 --length 3 --width 4")
                .out,
            learned.out);
  for (const char* scheme : {"cope", "deberta", "forgetting", "shaw", "transformer_xl"}) {
    const Outcome content = sextant(std::string("encode --length 4 --scheme ") + scheme);
    EXPECT_EQ(content.code, 2) << scheme;
    EXPECT_THAT(content.err, HasSubstr("whose scores depend on q and k as well")) << scheme;
  }
  const Outcome none = sextant("encode --scheme none --length 3 --width 4");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("adds nothing"));
  EXPECT_THAT(sextant("encode --scheme nought --length 3 --width 4").err, HasSubstr("sinusoidal"));
}

std::vector<double> numbers_of(const std::string& path, const Shape& shape) {
  const Array array = load_npy(path);
  EXPECT_EQ(array.shape, shape) << path;
  const Tensor<double> values = array.to<double>();
  return {values.span().begin(), values.span().end()};
}

TEST(Encode, RotationsArePairsOfCosineAndSine) {
  const Folder folder;
  const std::string file = folder / "t.npy";
  for (const char* size : {"--head-dim 4", "--width 4", "--head-dim 4 --width 4"}) {
    ASSERT_EQ(sextant("encode --scheme rotary --length 3 --dtype float64 " + std::string(size) +
                      " -o " + file)
                  .code,
              0);
    const auto values = numbers_of(file, {3, 2, 2});
    ASSERT_EQ(values.size(), 12U);
    // Both are the nearest doubles but for the last place of the C library's own.
    EXPECT_NEAR(values[8], std::cos(2.0), 1.2e-16);
    EXPECT_NEAR(values[9], std::sin(2.0), 1.2e-16);
    EXPECT_NEAR(values[10], std::cos(0.02), 1.2e-16);
    EXPECT_NEAR(values[11], std::sin(0.02), 1.2e-16);
  }
  const auto json = sextant(
                        "encode --scheme rotary --length 3 --head-dim 4 --base 100 "
                        "--dtype float64 --json")
                        .json();
  EXPECT_EQ(json["kind"], "rotated");
  EXPECT_EQ(json["parameters"]["base"], 100);
  EXPECT_EQ(json["parameters"]["layout"], "half_split");  // a default, resolved
  EXPECT_EQ(json["inv_freq"], (std::vector{1.0, 0.1}));
  EXPECT_EQ(json["attention_factor"], 1.0);
  EXPECT_EQ(json["shape"], (std::vector{3, 2, 2}));
  EXPECT_EQ(json["values"][2][1].size(), 2U);
  EXPECT_EQ(sextant("encode --scheme rotary --length 3").code, 2);
  EXPECT_EQ(sextant("encode --scheme rotary --length 3 --head-dim 4 --width 8").code, 2);
  EXPECT_EQ(sextant("encode --scheme rotary --length 3 --head-dim 4 --side keys").out,
            sextant("encode --scheme rotary --length 3 --head-dim 4").out);
  EXPECT_EQ(sextant("encode --scheme alibi --length 3 --side keys").code, 2);
}

TEST(Encode, DistanceBiasesGoFromTheFarthestPastToTheFarthestFuture) {
  const Folder folder;
  const std::string command = "encode --scheme alibi --direction causal --heads 2 --length 3 ";
  ASSERT_EQ(sextant(command + "-o " + folder / "b.npy").code, 0);
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> slopes = {-0.125,     -0.0625,     0, -inf, -inf,
                                      -0.0078125, -0.00390625, 0, -inf, -inf};
  EXPECT_EQ(numbers_of(folder / "b.npy", {2, 5}), slopes);
  const auto rows = csv(sextant(command).out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1], std::vector<double>(slopes.begin() + 5, slopes.end()));
  const auto json = sextant(command + "--json").json();
  EXPECT_TRUE(json["values"][0][3].is_null());  // JSON has no infinity
  EXPECT_EQ(json["values"][0][1], -0.0625);
  EXPECT_EQ(json["kind"], "distance_bias");
  const Outcome listed = sextant("encode --scheme alibi --positions 0,5");
  EXPECT_EQ(listed.code, 1);
  EXPECT_THAT(listed.err, HasSubstr("--length"));
}

TEST(Encode, IdsOfSeveralAxesComeFromAFile) {
  const Folder folder;
  Tensor<std::int64_t> ids({2, 2});
  ids(0, 1) = 1;
  ids(1, 0) = 3;
  save_npy(folder / "ids.npy", ids);
  const std::string command =
      "encode --scheme sincos_2d --width 8 --dtype float64 --ids-file " + folder / "ids.npy";
  const auto rows = csv(sextant(command).out);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].size(), 8U);
  // MAE: the column's half comes first, [sin, sin, cos, cos] of 1 and 1/100.
  EXPECT_NEAR(rows[0][0], std::sin(1.0), 1.2e-16);
  EXPECT_NEAR(rows[1][4], std::sin(3.0), 1.2e-16);
  EXPECT_EQ(sextant(command + " --json").json()["positions"][1], (std::vector{3, 0}));
  EXPECT_EQ(sextant(command + " --length 2").code, 2);
  save_npy(folder / "floats.npy", Tensor<double>({2, 2}));
  EXPECT_EQ(sextant("encode --scheme sincos_2d --width 8 --ids-file " + folder / "floats.npy").code,
            1);
}

TEST(Encode, WeightsComeFromAFile) {
  const Folder folder;
  std::map<std::string, Array> weights;
  Tensor<float> table({32, 2});
  for (std::int64_t i = 0; i < table.count(); ++i) table.data()[i] = static_cast<float>(i);
  save_npy(folder / "table.npy", table);
  weights["table"] = load_npy(folder / "table.npy");
  save_safetensors(folder / "t5.safetensors", weights);
  const std::string command = "encode --scheme t5 --heads 2 --length 3 --scheme-weights ";
  const auto rows = csv(sextant(command + folder / "t5.safetensors").out);
  ASSERT_EQ(rows.size(), 2U);
  // Past distances 2, 1, 0 have buckets 2, 1, 0, future ones 17 and 18; head 1 is column 1.
  EXPECT_EQ(rows[1], (std::vector<double>{5, 3, 1, 35, 37}));
  weights["more"] = std::move(weights["table"]);
  weights.erase("table");
  save_safetensors(folder / "wrong.safetensors", weights);
  EXPECT_EQ(sextant(command + folder / "wrong.safetensors").code, 1);
  EXPECT_EQ(sextant("encode --scheme alibi --length 3 --scheme-weights x.safetensors").code, 2);
}

TEST(Encode, ParametersHaveTwoNamesAndTheSecondNeverCollides) {
  const std::string command = "encode --scheme sincos_2d --length 4 --width 8 ";
  EXPECT_EQ(sextant(command + "--scheme-base 100").out, sextant(command + "--base 100").out);
  // --first is the first id, the scheme's own is where its coordinates begin.
  EXPECT_NE(sextant(command + "--scheme-first 1").out, sextant(command).out);
}

TEST(Encode, AnEmptyTableIsOne) {
  const Outcome empty = sextant("encode --length 0 --width 4");
  EXPECT_EQ(empty.code, 0);
  EXPECT_THAT(empty.out, IsEmpty());
}

TEST(Encode, SizesThatAreNoneAreRefused) {
  const auto refused = [](const std::string& wrong, int code, const std::string& start) {
    const Outcome outcome = sextant("encode " + wrong);
    EXPECT_EQ(outcome.code, code) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [" + start)) << wrong;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << wrong;
  };
  refused("--length -1 --width 4", 2, "encode.length]");
  refused("--length 4 --width 0", 2, "encode.width]");
  refused("--length 4 --width -2", 2, "encode.width]");
  refused("--length 4 --width 4 --heads -3", 2, "encode.heads]");
  refused("--length 2.5 --width 4", 2, "encode.length] must be a whole number, got '2.5'");
  refused("--length 0x10 --width 4", 2, "encode.length] must be a whole number, got '0x10'");
  refused("--length 4 --width 4 --first 9007199254740993", 2,
          "encode.first] must be a whole number in the range -2^53 .. 2^53");
  refused("--length 99999999999999999999 --width 4", 2,
          "encode.length] must be a whole number in the range 0 .. 2^63 - 1");
  refused("--length 4000000000000 --width 4000000000", 2, "encode.");
  refused("--length 4611686018427387904 --width 4 --scheme rotary", 1, "encode.length]");
}

TEST(Encode, ParametersThatDoNotReadAreAWrongCommandLine) {
  for (const char* wrong : {"--layout foo", "--ladder foo", "--precision foo", "--exponent foo",
                            "--odd-width foo", "--base abc", "--base -1", "--base nan",
                            "--scale inf", "--scheme foo", "--scheme rotary --rotary-dim 1.5"}) {
    const Outcome outcome = sextant("encode --length 4 --width 4 " + std::string(wrong));
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [")) << wrong;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << wrong;
  }
  // What only the sizes tell is the library's to say.
  EXPECT_EQ(sextant("encode --length 4 --width 2 --ladder d/2-1").code, 2);
}

TEST(Encode, TwoExponentsExcludeEachOther) {
  const Outcome both =
      sextant("encode --length 4 --width 4 --doubled-exponent --exponent standard");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("excludes"));
}

TEST(Encode, RowsAreNamedByTheirPositions) {
  const auto first_words = [](const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const auto begin = text.find_first_not_of(' ', at);
      words.push_back(text.substr(begin, text.find(' ', begin) - begin));
    }
    return words;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(first_words(sextant("encode --length 2 --width 2 --first 7 --format text").out),
              ElementsAre("Position", "7", "8"));
  EXPECT_THAT(first_words(sextant("encode --positions 2.5,1 --width 2 --format text").out),
              ElementsAre("Row", "2.5", "1"));
  EXPECT_THAT(
      first_words(sextant("encode --positions 9,4 --width 2 --scheme rotary --format text").out),
      ElementsAre("Position", "9", "4"));
}

// As many distances before 0 as after it, whatever the width.
TEST(Encode, BiasesInATerminalAreCentredOnDistance0) {
  for (const int columns : {41, 42, 43}) {
    const std::string shown =
        shell("TERM=xterm NO_COLOR=1 script -qec 'stty cols " + std::to_string(columns) + "; " +
              tests::program() +
              " encode --scheme alibi --length 100 --width 4 --heads 1' /dev/null")
            .out;
    EXPECT_THAT(shown, HasSubstr(" 3 2 1 0 1 2 3 ")) << columns;
    EXPECT_THAT(shown, HasSubstr("the middle 19 of 199 columns")) << columns;
  }
}

}  // namespace
}  // namespace sextant::app_tests

// `sextant plot`: every kind, drawn and as numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <sstream>

#include <cmath>

#include "apps/run_program.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Plot, DrawsEveryKindInEveryFormat) {
  const Folder folder;
  for (const char* kind : {"sinusoids", "rows", "heatmap", "similarity", "distance"}) {
    for (const char* ending : {"svg", "png", "html"}) {
      const std::string path = folder / (std::string(kind) + "." + ending);
      const Outcome drawn = sextant("plot " + std::string(kind) + " --length 40 -o " + path);
      EXPECT_EQ(drawn.code, 0) << kind << drawn.err;
      const std::string file = contents(path);
      EXPECT_THAT(file, HasSubstr(ending == std::string("png") ? "PNG" : "<svg")) << path;
    }
  }
}

TEST(Plot, TheOffsetMatrixMovesPositions) {
  const auto json = sextant("plot offset-matrix --shift 3 --width 4 --base 100 --json").json();
  EXPECT_EQ(json["shape"], (std::vector{4, 4}));
  const auto rows =
      csv(sextant("encode --length 9 --width 4 --base 100 --dtype float64 --format csv").out);
  for (std::size_t p : {0, 5}) {
    for (std::size_t i = 0; i < 4; ++i) {
      double moved = 0;
      for (std::size_t j = 0; j < 4; ++j) moved += json["values"][i][j].get<double>() * rows[p][j];
      EXPECT_NEAR(moved, rows[p + 3][i], 4 * 0x1p-53);
    }
  }
  EXPECT_THAT(sextant("plot offset-matrix --width 6").out, HasSubstr("PE(p + 1) = M PE(p)"));
  for (const char* wrong :
       {"--length 3", "--first 2", "--scheme rotary", "--rows 1", "'a b'", "--table t.npy"}) {
    EXPECT_EQ(sextant(std::string("plot offset-matrix ") + wrong).code, 2) << wrong;
  }
  EXPECT_EQ(sextant("plot heatmap --shift 2").code, 2);
  EXPECT_EQ(sextant("plot offset-matrix --width 5").code, 2) << "a sine without its cosine";
}

// --offset is a parameter of the scheme, so no option of plot may have its name.
TEST(Plot, TakesTheOffsetOfALearnedTable) {
  const Folder folder;
  const std::string table = folder / "t.npy";
  ASSERT_EQ(sextant("encode --length 12 --width 8 --dtype float32 -o " + table).code, 0);
  const Outcome drawn = sextant("plot heatmap --scheme learned --scheme-file " + table +
                                " --offset 2 --length 10 --width 8 --json");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_EQ(drawn.json()["shape"], (std::vector{10, 8}));
}

TEST(Plot, SvgIsTheDefaultInAPipe) { EXPECT_THAT(sextant("plot rows").out, StartsWith("<svg")); }

TEST(Plot, SinusoidsMarkTheWordsAndGoTwentyPositionsFurther) {
  const auto json = sextant("plot sinusoids 'I am a robot' --json").json();
  EXPECT_EQ(json["columns"], (std::vector{0, 1, 20, 21, 40, 41}));
  EXPECT_EQ(json["shape"], (std::vector{6, 24}));
  const std::string svg = sextant("plot sinusoids 'I am a robot'").out;
  for (const char* title : {"Cosine 0", "Sine 1", "Sine 10", "Cosine 10", "Sine 20", "Cosine 20"}) {
    EXPECT_THAT(svg, HasSubstr(title));
  }
  EXPECT_THAT(svg, HasSubstr("robot"));
}

TEST(Plot, TitlesFollowTheLayout) {
  const std::string svg = sextant("plot sinusoids --width 8 --columns 1,5 --layout half_split").out;
  EXPECT_THAT(svg, HasSubstr("Sine 1"));
  EXPECT_THAT(svg, HasSubstr("Cosine 1"));
}

TEST(Plot, TheCoursesSizesAreTheDefaults) {
  EXPECT_EQ(sextant("plot rows --json").json()["shape"], (std::vector{3, 100}));
  EXPECT_EQ(sextant("plot heatmap --json").json()["shape"], (std::vector{100, 512}));
}

TEST(Plot, SimilarityIsOneOnTheDiagonalAndTheDocumentsNumberOffIt) {
  const auto values = sextant("plot similarity --length 11 --width 512 --json").json()["values"];
  // One ulp for a last step that the document's NumPy took in another order.
  EXPECT_NEAR(values[2][10].get<double>(), 0.7225200832468275, 1.2e-16);
  EXPECT_DOUBLE_EQ(values[3][3].get<double>(), 1);
  const auto profile = sextant("plot distance --length 11 --width 512 --json").json()["values"];
  // The mean of equal numbers, each with an error of a few 2^-53.
  EXPECT_NEAR(profile[8][1].get<double>(), 0.7225200832468275, 1e-15);
  const auto dots =
      sextant("plot distance --measure dot --length 11 --width 512 --json").json()["values"];
  EXPECT_NEAR(dots[0][1].get<double>(), 256, 1e-12);  // 256 pairs with sin^2 + cos^2 = 1
}

TEST(Plot, DrawsTablesFromFiles) {
  const Folder folder;
  const std::string table = folder / "P.npy";
  ASSERT_EQ(sextant("encode --length 30 --width 64 --dtype float64 -o " + table).code, 0);
  const auto from_file = sextant("plot rows --table " + table + " --json").json();
  EXPECT_EQ(from_file["values"],
            sextant("plot rows --length 30 --width 64 --json").json()["values"]);
  EXPECT_TRUE(from_file["scheme"].is_null());
}

TEST(Plot, RefusesWhatIsNotThere) {
  EXPECT_THAT(sextant("plot rows --rows 0,100").err,
              StartsWith("sextant: [plot.rows] must be 0 .. 99"));
  for (const char* wrong : {"sinusoids --columns 1,-1", "rows --rows -1"}) {
    const Outcome outcome = sextant("plot " + std::string(wrong));
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err, HasSubstr("s] must be at least 0, got -1"));
  }
  EXPECT_THAT(sextant("plot heatmap --table no.npy").err, StartsWith("sextant: [no.npy]"));
  EXPECT_THAT(sextant("plot similarity --length 5000").err,
              StartsWith("sextant: [plot.length] must be 1 .. 4096"));
  const Outcome rotary = sextant("plot similarity --scheme rotary");
  EXPECT_EQ(rotary.code, 2);
  EXPECT_THAT(rotary.err, StartsWith("sextant: [plot.scheme] must be one that adds a table to "
                                     "embeddings for similarity, got 'rotary'"));
  EXPECT_THAT(sextant("plot heatmap --scheme none").err,
              AllOf(StartsWith("sextant: [plot.scheme] "), HasSubstr("adds nothing")));
  EXPECT_THAT(sextant("encode --scheme none --length 3 --width 4").err,
              StartsWith("sextant: [encode.scheme] "));
  EXPECT_THAT(sextant("plot distance --scheme alibi --head 8").err,
              StartsWith("sextant: [plot.head] must be 0 .. 7"));
  EXPECT_EQ(sextant("plot sinusoids 'a b c' --length 2").err,
            "sextant: [plot.text] must have at most as many words as there are positions, 2, got "
            "3\n");
  EXPECT_THAT(sextant("plot distance --schemes rotary,roatry").err,
              HasSubstr("did you mean 'rotary'?"));
  EXPECT_EQ(sextant("plot distance --length 1").code, 2);
  const Outcome kind = sextant("plot pie");
  EXPECT_EQ(kind.code, 2);
  EXPECT_THAT(kind.err, HasSubstr("sinusoids, rows, heatmap, similarity, distance, offset-matrix"));
}

TEST(Plot, OptionsThatTheKindDoesNotHaveAreRefused) {
  const Folder folder;
  put(folder / "P.csv", "0,1\n1,0\n");
  const std::string with_table = " --table " + folder / "P.csv";
  for (const std::string& wrong :
       {std::string("heatmap 'a b'"), std::string("rows --file x"), std::string("rows --columns 1"),
        std::string("heatmap --rows 1"), std::string("similarity --measure dot"),
        std::string("rows --dtype bfloat16"), std::string("sinusoids --lower-case"),
        std::string("heatmap --length 0"), std::string("heatmap --width 0"),
        "heatmap --length 2" + with_table, "heatmap --width 2" + with_table,
        std::string("heatmap --schemes rotary"),
        std::string("distance --schemes rotary --scheme rotary"),
        std::string("distance --schemes rotary:base"),
        std::string("distance --schemes rotary:colour=red"),
        std::string("distance --all-heads --head 1 --scheme alibi"),
        "heatmap --scheme learned" + with_table, "heatmap --base 7" + with_table}) {
    const Outcome outcome = sextant("plot " + wrong);
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: ")) << wrong;
  }
  EXPECT_EQ(sextant("plot heatmap" + with_table).code, 0);
}

TEST(Plot, HeatmapsShowEverySchemeThatHasATable) {
  const auto table = [](const std::string& options) {
    return sextant("plot heatmap --length 6 " + options + " --json").json();
  };
  EXPECT_EQ(table("--scheme rotary --head-dim 8")["shape"], (std::vector{6, 8}));
  const auto alibi = table("--scheme alibi --heads 4");
  EXPECT_EQ(alibi["shape"], (std::vector{4, 11}));
  EXPECT_EQ(alibi["values"][0][0].get<double>(), -1.25);
  const std::string svg = sextant("plot heatmap --scheme alibi --heads 4 --length 6").out;
  EXPECT_THAT(svg, HasSubstr("Distance (key - query)"));
  EXPECT_THAT(svg, HasSubstr("Bias"));
  EXPECT_THAT(sextant("plot heatmap --scheme alibi --direction causal --length 6").out,
              HasSubstr("hidden"));
}

TEST(Plot, SeveralSchemesAreDrawnTogetherByDistance) {
  const std::string schemes =
      "plot distance --length 9 --head-dim 4 --heads 8 --head 0 --schemes "
      "rotary,rotary:base=100:layout=interleaved,alibi,sinusoidal";
  const auto json = sextant(schemes + " --json").json();
  EXPECT_EQ(json["columns"],
            (std::vector<std::string>{"distance", "rotary", "rotary base=100 layout=interleaved",
                                      "alibi", "sinusoidal"}));
  ASSERT_EQ(json["shape"], (std::vector{9, 5}));
  for (int d = 0; d < 9; ++d) {
    const auto row = json["values"][static_cast<std::size_t>(d)];
    EXPECT_EQ(row[0].get<int>(), d);
    // Two pairs, of frequency 1 and 1/100 or 1/10; sums of tens of rounded products.
    EXPECT_NEAR(row[1].get<double>(), (std::cos(d) + std::cos(d / 100.0)) / 2, 1e-14);
    EXPECT_NEAR(row[2].get<double>(), (std::cos(d) + std::cos(d / 10.0)) / 2, 1e-14);
    EXPECT_EQ(row[3].get<double>(), -d / 2.0);
  }
  const std::string svg = sextant(schemes).out;
  EXPECT_THAT(svg, HasSubstr("rotary base=100 layout=interleaved"));
  for (const char* axis : {"Score / channels", "Bias", "Mean cosine similarity"}) {
    EXPECT_THAT(svg, HasSubstr(axis));
  }
  const auto heads = sextant("plot distance --scheme alibi --all-heads --heads 4 --json").json();
  EXPECT_EQ(heads["shape"], (std::vector{100, 5}));
  EXPECT_EQ(heads["columns"][2], "alibi, head 1");
}

TEST(Plot, ATerminalGetsBars) {
  const Outcome shown = shell("TERM=xterm script -qec '" + sextant::tests::program() +
                              " plot distance --length 4 --width 8' /dev/null");
  EXPECT_THAT(shown.out, HasSubstr("0  1.000000  ########"));
  EXPECT_THAT(shown.out, HasSubstr("3  "));
}

TEST(Plot, ATerminalGetsBlocks) {
  const Outcome shown = shell("TERM=xterm NO_COLOR=1 script -qec '" + sextant::tests::program() +
                              " plot heatmap' /dev/null");
  EXPECT_THAT(shown.out, Not(HasSubstr("<svg")));
  EXPECT_THAT(shown.out, HasSubstr("100 x 512"));
  // Numbers of columns, one digit below the other.
  EXPECT_THAT(shown.out, HasSubstr("                      1 1 1 1 1"));
}

TEST(Plot, ATerminalGetsABiasAroundDistanceZero) {
  const Outcome shown =
      shell("TERM=xterm NO_COLOR=1 script -qec 'stty cols 60; " + sextant::tests::program() +
            " plot heatmap --scheme alibi --heads 2' /dev/null");
  EXPECT_THAT(shown.out, HasSubstr("2 of 2 rows and the middle 29 of 199 columns"));
  // -14 .. 14: the largest bias, 0, is in the middle.
  const auto lines = [&] {
    std::vector<std::string> found;
    std::istringstream in(shown.out);
    for (std::string line; std::getline(in, line);) found.push_back(line);
    return found;
  }();
  const auto row = std::ranges::find_if(lines, [](const auto& l) { return l.starts_with("0 "); });
  ASSERT_NE(row, lines.end());
  EXPECT_EQ(row->substr(2 + 2 * 14, 2), "@@");
  EXPECT_NE(row->substr(2, 2), "@@");
  for (std::size_t i = 0; i < 29; ++i) {
    EXPECT_EQ(row->substr(2 + 2 * i, 2), row->substr(2 + 2 * (28 - i), 2)) << i;
  }
}

TEST(Plot, TheOffsetMatrixAtWorkMovesAPosition) {
  const auto json = sextant("plot offset-matrix --shift 5 --position 10 --width 8 --json").json();
  const auto& rows = json["values"];
  const auto after =
      sextant("encode --first 15 --length 1 --width 8 --dtype float64 --json").json();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(rows[2][i], after["values"][0][i]);
    // Two products of numbers of at most one, and roundings of the matrix.
    EXPECT_NEAR(rows[1][i].get<double>(), rows[2][i].get<double>(), 1e-15);
    EXPECT_EQ(rows[3][i].get<double>(), rows[1][i].get<double>() - rows[2][i].get<double>());
  }
  EXPECT_THAT(sextant("plot heatmap --position 3").err, HasSubstr("[plot.position]"));
}

TEST(Plot, ADifferenceSaysHowFarTwoTablesAreApart) {
  const auto largest = [](const std::string& more) {
    return sextant("plot difference --json --schemes " + more).json()["largest"];
  };
  // Angles in float32 are off by up to half a unit in the last place of a million, 1 / 32.
  const auto framework =
      largest("sinusoidal,sinusoidal:precision=framework --first 1000000 --width 8");
  EXPECT_GT(framework["difference"].get<double>(), 1e-3);
  EXPECT_LT(framework["difference"].get<double>(), 0.1);
  const std::string scaled = "rotary,rotary_dynamic_ntk:max_length=64 --head-dim 8 --length ";
  EXPECT_EQ(largest(scaled + "64")["difference"], 0);
  EXPECT_GT(largest(scaled + "65")["difference"].get<double>(), 0.01);
  EXPECT_THAT(sextant("plot difference --schemes alibi,rotary").err,
              HasSubstr("must be tables of one shape"));
  EXPECT_THAT(sextant("plot difference --schemes rotary").err,
              HasSubstr("must be two for difference"));
  EXPECT_THAT(sextant("plot difference").err, HasSubstr("[plot.schemes]"));
}

}  // namespace
}  // namespace sextant::app_tests

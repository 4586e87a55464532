// `sextant extrapolate`: the table, the folder, going on, and wrong command lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/run_program.h"
#include "sextant/core/files.h"
#include "support/folders.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A text that small models learn something of, and a command that takes no time.
class Extrapolate : public ::testing::Test {
 protected:
  Extrapolate() {
    std::string text;
    for (int i = 0; i < 300; ++i) text += i % 3 == 0 ? "the cat sat.\n" : "on the mat, a dog\n";
    put(folder_ / "text", text);
  }

  // The options of a tiny experiment, but for those that `more` has itself.
  std::string words(const std::string& more) const {
    std::string line = "extrapolate";
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"--file", folder_ / "text"},
                                                          {"-o", folder_ / "runs"},
                                                          {"--schemes", "none,learned,kerple"},
                                                          {"--train-length", "8"},
                                                          {"--test-lengths", "8,16,32"},
                                                          {"--stride", "4"},
                                                          {"--scored", "64"},
                                                          {"--width", "8"},
                                                          {"--heads", "2"},
                                                          {"--layers", "1"},
                                                          {"--batch-size", "2"}}) {
      if (more.find(name + " ") == std::string::npos) line.append(" " + name + " " + value);
    }
    return line + " " + more;
  }

  Folder folder_;
};

TEST_F(Extrapolate, PrintsATableAndKeepsItInItsFolder) {
  const Outcome outcome = sextant(words("--steps 3"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("trained at length 8 for 3 steps"));
  EXPECT_THAT(outcome.out, HasSubstr("Segments that do not overlap, every character scored:\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Sliding windows, the last 4 scored:\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  kerple_log "));
  EXPECT_THAT(outcome.out, HasSubstr("- learned: "));
  EXPECT_THAT(outcome.err, HasSubstr("learned (2 of 3): training"));
  EXPECT_THAT(contents(folder_ / "runs/extrapolation.svg"), HasSubstr("KERPLE log"));
  const auto results = Json::parse(contents(folder_ / "runs/results.json"));
  ASSERT_EQ(results["rows"].size(), 3u);
  EXPECT_TRUE(results["rows"][1]["sliding"][2]["perplexity"].is_null());
}

TEST_F(Extrapolate, IsDrawnAgainFromItsResults) {
  const Outcome made = sextant(words("--steps 2 --format csv"));
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string plot = "plot extrapolation " + (folder_ / "runs/results.json") + " ";
  EXPECT_EQ(sextant(plot + "--format csv").out, made.out);
  EXPECT_EQ(sextant(plot + "--token character").out,
            contents(folder_ / "runs/extrapolation.svg") + "\n");
  EXPECT_EQ(sextant(plot + "--json").json()["rows"].dump(),
            Json::parse(contents(folder_ / "runs/results.json"))["rows"].dump());
  EXPECT_LE(width_of(sextant(plot + "--max-width 350 --format svg").out), 350);
  const Outcome text = sextant(words("--steps 2"));
  const std::string table = sextant(plot + "--token character --format text").out;
  EXPECT_EQ(text.out.substr(0, table.size()), table);
  put(folder_ / "broken.json", "{\"rows\": 3}");
  const Outcome broken = sextant("plot extrapolation " + (folder_ / "broken.json"));
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("broken.json"));
  EXPECT_EQ(sextant("plot extrapolation").code, 2);
}

TEST_F(Extrapolate, GivesTheSameTableAgainWithoutTraining) {
  const Outcome first = sextant(words("--steps 3 --json"));
  ASSERT_EQ(first.code, 0) << first.err;
  const Outcome second = sextant(words("--steps 3 --json --picture " + folder_ / "more.png"));
  EXPECT_EQ(first.out, second.out);
  EXPECT_THAT(second.err, Not(HasSubstr("training")));
  EXPECT_EQ(contents(folder_ / "more.png").substr(1, 3), "PNG");
  const auto json = first.json();
  EXPECT_EQ(json["lengths"], (std::vector<int>{8, 16, 32}));
  EXPECT_EQ(json["rows"][2]["label"], "kerple_log");
  const Outcome table = sextant(words("--steps 3 --format csv"));
  EXPECT_THAT(table.out, HasSubstr("scheme,scoring,length,perplexity\nnone,segments,8,"));
}

TEST_F(Extrapolate, ShowsMeansOverSeedsAndKeepsEach) {
  const Outcome made = sextant(words("--steps 3 --seeds 3 --seed 4 --format csv"));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("scheme,seed,scoring,length,perplexity\nnone,4,segments,8,"));
  EXPECT_THAT(made.out, HasSubstr("\nkerple_log,6,sliding,32,"));
  EXPECT_THAT(made.err, HasSubstr("none, seed 4 (1 of 9): training"));
  EXPECT_THAT(made.err, HasSubstr("none, seed 5 (4 of 9): training"));
  EXPECT_THAT(made.err, HasSubstr("kerple_log, seed 6 (9 of 9): scoring"));
  const Outcome text = sextant(words("--steps 3 --seeds 3 --seed 4"));
  EXPECT_THAT(text.out, HasSubstr("for 3 steps with 3 seeds.\nMean and standard deviation: exp"));
  EXPECT_THAT(text.out, testing::ContainsRegex("\n  none +[0-9.]+ ×÷1[.][0-9]+ "));
  EXPECT_THAT(text.out, HasSubstr("\n- learned: [learned.positions]"));
  EXPECT_THAT(text.out, Not(HasSubstr("of 3)")));
  EXPECT_THAT(contents(folder_ / "runs/extrapolation.svg"), HasSubstr(">3 seeds: mean, "));
  const std::string results = folder_ / "runs/results.json";
  EXPECT_EQ(sextant("plot extrapolation " + results + " --format csv").out, made.out);
  auto table = Json::parse(contents(results));
  EXPECT_EQ(table["seeds"], 3);
  ASSERT_EQ(table["rows"].size(), 9U);
  EXPECT_EQ(table["rows"][2]["seed"], 6);
  // A seed that was lost, and a scheme that is not finished.
  table["rows"][1]["segments"][0] =
      Json{{"length", 8}, {"perplexity", nullptr}, {"reason", "the loss per token is nan"}};
  Json rows = Json::array();
  for (std::size_t i = 0; i < 8; ++i) rows.push_back(table["rows"][i]);
  table["rows"] = rows;
  put(folder_ / "part.json", table.dump());
  const std::string part =
      sextant("plot extrapolation " + (folder_ / "part.json") + " --format text").out;
  EXPECT_THAT(part, testing::ContainsRegex("\n  none +[0-9.]+ ×÷[0-9.]+ [(]2 of 3[)] "));
  EXPECT_THAT(part, HasSubstr("\n  kerple_log (2 of 3 seeds) "));
  EXPECT_THAT(part, HasSubstr("\n- none, seed 5: the loss per token is nan\n"));
}

TEST_F(Extrapolate, SavesAndEndsWhenItIsAskedTo) {
  // (A shell's background jobs do not hear Ctrl-C, but SIGTERM.)
  const Outcome stopped = shell(
      "sextant() { exec \"" + sextant::tests::program() + "\" \"$@\"; }\nsextant " +
      words("--steps 10000000") + " 2>" + folder_ / "err" + " &\nuntil grep -q step " +
      folder_ / "err" + "; do sleep 0.05; kill -0 $! || exit 1; done\nkill -TERM $!\nwait $!");
  EXPECT_EQ(stopped.code, 128 + 15);
  EXPECT_THAT(contents(folder_ / "err"), HasSubstr("the same command continues"));
  EXPECT_THAT(contents(folder_ / "runs/none/last/config.json"), HasSubstr("none"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs/results.json"));
}

TEST_F(Extrapolate, TakesSchemesWithParameters) {
  const Outcome outcome =
      sextant(words("--steps 1 --json --schemes rotary,rotary:base=500000,t5:max_distance=64"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto rows = outcome.json()["rows"];
  EXPECT_EQ(rows[1]["label"], "rotary base=500000");
  EXPECT_EQ(rows[2]["schemes"][0]["parameters"]["bidirectional"], "no");
}

TEST_F(Extrapolate, TakesSchemesThatGoTogether) {
  const Outcome outcome =
      sextant(words("--steps 1 --json --schemes rotary:base=1e+4+kerple,none,sinusoidal+alibi"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto rows = outcome.json()["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["label"], "rotary base=1e+4+kerple_log");
  EXPECT_EQ(rows[0]["schemes"][0]["parameters"]["base"], "1e+4");
  EXPECT_EQ(rows[0]["schemes"][1]["scheme"], "kerple_log");
  EXPECT_EQ(rows[2]["label"], "sinusoidal+alibi");
}

TEST_F(Extrapolate, MeasuresWhatFitsIntoMinutes) {
  const Outcome outcome = sextant(words("--minutes 0.02 --schemes none"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto plan = Json::parse(contents(folder_ / "runs/plan.json"));
  EXPECT_GE(plan["steps"].get<int>(), 1);
  EXPECT_EQ(plan["measured"][0]["label"], "none");
}

TEST_F(Extrapolate, ExchangesThePositionsOfATrainedModel) {
  ASSERT_EQ(sextant(words("--steps 3 --schemes rotary")).code, 0);
  const std::string command = "extrapolate --file " + folder_ / "text" + " --model " +
                              folder_ / "runs/rotary --test-lengths 8,16 --stride 4 --scored 64";
  const Outcome outcome = sextant(command + " --schemes none,rotary:base=100");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("a model of length 8 with its own positions and with others"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  rotary, its own"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  rotary base=100"));
  const Json json =
      sextant(command + " --schemes none --format json -o " + folder_ / "exchanged").json();
  EXPECT_EQ(json["steps"], 0);
  EXPECT_EQ(json["rows"].size(), 2);
  EXPECT_EQ(Json::parse(read_file(folder_ / "exchanged/results.json"), "")["rows"], json["rows"]);
  EXPECT_EQ(sextant("plot extrapolation " + folder_ / "exchanged/results.json").code, 0);
  for (const auto& [more, said] : std::vector<std::pair<std::string, std::string>>{
           {" --schemes t5", "[extrapolate.schemes] must be schemes that learn nothing"},
           {" --rate 0.1", "[extrapolate.rate] must be given with --steps or --minutes"},
           {" --width 16", "[extrapolate.model] must not be combined with --width"}}) {
    EXPECT_THAT(sextant(command + more).err, HasSubstr(said));
  }
}

TEST_F(Extrapolate, TrainsAModelFurtherWithOtherPositions) {
  ASSERT_EQ(sextant(words("--steps 3 --schemes rotary")).code, 0);
  const std::string command = "extrapolate --file " + folder_ / "text" + " --model " +
                              folder_ / "runs/rotary --test-lengths 8,16 --stride 4 --scored 16 " +
                              "--schemes none --steps 2 --batch-size 2 -o " + folder_ / "further";
  const Outcome outcome = sextant(command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("one model trained further with every scheme at length 8 for "
                                     "2 steps"));
  for (const char* row :
       {"rotary, its own, before", "rotary, its own, after", "none, before", "none, after"}) {
    EXPECT_THAT(outcome.out, HasSubstr("\n  " + std::string(row) + " "));
  }
  const Json json = sextant(command + " --format json").json();  // trains nothing again
  ASSERT_EQ(json["rows"].size(), 4);
  EXPECT_EQ(json["rows"][3]["stage"], "after");
  EXPECT_EQ(json["rows"][3]["label"], "none");
  const std::string picture = contents(folder_ / "further/extrapolation.svg");
  EXPECT_THAT(picture, HasSubstr("rotary, its own, before"));
  EXPECT_THAT(picture, HasSubstr(", after"));
  EXPECT_EQ(sextant("info --model " + folder_ / "further/none").code, 0);
}

TEST_F(Extrapolate, RefusesWrongCommandLines) {
  const auto refused = [this](const std::string& more, const std::string& message) {
    const Outcome outcome = sextant(words(more));
    EXPECT_EQ(outcome.code, 2) << more;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << more;
    EXPECT_EQ(outcome.out, "") << more;
  };
  refused("", "--minutes or --steps");
  refused("--steps 3 --minutes 1", "[extrapolate.steps]");
  refused("--steps 0", "[extrapolate.steps] must be above 0");
  refused("--minutes 0", "[extrapolate.minutes]");
  refused("--steps 1 --schemes none,rotery", "did you mean 'rotary'?");
  refused("--steps 1 --schemes rotary:bass=3", "rotary has");
  refused("--steps 1 --test-lengths 8,8", "[extrapolate.test-lengths]");
  refused("--steps 1 --test-lengths 1,8", "[extrapolate.test-lengths]");
  refused("--steps 1 --test-lengths 8,x", "[extrapolate.test-lengths]");
  refused("--steps 1 --train-length 1", "[extrapolate.train-length]");
  refused("--steps 1 --stride 9", "[extrapolate.stride]");
  refused("--steps 1 --heads 3", "[extrapolate.heads]");
  refused("--steps 1 --held-out 1", "[extrapolate.held-out]");
  refused("--steps 1 --dropout 1", "[extrapolate.dropout]");
  refused("--steps 1 --seeds 0", "[extrapolate.seeds] must be 1 .. 1000, got 0");
  refused("--steps 1 --picture a.txt", "[extrapolate.picture]");
  refused("--steps 1 --tokenizer letters", "tokenizer");
  EXPECT_EQ(sextant("extrapolate --steps 1").code, 2);
}

TEST_F(Extrapolate, RefusesUnusableInput) {
  const auto refused = [](const std::string& line, const std::string& message) {
    const Outcome outcome = sextant(line);
    EXPECT_EQ(outcome.code, 1) << line;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << line;
  };
  refused("extrapolate --steps 1 --file " + folder_ / "none", "none");
  put(folder_ / "short", "too short");
  refused("extrapolate --steps 1 --file " + folder_ / "short -o " + folder_ / "short_run",
          "[extrapolation.tokens]");
  refused(words("--steps 1 --schemes forgetting"), "forgetting");
  ASSERT_EQ(sextant(words("--steps 1")).code, 0);
  refused(words("--steps 2"), "plan.json");
  refused(words("--steps 1 --seeds 2 --seed 4294967295 -o " + folder_ / "other"),
          "[extrapolate.seeds] must end at seed 2^32 - 1");
}

}  // namespace
}  // namespace sextant::app_tests

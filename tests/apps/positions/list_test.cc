// `sextant list` and `sextant info`: what there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "apps/run_program.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/scheme.h"
#include "sextant/text/segment.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

TEST(List, HasEverySchemeWithItsParameters) {
  const auto list = sextant("list --json").json();
  ASSERT_EQ(list.size(), schemes().size());
  const std::string text = sextant("list").out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Scheme& scheme = *schemes()[i];
    EXPECT_EQ(list[i]["name"], scheme.name);
    EXPECT_EQ(list[i]["title"], scheme.title);
    EXPECT_EQ(list[i]["kind"], name_of(scheme.kind));
    EXPECT_EQ(list[i]["paper"], scheme.paper);
    EXPECT_EQ(list[i]["parameters"].size(), scheme.parameters().size());
    EXPECT_THAT(text, HasSubstr(scheme.name));
    EXPECT_EQ(list[i]["weights_of_tokens"], scheme.weights_of_tokens);
    ASSERT_EQ(list[i]["weights"].size(), scheme.weights.size());
    for (std::size_t w = 0; w < scheme.weights.size(); ++w) {
      EXPECT_EQ(list[i]["weights"][w]["name"], scheme.weights[w].name);
      EXPECT_EQ(list[i]["weights"][w]["shape"], scheme.weights[w].shape);
    }
  }
}

TEST(List, SpellsNamesAsPeopleDo) {
  const std::string text = sextant("list").out;
  for (const char* name : {"ALiBi: ", "T5: ", "Swin v2: ", "xPos: ", "YaRN: "}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("sinusoidal: ")));
  EXPECT_THAT(sextant("list swin_v2").out, HasSubstr("  Swin v2: A small network"));
}

TEST(List, FitsEightyColumns) {
  const auto check = [](const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
  };
  check(sextant("list").out);
  std::string all;
  for (const Scheme* scheme : schemes()) all += "; sextant list " + std::string(scheme->name);
  check(shell(all.substr(2)).out);
}

TEST(List, TypesRanges) {
  const auto list = sextant("list sincos_2d --json").json();
  const auto& parameters = list[0]["parameters"];
  EXPECT_EQ(parameters[0]["name"], "form");
  EXPECT_EQ(parameters[0]["values"]["type"], "choice");
  EXPECT_EQ(parameters[0]["values"]["names"][1], "moco");
  EXPECT_FALSE(parameters[0].contains("unset"));
  EXPECT_EQ(parameters[9]["name"], "columns");
  EXPECT_EQ(parameters[9]["range"], "auto | 1 .. 2^30");
  EXPECT_EQ(parameters[9]["unset"], "auto");
  EXPECT_EQ(parameters[9]["values"]["type"], "integer");
  EXPECT_EQ(parameters[9]["values"]["min"], 1);
}

TEST(List, SaysWhatEachNameOfAChoiceMeans) {
  constexpr const char* kLayout =
      "channels of pair k, for n rotated channels. interleaved: 2k and 2k + 1; half_split: k and k "
      "+ n/2 "
      "(interleaved | half_split; default half_split)";
  std::string one_line = sextant("list rotary").out;
  for (auto at = one_line.find("\n  "); at != std::string::npos; at = one_line.find("\n  ")) {
    one_line.replace(at, 3, " ");
  }
  EXPECT_THAT(one_line, HasSubstr(kLayout));
  for (const auto& scheme : sextant("list --json").json()) {
    for (const auto& parameter : scheme["parameters"]) {
      if (parameter["values"]["type"] != "choice") continue;
      EXPECT_EQ(parameter["values"]["names"].size(), parameter["values"]["meanings"].size())
          << scheme["name"] << parameter["name"];
    }
  }
}

TEST(List, ShowsOneSchemeInFull) {
  for (const char* asked : {"list t5", "list --scheme t5"}) {
    const std::string text = sextant(asked).out;
    EXPECT_THAT(text, HasSubstr("Raffel et al. 2019"));
    EXPECT_THAT(text, HasSubstr("--num-buckets: "));
    EXPECT_THAT(text, HasSubstr("table [num_buckets, heads]: "));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("alibi")));
  }
  EXPECT_EQ(sextant("list t5 --json").json().size(), 1U);
  const Outcome unknown = sextant("list t55");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 't5'?"));
}

TEST(List, TypesDefaults) {
  const auto defaults = [](const std::string& scheme) {
    std::map<std::string, Json> values;
    const Json list = sextant("list " + scheme + " --json").json();
    for (const auto& one : list[0]["parameters"]) {
      values[one["name"].get<std::string>()] = one["default"];
    }
    return values;
  };
  auto rotary = defaults("rotary");
  EXPECT_TRUE(rotary["base"].is_number());
  EXPECT_EQ(rotary["base"], 10000);
  EXPECT_EQ(rotary["layout"], "half_split");
  auto t5 = defaults("t5");
  EXPECT_EQ(t5["num_buckets"], 32);
  EXPECT_EQ(t5["bidirectional"], true);
  EXPECT_EQ(defaults("document_mask")["starts"], Json::array({0}));
  EXPECT_EQ(defaults("sincos_2d")["columns"], "auto");  // unset
}

// What a page makes its controls of is what the command's help says.
TEST(List, HasTheOptionsOfCommands) {
  const auto words_of = [](const std::string& text) {
    std::istringstream words(text);
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    return joined;
  };
  for (const std::string command : {"attend", "generate", "train"}) {
    const auto options = sextant("list --json --options " + command).json();
    const std::string help = words_of(sextant(command + " --help").out);
    const std::string text = words_of(sextant("list --options " + command).out);
    EXPECT_GE(options.size(), 6U);
    for (const auto& option : options) {
      const auto name = option["option"].get<std::string>();
      const auto meaning = option["meaning"].get<std::string>();
      EXPECT_THAT(help, HasSubstr(name + " "));
      if (option["values"]["type"] == "flag") continue;
      const Json& value = option["default"];
      const std::string default_text = value.is_string() ? value.get<std::string>()
                                       : option["values"]["type"] == "integer"
                                           ? value.dump()
                                           : shortest(value.get<double>());
      EXPECT_THAT(help, HasSubstr(meaning + " (" + option["range"].get<std::string>() +
                                  "; default " + default_text + ")"));
      EXPECT_THAT(text, HasSubstr(name + ": " + meaning));
    }
  }
  for (const auto& option : sextant("list --json --options train").json()) {
    if (option["values"]["type"] == "flag") {
      EXPECT_EQ(option["default"], false) << option;
    }
    EXPECT_FALSE(option["option"] == "--post-norm" && option["name"] == "pre_norm");
  }
  const auto hide = sextant("list --json --options attend").json()[8];
  EXPECT_EQ(hide["name"], "hidden");
  EXPECT_EQ(hide["option"], "--hide");
  EXPECT_EQ(hide["unset"], "none");
  EXPECT_EQ(sextant("list --options encode").code, 2);
}

TEST(Info, NamesVersionCompilerInstructionSetsAndThreads) {
  const auto info = shell("OMP_NUM_THREADS=3 sextant info --json").json();
  EXPECT_EQ(info["threads"], 3);
  EXPECT_FALSE(info["compiler"].get<std::string>().empty());
  const auto compiled = info["instruction_sets"]["compiled"].get<std::vector<std::string>>();
  EXPECT_THAT(compiled, ::testing::Contains(info["instruction_sets"]["chosen"]));
  const std::string text = sextant("info").out;
  EXPECT_THAT(text, HasSubstr(info["version"].get<std::string>()));
  EXPECT_THAT(text, HasSubstr("threads"));
}

}  // namespace
}  // namespace sextant::app_tests

// Every file that is JSON, as an untrusted file: one reader, so one depth, one size, no byte
// behind it and every key once, whatever the file is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "experiments/extrapolation_plan.h"
#include "sextant/core/files.h"
#include "sextant/experiments/extrapolation.h"
#include "sextant/interop/model_config.h"
#include "sextant/models/model_folder.h"
#include "sextant/text/tokenizer.h"
#include "sextant/text/vocabulary.h"
#include "sextant/training/trainer.h"
#include "support/error_of.h"
#include "training/run_folders.h"
#include "training/runs/run_description.h"
#include "training/runs/state_file.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Reader {
  std::string name;  // which the error begins with
  std::function<void(const std::string& text)> read;
};

class JsonFiles : public RunFolders {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return path(".");
  }

  std::vector<Reader> readers() const {
    return {
        {"words.json", [](const auto& text) { Vocabulary::parse(text, "words.json"); }},
        {"tokenizer.json", [](const auto& text) { Tokenizer::parse(text, "", "tokenizer.json"); }},
        {"config.json", [](const auto& text) { parse_model_config(text, "config.json"); }},
        {"transformer", [](const auto& text) { parse_config(text, "transformer"); }},
        {path("./config.json"),
         [this](const auto& text) { open_model_folder(file("config.json", text)); }},
        {path("./run.json"), [this](const auto& text) { read_run(file("run.json", text)); }},
        {"run.json", [](const auto& text) { check_same_run("run.json", text, {}); }},
        {"trainer.settings",
         [](const auto& text) {
           check_options({.steps = 1, .folder = "x", .settings = "{\"a\":" + text + "}"});
         }},
        {path("./training.json"),
         [this](const auto& text) { read_state(file("training.json", text)); }},
        {path("./plan.json"),
         [this](const auto& text) {
           ExtrapolationOptions options{.folder = file("plan.json", text)};
           plan_steps(options, {}, {});
         }},
        {"results.json", [](const auto& text) { parse_extrapolation(text, "results.json"); }},
    };
  }

  static std::string refusal_of(const Reader& reader, const std::string& text) {
    return error_of([&] { reader.read(text); });
  }
};

std::string levels(std::size_t count) {
  return "{\"a\":" + std::string(count - 1, '[') + std::string(count - 1, ']') + "}";
}

TEST_F(JsonFiles, AreRefusedBeyond32LevelsAndNotBefore) {
  const std::string deep = "must have at most 3";
  for (const Reader& reader : readers()) {
    const bool nested = reader.name == "trainer.settings";
    for (const std::size_t depth : {30, 31, 32}) {
      if (nested && depth > 30) continue;
      EXPECT_THAT(refusal_of(reader, levels(depth)), Not(HasSubstr(deep))) << reader.name << depth;
    }
    for (const std::size_t depth : {33, 100'000}) {
      EXPECT_THAT(refusal_of(reader, levels(depth)),
                  AllOf(HasSubstr(reader.name + "] " + deep), HasSubstr(" levels of JSON")))
          << reader.name << depth;
    }
    // As deep and no end.
    EXPECT_THAT(refusal_of(reader, "{\"a\":" + std::string(1'000'000, '[')), HasSubstr(deep));
  }
}

TEST_F(JsonFiles, AreRefusedWithKeysTwiceAndBytesBehindThem) {
  for (const Reader& reader : readers()) {
    EXPECT_THAT(refusal_of(reader, R"({"a":{"b":1,"b":2}})"),
                HasSubstr(reader.name + "] has the key 'b' twice in one object"));
    if (reader.name == "trainer.settings") continue;  // its text stands in another one here
    EXPECT_THAT(
        refusal_of(reader, std::string("{}\0", 3)),
        HasSubstr(reader.name + "] must be valid JSON, got an error at byte 3: a zero byte"));
    EXPECT_THAT(refusal_of(reader, "{} x"),
                HasSubstr(reader.name + "] must be valid JSON, got an error at byte 4"));
    EXPECT_THAT(refusal_of(reader, "[]"),
                HasSubstr(reader.name + "] must be a JSON object, got array"));
  }
}

TEST_F(JsonFiles, AreRefusedWhenTheyAreLargerThanWhatTheyAreFor) {
  const std::string large = "{\"a\":\"" + std::string(std::size_t{1} << 24, 'x') + "\"}";
  for (const Reader& reader : readers()) {
    const bool tokens = reader.name == "words.json" || reader.name == "tokenizer.json";
    if (tokens) continue;  // lists of millions
    EXPECT_THAT(refusal_of(reader, large),
                AllOf(HasSubstr(reader.name), HasSubstr("at most 16777216")));
  }
}

}  // namespace
}  // namespace sextant

// Encoders and decoders of the hub with their tokenizer: lines of text through them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hub/text_folder.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/translate_lines.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// What T5's tokenizer adds: w1, its </s>, behind a text.
const char* const kEndOfSource = R"({"type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "w1", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"w1": {"id": "w1", "ids": [1], "tokens": ["w1"]}}})";

TextTranslator t5_of_text() {
  return TextTranslator::load(open_model(TextFolder("t5", words(48, kEndOfSource)).write()));
}

TEST(TextTranslatorOfTheHub, ReadsALineAsItsTokenizerWasTrainedTo) {
  const TextTranslator model = t5_of_text();
  EXPECT_EQ(source_tokens(model.tokenizer, "w5 w6"), (std::vector<std::int64_t>{5, 6, 1}));
  EXPECT_TRUE(source_tokens(model.tokenizer, " ").empty());
  EXPECT_EQ(translate(model, ""), "");
  const TranslateOptions greedy = {.search = {.beams = 1}, .length_factor = 0, .extra_tokens = 20};
  const std::vector<std::vector<std::int64_t>> sources = {{5, 6, 1}};
  const auto found = translate(model, sources, for_text(model, greedy));
  EXPECT_EQ(translate(model, "w5 w6", greedy), model.tokenizer.decode(found[0][0].tokens));
}

TEST(TextTranslatorOfTheHub, WritesNoPadding) {
  const TextTranslator model = t5_of_text();
  const auto never = *for_text(model, {}).never;
  EXPECT_EQ(std::ranges::count(never, 0), 1) << "padding, as config.json says";
  EXPECT_EQ(std::ranges::count(never, 3), 0) << "a word here, <unk> of what is learned";
}

TEST(TextTranslatorOfTheHub, TranslatesLinesAndScoresThem) {
  std::vector<ModelFolder> folders;
  const TextFolder folder("bart");
  folders.push_back(open_model(folder.write()));
  const LineTranslator lines(std::move(folders));
  const auto tokens = lines.tokens("w5 w6", "line");
  const auto found = lines.hypotheses(std::vector{tokens, {}}, {.extra_tokens = 3});
  EXPECT_FALSE(found[0].empty());
  EXPECT_TRUE(found[1].empty());
}

TEST(TextTranslatorOfTheHub, SavesInTheFormatOfThisLibrary) {
  const TextTranslator model = t5_of_text();
  const TemporaryFolder folder;
  model.save(folder / "saved");
  const TextTranslator again = TextTranslator::load(open_model(folder / "saved"));
  EXPECT_EQ(format_config(again.config), format_config(model.config));
  EXPECT_EQ(translate(again, "w5 w6 w7"), translate(model, "w5 w6 w7"));
}

TEST(TextTranslatorOfTheHub, ShowsWhatItsLayersWouldWrite) {
  TextFolder bart("bart");
  bart.config["forced_bos_token_id"] = 5;
  const TextTranslator model = TextTranslator::load(open_model(bart.write()));
  const LogitLens lens = logit_lens(model, "w5 w6", "w7 w8", {.top_k = 2});
  EXPECT_EQ(lens.read, (std::vector<std::int64_t>{2, 5, 7, 8}));
  EXPECT_EQ(lens.next, (std::vector<std::int64_t>{5, 7, 8, 2}));
}

TEST(TextTranslatorOfTheHub, HasNoTextWithoutATokenizer) {
  const ChangedModel marian("marian");
  EXPECT_THAT([&] { open_model(marian.write()); },
              ThrowsMessage<Error>(HasSubstr("must have tokenizer.json")));
}

}  // namespace
}  // namespace sextant

// Vectors of texts against what transformers' hidden states make.
#include "sextant/hub/sentence_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "hub/text_folder.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The last hidden states of the golden text, [tokens, width], in float64.
Tensor<double> expected_states(const std::string& name) {
  const auto file = load_safetensors(golden_folder(name) + "/expected.safetensors");
  const Tensor<double> all = file.tensors.at("hidden").to<double>();
  Tensor<double> last({all.size(1), all.size(2)});
  std::ranges::copy(all.span().last(last.span().size()), last.data());
  return last;
}

std::string golden_text(const TextModel& model, const std::string& name) {
  return model.tokenizer.decode(integers(name, "ids"));
}

void expect_pooled(const std::string& name, Pooling pooling, bool normalize) {
  const TextFolder folder(name);
  const TextModel model = TextModel::load(open_model(folder.write()));
  const std::vector<std::string> texts = {golden_text(model, name)};
  const auto made = sentence_vectors(model, texts, {.pooling = pooling, .normalize = normalize});
  const Tensor<double> states = expected_states(name);
  const std::int64_t tokens = states.size(0), width = states.size(1);
  std::vector<double> wanted(static_cast<std::size_t>(width));
  double squares = 0;
  for (std::int64_t c = 0; c < width; ++c) {
    double sum = 0, most = states(0, c);
    for (std::int64_t i = 0; i < tokens; ++i) {
      sum += states(i, c);
      most = std::max(most, states(i, c));
    }
    wanted[static_cast<std::size_t>(c)] = pooling == Pooling::mean
                                              ? sum / static_cast<double>(tokens)
                                          : pooling == Pooling::first ? states(0, c)
                                          : pooling == Pooling::last  ? states(tokens - 1, c)
                                                                      : most;
    squares += wanted[static_cast<std::size_t>(c)] * wanted[static_cast<std::size_t>(c)];
  }
  ASSERT_EQ(made.vectors.shape(), (Shape{1, width}));
  for (std::int64_t c = 0; c < width; ++c) {
    const double x = wanted[static_cast<std::size_t>(c)] / (normalize ? std::sqrt(squares) : 1);
    EXPECT_NEAR(made.vectors(0, c), x, 1e-5) << c;
  }
}

TEST(SentenceVectors, ArePooledHiddenStates) {
  for (const Pooling pooling : {Pooling::mean, Pooling::first, Pooling::last, Pooling::max}) {
    SCOPED_TRACE(name_of(pooling));
    expect_pooled("bert", pooling, true);
    expect_pooled("bert", pooling, false);
  }
  expect_pooled("qwen2", Pooling::last, true);
}

TEST(SentenceVectors, DoNotDependOnTheBatch) {
  const TextFolder folder("bert");
  const TextModel model = TextModel::load(open_model(folder.write()));
  const std::vector<std::string> texts = {"w1 w2 w3", "w9", "w4 w4 w5 w6 w7", "w40 w41"};
  const auto together = sentence_vectors(model, texts);
  const auto alone = sentence_vectors(model, texts, {.batch_tokens = 1, .threads = 1});
  EXPECT_TRUE(std::ranges::equal(together.vectors.span(), alone.vectors.span()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto one = sentence_vectors(model, std::span(texts).subspan(i, 1));
    for (std::int64_t c = 0; c < one.vectors.size(1); ++c) {
      EXPECT_EQ(one.vectors(0, c), together.vectors(static_cast<std::int64_t>(i), c));
    }
  }
}

TEST(SentenceVectors, OfLongTextsAreThoseOfTheirBeginningsAndWhatEndsThem) {
  const std::string around = R"({"type": "BertProcessing", "sep": ["w2", 2], "cls": ["w1", 1]})";
  const TextFolder folder("bert", words(48, around));
  const TextModel model = TextModel::load(open_model(folder.write()));
  const std::vector<std::string> whole = {"w5 w6 w7 w8 w9"}, begin = {"w5 w6 w7"};
  const auto cut = sentence_vectors(model, whole, {.max_tokens = 5});
  EXPECT_EQ(cut.cut, 1);
  const auto wanted = sentence_vectors(model, begin);
  EXPECT_EQ(wanted.cut, 0);
  EXPECT_TRUE(std::ranges::equal(cut.vectors.span(), wanted.vectors.span()));
}

TEST(SentenceVectors, RefuseTextsWithoutTokens) {
  const TextFolder folder("bert");
  const TextModel model = TextModel::load(open_model(folder.write()));
  EXPECT_THAT([&] { sentence_vectors(model, {}); },
              ThrowsMessage<Error>(HasSubstr("[sentence_vectors.texts] must be one or more")));
  const std::vector<std::string> texts = {"w1", " "};
  EXPECT_THAT([&] { sentence_vectors(model, texts); },
              ThrowsMessage<Error>(HasSubstr("in text 1")));
}

// As sentence-transformers saves a model.
struct SentenceFolder : TextFolder {
  SentenceFolder() : TextFolder("bert") {
    std::filesystem::create_directories(path("1_Pooling"));
    write();
  }
  SentenceOptions options() const { return find_sentence_options(open_model(path(""))); }
  void put(const std::string& name, const std::string& text) const { write_file(path(name), text); }
};

constexpr const char* kModules = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";

TEST(SentenceOptionsOfFolders, AreThoseOfTheModules) {
  const SentenceFolder folder;
  EXPECT_EQ(folder.options().pooling, Pooling::mean);
  EXPECT_TRUE(folder.options().normalize);
  folder.put("modules.json", kModules);
  folder.put("1_Pooling/config.json", R"({"pooling_mode_cls_token": true})");
  folder.put("sentence_bert_config.json", R"({"max_seq_length": 20, "do_lower_case": true})");
  folder.put("config_sentence_transformers.json", R"({"default_prompt_name": null})");
  const SentenceOptions found = folder.options();
  EXPECT_EQ(found.pooling, Pooling::first);
  EXPECT_FALSE(found.normalize);
  EXPECT_EQ(found.max_tokens, 20);
  EXPECT_TRUE(found.lower_case);
}

TEST(SentenceOptionsOfFolders, RefuseWhatIsNotDoneHere) {
  const auto with = [](const std::string& more) {
    return std::string(kModules).substr(0, std::string(kModules).size() - 1) + more + "]";
  };
  const std::string mean = R"({"pooling_mode_mean_tokens": true})";
  struct Case {
    std::string modules, pooling, said;
  };
  for (const auto& [modules, pooling, said] : std::vector<Case>{
           {with(R"(, {"path": "2", "type": "sentence_transformers.models.Dense"})"), mean,
            "Dense"},
           {with(R"(, {"path": "1_Pooling", "type": "x.Pooling"})"), mean, "one Pooling"},
           {R"([{"path": "../..", "type": "x.Pooling"}])", mean, "one Pooling"},
           {R"([{"path": "", "type": "x.Transformer"}])", mean, "must have a module Pooling"},
           {R"({"a": 1})", mean, "must be a list"},
           {"[1]", mean, "must be a list of objects"},
           {kModules, "{}", "pooling_mode_mean_tokens"},
           {kModules, R"({"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true})",
            "must be true alone, got 2"},
           {kModules, R"({"pooling_mode_weightedmean_tokens": true})",
            "pooling_mode_weightedmean_tokens"}}) {
    const SentenceFolder folder;
    folder.put("modules.json", modules);
    folder.put("1_Pooling/config.json", pooling);
    EXPECT_THAT([&] { folder.options(); }, ThrowsMessage<Error>(HasSubstr(said))) << modules;
  }
  const SentenceFolder folder;
  folder.put("modules.json", kModules);
  folder.put("1_Pooling/config.json", mean);
  folder.put("config_sentence_transformers.json", R"({"default_prompt_name": "query"})");
  EXPECT_THAT([&] { folder.options(); }, ThrowsMessage<Error>(HasSubstr("default_prompt_name")));
}

}  // namespace
}  // namespace sextant

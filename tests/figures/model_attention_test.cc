// Parts and layers of a model's attention, and of the translator that ships; what other models give
// is tested through the program.
#include "sextant/figures/model_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/models/translate_lines.h"
#include "sextant/training/tasks/dates_translator.h"
#include "support/error_of.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;

ModelAttention part(const std::string& name, std::int64_t heads, std::size_t layers) {
  ModelAttention made{name, name + " attention", {}, {"a", "b"}, {"x", "y", "z"}, ""};
  for (std::size_t layer = 0; layer < layers; ++layer) {
    Tensor<double>& weights = made.layers.emplace_back(Shape{heads, 2, 3});
    for (std::int64_t i = 0; i < weights.count(); ++i) {
      weights.data()[i] = 0.01 * static_cast<double>(i) + 0.5 * static_cast<double>(layer);
    }
  }
  return made;
}

TEST(ModelAttention, APartIsFoundByNameAndCrossAttentionWithoutOne) {
  std::vector<ModelAttention> parts;
  parts.push_back(part("encoder", 2, 1));
  parts.push_back(part("cross", 2, 1));
  EXPECT_EQ(find_part(parts, "").name, "cross");
  EXPECT_EQ(find_part(parts, "encoder").name, "encoder");
  EXPECT_EQ(find_part(std::span(parts).first(1), "").name, "encoder");  // the only one
  EXPECT_EQ(error_of([&] { find_part(parts, "self"); }),
            "[figure.part] must be encoder | cross for this model, got 'self'");
}

TEST(ModelAttention, MapsAreThoseOfTheLayerAndHead) {
  const ModelAttention cross = part("cross", 2, 2);
  const HeadMaps maps = maps_of(cross, 1, 1);
  EXPECT_EQ(maps.title, "cross attention, layer 1");
  EXPECT_THROW(maps_of(cross, 2), Error);
  EXPECT_EQ(maps.weights.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(maps.weights(0, 0, 0), cross.layers[1](1, 0, 0));
  const Json json = Json::parse(attention_json(cross, 1, 1));
  EXPECT_EQ(json["layer"], 1);
  EXPECT_EQ(json["head"], 1);
  EXPECT_EQ(json["weights"][0][1][2].get<double>(), cross.layers[1](1, 1, 2));
}

// Layer 1 sees two tokens, the others all before.
TEST(ModelAttention, EachLayerHidesWhatItsOwnPositionsHide) {
  TransformerConfig config;
  config.width = 8;
  config.heads = 2;
  config.layers = 3;
  config.schemes = {"rotary"};
  config.layer_schemes = {{{1}, {"rotary", {"window", {{"left", "1"}}}}}};
  const std::vector<std::string> texts = {"a b c d"};
  const TextModel model(config, Tokenizer::train(texts));
  const auto parts = attend_model(model, "a b c d", 1);
  const auto is_hidden = [&](std::size_t layer, std::int64_t query, std::int64_t key) {
    return parts[0].masked[layer](0, query, key) < 0;
  };
  for (const std::size_t layer : {0, 1, 2}) {
    EXPECT_TRUE(is_hidden(layer, 0, 1)) << layer;
    EXPECT_FALSE(is_hidden(layer, 3, 2)) << layer;
    EXPECT_EQ(is_hidden(layer, 3, 0), layer == 1) << layer;
  }
}

// Layer 1 sees two tokens.
TextModel windowed_model() {
  TransformerConfig config;
  config.width = 8;
  config.heads = 2;
  config.layers = 3;
  config.schemes = {"rotary"};
  config.layer_schemes = {{{1}, {"rotary", {"window", {{"left", "1"}}}}}};
  const std::vector<std::string> texts = {"a b c d"};
  return TextModel(config, Tokenizer::train(texts));
}

TEST(ModelAttention, ChosenMapsAreThoseOfAll) {
  const TextModel model = windowed_model();
  const auto all = attend_model(model, "a b c d", 1);
  const auto some =
      attend_model(model, "a b c d", 1, {.layer = 1, .head = 1, .first_row = 1, .end_row = 3});
  ASSERT_EQ(some[0].layers.size(), 1u);
  EXPECT_EQ(some[0].layers[0].shape(), (Shape{1, 2, 4}));
  EXPECT_EQ(some[0].queries, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(some[0].keys, all[0].keys);
  const HeadMaps chosen = maps_of(some[0], 1, 1), whole = maps_of(all[0], 1, 1);
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t key = 0; key < 4; ++key) {
      EXPECT_EQ(chosen.weights(0, row, key), whole.weights(0, row + 1, key));
      EXPECT_EQ(chosen.drawn()(0, row, key), whole.drawn()(0, row + 1, key));
    }
  }
  EXPECT_EQ(Json::parse(attention_json(some[0], 1, 1))["first_query"], 1);
  EXPECT_THROW(maps_of(some[0], 0, 1), Error);
  EXPECT_THROW(maps_of(some[0], 1, 0), Error);
}

TEST(ModelAttention, RefusesMapsThatAreNotThereOrTooMany) {
  const TextModel model = windowed_model();
  const auto refused = [&](const MapChoice& chosen, const std::string& text = "a b c d") {
    return error_of([&] { attend_model(model, text, 1, chosen); });
  };
  EXPECT_EQ(refused({.layer = 3}), "[figure.layer] must be 0 .. 2, got 3");
  EXPECT_EQ(refused({.head = 2}), "[figure.head] must be 0 .. 1, got 2");
  EXPECT_EQ(refused({.first_row = 2, .end_row = 2}),
            "[figure.rows] must be BEGIN,END with 0 <= BEGIN < END <= 4, the number of tokens, "
            "got 2,2");
  EXPECT_THAT(refused({.end_row = 5}), HasSubstr("got 0,5"));
  std::string text;
  for (int i = 0; i < 2400; ++i) text += "a ";
  EXPECT_EQ(refused({}, text),
            "[figure.text] must have at most 2^25 attention weights in the maps, got 6 maps of "
            "2400 x 2400; choose a layer, a head or fewer rows");
  const auto parts = attend_model(model, text, 1, {.layer = 0, .first_row = 2399, .end_row = 2400});
  EXPECT_EQ(parts[0].layers[0].shape(), (Shape{2, 1, 2400}));
}

TEST(ModelAttention, CopyingHasNoHeads) {
  const ModelAttention copy = part("copy", 1, 1);
  EXPECT_FALSE(copy.has_heads());
  EXPECT_EQ(maps_of(copy, 0, 3).head, -1);  // --head is of the other parts of a page
  EXPECT_EQ(maps_of(copy, 0).title, "copy attention");
  EXPECT_TRUE(Json::parse(attention_json(copy, 0))["layer"].is_null());
}

TEST(ModelAttention, TheMeanOverHeads) {
  const ModelAttention cross = part("cross", 2, 2);
  const Tensor<double> mean = mean_over_heads(cross, 1);
  EXPECT_EQ(mean.shape(), (Shape{2, 3}));
  EXPECT_DOUBLE_EQ(mean(1, 2), (cross.layers[1](0, 1, 2) + cross.layers[1](1, 1, 2)) / 2);
  EXPECT_THROW(mean_over_heads(cross, 2), Error);
}

// The mean weight on `word` of the rows that write characters `first` and the next of the date.
double weight_on(const std::string& date, const std::string& word, std::int64_t first) {
  const auto parts = attend_model(dates_translator(), date);
  const ModelAttention& cross = find_part(parts, "cross");
  EXPECT_EQ(cross.keys.size(), date.size());  // a key for each character
  EXPECT_EQ(cross.queries.size(), 11U) << "YYYY-MM-DD and the end";
  const Tensor<double> mean = mean_over_heads(cross, cross.layers.size() - 1);
  const auto begin = static_cast<std::int64_t>(date.find(word));
  double sum = 0;
  for (std::int64_t row = first; row < first + 2; ++row) {
    for (std::size_t at = 0; at < word.size(); ++at) {
      sum += mean(row, begin + static_cast<std::int64_t>(at)) / 2;
    }
  }
  return sum;
}

// What the report and the documents show of it: the digits of the month and of the day are written
// from their words. Attention that knows nothing would give them at most 0.24.
TEST(ModelAttention, TheTranslatorThatShipsLooksAtTheWordThatItWrites) {
  constexpr std::int64_t kMonth = 5, kDay = 8;
  EXPECT_GT(weight_on("the third of march nineteen ninety-nine", "march", kMonth), 0.7);
  EXPECT_GT(weight_on("Saturday, March 14th, 2026", "March", kMonth), 0.7);
  EXPECT_GT(weight_on("Friday, 5 December 2031", "December", kMonth), 0.6);
  EXPECT_GT(weight_on("the third of march nineteen ninety-nine", "third", kDay), 0.6);
  EXPECT_GT(weight_on("Saturday, March 14th, 2026", "14", kDay), 0.7);
}

TEST(ModelAttention, AxesSayWhatTheirTokensAre) {
  const auto parts = attend_model(dates_translator(), "the third of march");
  const HeadMaps cross = maps_of(find_part(parts, "cross"), 0, 1);
  EXPECT_THAT(draw_maps(cross).svg, HasSubstr(">Source tokens</text>"));
  EXPECT_THAT(draw_maps(cross).description, HasSubstr("11 written tokens by 18 source tokens"));
  EXPECT_THAT(draw_lines(cross).svg, HasSubstr(">Written tokens</text>"));
  EXPECT_THAT(draw_maps(maps_of(find_part(parts, "encoder"), 0, 1)).svg,
              HasSubstr(">Queries</text>"));
}

TEST(ModelAttention, ATranslatorIsTheSameInMemoryAndAsAFolder) {
  const std::string text = "Saturday, March 14th, 2026";
  const auto parts = attend_model(dates_translator(), text);
  const auto folder = attend_model(dates_model(), text);
  ASSERT_EQ(parts.size(), 3U);
  ASSERT_EQ(folder.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(attention_json(parts[i], 0), attention_json(folder[i], 0));
}

}  // namespace
}  // namespace sextant::figures

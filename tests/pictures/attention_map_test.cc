// What an attention map shows and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pictures/samples.h"
#include "pictures/svg_reader.h"
#include "sextant/core/error.h"
#include "sextant/pictures/charts.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> texts(const Picture& picture) {
  std::vector<std::string> found;
  for (const auto& text : testing::all(testing::read_xml(picture.svg), "text")) {
    found.push_back(text.text);
  }
  return found;
}

// Groups of cells, by the number of their panel.
std::vector<testing::Element> maps_in(const Picture& picture) {
  std::vector<testing::Element> maps;
  for (const auto& group : testing::all(testing::read_xml(picture.svg), "g")) {
    if (group.attributes.contains("data-panel")) maps.push_back(group);
  }
  return maps;
}

std::string message_of(const AttentionMaps& map) {
  return error_of([&] { draw(map); });
}

TEST(OneAttentionMap, ShowsEveryWordTwiceAndTheHead) {
  const Tensor<double> weights = testing::weights(1, 16, 16);
  AttentionMaps map{.weights = weights.view().select(0, 0),
                    .queries = {},
                    .keys = {},
                    .title = "Self-attention · Head 3"};
  for (int i = 0; i < 16; ++i) map.queries.push_back("word" + std::to_string(i));
  map.keys = map.queries;
  const std::vector<std::string> shown = texts(draw(map));
  for (const std::string& word : map.queries) {
    EXPECT_EQ(std::count(shown.begin(), shown.end(), word), 2) << word;
  }
  EXPECT_THAT(shown, ::testing::Contains("Self-attention · Head 3"));
}

TEST(OneAttentionMap, WritesTheWeightsOfFewWords) {
  Tensor<double> weights({2, 2});
  weights(0, 0) = 1;
  weights(1, 0) = 0.125;
  weights(1, 1) = 0.875;
  const AttentionMaps map{
      .weights = weights, .queries = {"a", "b"}, .keys = {"c", "d"}, .title = ""};
  const Picture picture = draw(map);
  EXPECT_THAT(texts(picture), ::testing::IsSupersetOf({"1.00", "0.12", "0.88"}));
  EXPECT_THAT(texts(picture), ::testing::Not(::testing::Contains("0.00")));
  EXPECT_THAT(picture.svg, HasSubstr("<title>b → c: 0.125</title>"));
}

TEST(OneAttentionMap, CellsHaveTheColorsOfTheirWeights) {
  Tensor<double> weights({1, 3});
  weights(0, 1) = 0.25;
  weights(0, 2) = NAN;
  const Picture picture = draw(AttentionMaps{
      .weights = weights, .queries = {"q"}, .keys = {"a", "b", "c"}, .title = "", .high = 0.5});
  std::vector<std::string> fills;
  for (const auto& cell : testing::all(testing::read_xml(picture.svg), "path")) {
    if (!cell.children.empty()) fills.push_back(cell.attributes.at("fill"));
  }
  EXPECT_EQ(fills, std::vector<std::string>({"#fff", hex(color(ColorMap::sequential, 0.5)),
                                             hex(color(ColorMap::sequential, NAN))}));
  EXPECT_THAT(picture.svg, HasSubstr("not finite"));
}

TEST(OneAttentionMap, TheScaleIsThatOfEveryOtherMapUnlessAskedForAnother) {
  Tensor<double> weights({1, 2});
  weights(0, 0) = 0.3;
  weights(0, 1) = 0.009;
  AttentionMaps map{.weights = weights, .queries = {"q"}, .keys = {"a", "b"}, .title = ""};
  EXPECT_THAT(draw(map).svg, HasSubstr(hex(color(ColorMap::sequential, 0.3))));
  EXPECT_THAT(texts(draw(map)), ::testing::Not(::testing::Contains("0.01")));
  map.high = 0.5;
  EXPECT_THAT(draw(map).svg, HasSubstr(hex(color(ColorMap::sequential, 0.6))));
  map.map = ColorMap::viridis;
  EXPECT_THAT(draw(map).svg, HasSubstr(hex(color(ColorMap::viridis, 0.6))));
  map.high = {};
  weights(0, 0) = 4;  // no weight: nothing is drawn as less than it is
  EXPECT_THAT(draw(map).svg, HasSubstr(hex(color(ColorMap::viridis, 0.009 / 4))));
}

TEST(OneAttentionMap, HiddenPairsAreGreyByTheirNameWithoutANumber) {
  Tensor<double> weights({2, 2});
  weights(0, 0) = 1;
  weights(0, 1) = -INFINITY;
  weights(1, 0) = weights(1, 1) = 0.5;
  const AttentionMaps map{
      .weights = weights, .queries = {"a", "b"}, .keys = {"a", "b"}, .title = ""};
  const Picture picture = draw(map);
  EXPECT_THAT(picture.svg, HasSubstr("<title>a → b: hidden</title>"));
  EXPECT_THAT(texts(picture), ::testing::Contains("hidden"));
  EXPECT_THAT(picture.svg, ::testing::Not(HasSubstr("not finite")));
  EXPECT_EQ(std::ranges::count(texts(picture), "1.00"), 1);
  EXPECT_EQ(std::ranges::count(texts(picture), "0.50"), 2);
  EXPECT_EQ(std::ranges::count(texts(picture), "–"), 0);
  EXPECT_THAT(picture.svg, HasSubstr("fill=\"" + hex(kHiddenColor) + "\"><title>a → b"));
  weights(0, 1) = 0;  // a weight of zero is none
  EXPECT_THAT(texts(draw(map)), ::testing::Not(::testing::Contains("hidden")));
}

TEST(OneAttentionMap, RefusesWordsThatDoNotFitItsShape) {
  const Tensor<double> weights = testing::weights(1, 3, 5);
  AttentionMaps map{.weights = weights.view().select(0, 0),
                    .queries = testing::words(4),
                    .keys = testing::words(5),
                    .title = ""};
  EXPECT_EQ(message_of(map),
            "[attention_maps.queries] must be one word per row of the weights [3, 5] (3), got 4");
  map.queries = testing::words(3);
  map.keys = testing::words(3);
  EXPECT_EQ(message_of(map),
            "[attention_maps.keys] must be one word per column of the weights [3, 5] (5), got 3");
}

TEST(OneAttentionMap, RefusesOtherShapesAndImpossibleScales) {
  const Tensor<double> heads = testing::weights(2, 3, 3);
  AttentionMaps map{.weights = heads.view().select(0, 0).select(0, 0),
                    .queries = testing::words(3),
                    .keys = testing::words(3),
                    .title = ""};
  EXPECT_THAT(
      message_of(map),
      HasSubstr("must be [queries, keys] or [heads, queries, keys] and not empty, got [3]"));
  map.weights = heads.view().select(0, 0);
  map.high = 0;
  EXPECT_THAT(message_of(map), HasSubstr("[attention_maps.high] must be above 0"));
}

TEST(OneAttentionMap, EqualWeightsAndZerosAreFine) {
  Tensor<double> weights({2, 2});
  const AttentionMaps map{
      .weights = weights, .queries = {"a", "b"}, .keys = {"a", "b"}, .title = ""};
  EXPECT_THAT(draw(map).svg, HasSubstr("b → a: 0"));
}

TEST(OneAttentionMap, MoreThanTwelveWordsBecomeOneImage) {
  for (const std::int64_t words : {12, 13, 60}) {
    const Tensor<double> weights = testing::weights(1, words, words);
    const auto count = static_cast<std::size_t>(words);
    const Picture picture = draw(AttentionMaps{.weights = weights.view().select(0, 0),
                                               .queries = testing::words(count),
                                               .keys = testing::words(count),
                                               .title = ""});
    const testing::Element root = testing::read_xml(picture.svg);
    EXPECT_EQ(testing::all(root, "image").size(), words > 12 ? 2u : 1u) << "with the bar";
    EXPECT_EQ(std::ranges::count_if(testing::all(root, "path"),
                                    [](const auto& path) { return !path.children.empty(); }),
              words > 12 ? 0 : 144);
    EXPECT_LT(picture.svg.size(), 24000u);
  }
}

TEST(AttentionMaps, SayWhereTheirCellsAre) {
  for (const std::int64_t rows : {4, 40}) {
    const Tensor<double> weights = testing::weights(3, rows, 5);
    const Picture picture =
        draw(AttentionMaps{.weights = weights,
                           .queries = testing::words(static_cast<std::size_t>(rows)),
                           .keys = testing::words(5),
                           .title = ""});
    const auto maps = maps_in(picture);
    ASSERT_EQ(maps.size(), rows < 20 ? 3u : 4u);  // with the mean
    const testing::Element& map = maps.back();
    EXPECT_EQ(map.attributes.at("class"), "map");
    EXPECT_EQ(map.number("data-panel"), 2);
    EXPECT_EQ(map.number("data-rows"), static_cast<double>(rows));
    EXPECT_EQ(map.number("data-columns"), 5);
    const double cell = map.number("data-width") / 5;
    EXPECT_NEAR(map.number("data-height"), cell * static_cast<double>(rows), 0.05);
    const testing::Element& drawn = map.children.at(0);
    if (rows > 28) {  // an image
      EXPECT_EQ(drawn.number("x"), map.number("data-x"));
      EXPECT_EQ(drawn.number("height"), map.number("data-height"));
    } else {
      EXPECT_EQ(
          drawn.attributes.at("transform").find("translate(" + map.attributes.at("data-x") + " "),
          0u);
    }
  }
}

TEST(OneAttentionMap, LongTokensAreCutAndKeptWholeInATooltip) {
  const std::string word = "Donaudampfschifffahrtsgesellschaftskapitän";
  const Tensor<double> weights = testing::weights(1, 1, 1);
  const Picture picture = draw(AttentionMaps{
      .weights = weights.view().select(0, 0), .queries = {word}, .keys = {"a"}, .title = ""});
  EXPECT_THAT(picture.svg, HasSubstr("…<title>" + word + "</title></text>"));
}

TEST(AttentionMaps, HaveOnePanelPerHeadAndOneColorBar) {
  const Tensor<double> weights = testing::weights(5, 4, 4);
  const Picture picture = draw(AttentionMaps{
      .weights = weights, .queries = testing::words(4), .keys = testing::words(4), .title = "All"});
  const std::vector<std::string> shown = texts(picture);
  for (int head = 0; head < 5; ++head) {
    EXPECT_THAT(shown, ::testing::Contains("Head " + std::to_string(head)));
  }
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "Weight"), 1);
  EXPECT_EQ(testing::all(testing::read_xml(picture.svg), "image").size(), 1u);
}

TEST(AttentionMaps, OfManyWordsHaveOneLargeMapAndThumbnails) {
  for (const std::size_t words : {19, 20, 200}) {
    const auto n = static_cast<std::int64_t>(words);
    const Tensor<double> weights = testing::weights(4, n, n);
    const auto maps = maps_in(draw(AttentionMaps{.weights = weights,
                                                 .queries = testing::words(words),
                                                 .keys = testing::words(words),
                                                 .title = ""}));
    const double ratio = maps[0].number("data-width") / maps[3].number("data-width");
    if (words < 20) {
      ASSERT_EQ(maps.size(), 4u);
      EXPECT_EQ(ratio, 1);
    } else {
      ASSERT_EQ(maps.size(), 5u);
      EXPECT_GT(ratio, 3);
      EXPECT_EQ(maps[0].number("data-panel"), 4) << "none of the weights' own";
      EXPECT_EQ(maps[1].number("data-panel"), 0);
      EXPECT_EQ(maps[1].number("data-y"), maps[4].number("data-y")) << "beside each other";
    }
  }
}

// Two heads that look at different words: the mean is half of each, and what both hide is hidden.
TEST(AttentionMaps, OfManyWordsShowTheMeanOfTheHeads) {
  constexpr std::int64_t kWords = 24;
  const double hidden = -std::numeric_limits<double>::infinity();
  Tensor<double> weights({2, kWords, kWords});
  Tensor<double> mean({kWords, kWords});
  for (std::int64_t i = 0; i < kWords; ++i) {
    for (std::int64_t j = i + 1; j < kWords; ++j) {
      weights(0, i, j) = weights(1, i, j) = mean(i, j) = hidden;
    }
    weights(0, i, 0) = weights(1, i, i) = 1;
    mean(i, 0) += 0.5;
    mean(i, i) += 0.5;
  }
  weights(0, 3, 3) = hidden;  // of one head alone
  const auto image = [](const Picture& picture) {
    return testing::all(maps_in(picture)[0], "image").at(0).attributes.at("href");
  };
  const auto drawn = [&](View<const double> values) {
    return draw(AttentionMaps{.weights = values,
                              .queries = testing::words(kWords),
                              .keys = testing::words(kWords),
                              .title = ""});
  };
  const Picture both = drawn(weights.view());
  EXPECT_THAT(texts(both), ::testing::Contains("Mean of 2 heads"));
  EXPECT_THAT(texts(both), ::testing::Contains("Head 0"));
  EXPECT_EQ(image(both), image(drawn(mean.view())));
}

// Also beside <bos>, which turns.
TEST(AttentionMaps, CharactersStandUpright) {
  for (const bool special : {false, true}) {
    std::vector<std::string> letters;
    for (char c = 'a'; c <= 'z'; ++c) letters.emplace_back(1, c);
    for (const char* more : {" ", "\n", "é", "W", "m"}) letters.emplace_back(more);
    if (special) letters[0] = "<bos>";
    const auto n = static_cast<std::int64_t>(letters.size());
    const Tensor<double> weights = testing::weights(1, n, n);
    const Picture picture =
        draw(AttentionMaps{.weights = weights, .queries = letters, .keys = letters, .title = ""});
    std::int64_t turned = 0;
    for (const testing::Element& text : testing::all(testing::read_xml(picture.svg), "text")) {
      const auto transform = text.attributes.find("transform");
      if (transform == text.attributes.end() || text.text == "Queries" || text.text == "Weight") {
        continue;
      }
      EXPECT_EQ(text.text, "<bos>");
      ++turned;
    }
    EXPECT_EQ(turned, special ? 1 : 0);
    for (const auto& box : testing::label_boxes(testing::read_xml(picture.svg))) {
      EXPECT_LE(box.corners[1][0], picture.width) << box.text;
    }
  }
}

TEST(AttentionMaps, FitTheWidthAskedFor) {
  for (const double width : {280.0, 360.0, 600.0, 950.0, 1400.0}) {
    for (const std::size_t words : {3, 15, 40, 300}) {
      for (const std::int64_t heads : {1, 4, 12}) {
        const auto n = static_cast<std::int64_t>(words);
        const Tensor<double> weights = testing::weights(heads, n, n);
        const Picture picture = draw(AttentionMaps{.weights = weights,
                                                   .queries = testing::words(words),
                                                   .keys = testing::words(words),
                                                   .title = "Attention of a sentence to itself",
                                                   .max_width = width});
        EXPECT_LE(picture.width, width + 0.01) << words << " words, " << heads << " heads";
        for (const auto& box : testing::label_boxes(testing::read_xml(picture.svg))) {
          EXPECT_LE(box.corners[1][0], width) << box.text;
        }
        for (const auto& element : testing::all(testing::read_xml(picture.svg), "g")) {
          EXPECT_GE(element.number("font-size", 10), 10);
        }
      }
    }
  }
  const Tensor<double> weights = testing::weights(1, 2, 2);
  EXPECT_EQ(message_of(AttentionMaps{.weights = weights,
                                     .queries = testing::words(2),
                                     .keys = testing::words(2),
                                     .title = "",
                                     .max_width = 279}),
            "[attention_maps.max_width] must be at least 280, got 279");
}

TEST(AttentionMaps, SayWhatAPixelOfTwoThousandWordsIs) {
  Tensor<double> weights({2, 2000, 2000});
  weights(0, 1999, 1000) = 1;  // one among four million
  const Picture picture = draw(AttentionMaps{.weights = weights,
                                             .queries = testing::words(2000),
                                             .keys = testing::words(2000),
                                             .title = "Long"});
  EXPECT_THAT(texts(picture), ::testing::Contains("Each pixel is the largest of 3 × 3 weights, of "
                                                  "a small map of 12 × 12 weights"));
  EXPECT_LE(picture.width, 950);
  EXPECT_LT(texts(picture).size(), 300u);
}

TEST(AttentionMaps, TakeNumbersOfAnyType) {
  const Tensor<double> weights = testing::weights(2, 3, 3);
  Tensor<float> narrow(weights.shape());
  Tensor<bfloat16> narrower(weights.shape());
  Tensor<double> wide(weights.shape());
  for (std::int64_t n = 0; n < weights.count(); ++n) {
    narrower.data()[n] = static_cast<bfloat16>(weights.data()[n]);
    wide.data()[n] = narrow.data()[n] = static_cast<float>(narrower.data()[n]);
  }
  const auto drawn = [](NumbersView numbers) {
    const AttentionMaps maps{.weights = std::move(numbers),
                             .queries = testing::words(3),
                             .keys = testing::words(3),
                             .title = ""};
    return draw(AttentionMaps(maps)).svg;  // of a copy too
  };
  EXPECT_EQ(drawn(narrow), drawn(wide));
  EXPECT_EQ(drawn(narrower.view()), drawn(wide.view()));
  EXPECT_EQ(drawn(std::as_const(narrow).view().transpose(1, 2)),
            drawn(wide.view().transpose(1, 2)));
}

TEST(AttentionMaps, RefuseWordsThatDoNotFit) {
  const Tensor<double> weights = testing::weights(2, 3, 3);
  EXPECT_THROW(draw(AttentionMaps{.weights = weights,
                                  .queries = testing::words(3),
                                  .keys = testing::words(2),
                                  .title = ""}),
               Error);
}

TEST(AttentionLines, DrawOnlyWhatReachesTheThreshold) {
  Tensor<double> weights({1, 1, 3});
  weights(0, 0, 0) = 0.75;
  weights(0, 0, 1) = 0.24;
  weights(0, 0, 2) = NAN;
  AttentionLines lines{.weights = weights,
                       .queries = {"q"},
                       .keys = {"a", "b", "c"},
                       .title = "",
                       .threshold = 0.25};
  EXPECT_EQ(testing::all(testing::read_xml(draw(lines).svg), "path").size(), 1u);
  EXPECT_THAT(draw(lines).svg, HasSubstr("stroke-opacity=\"0.76\""));  // in steps of a fiftieth
  lines.threshold = 0;
  EXPECT_EQ(testing::all(testing::read_xml(draw(lines).svg), "path").size(), 2u);
}

TEST(AttentionLines, FitTheWidthAskedFor) {
  const Tensor<double> weights = testing::weights(4, 18, 18);
  AttentionLines lines{.weights = weights,
                       .queries = testing::hard_words(18),
                       .keys = testing::hard_words(18),
                       .title = "Attention of a sentence to itself, four heads"};
  for (const double width : {280.0, 350.0, 950.0}) {
    lines.max_width = width;
    const Picture picture = draw(lines);
    EXPECT_LE(picture.width, width);
    for (const auto& box : testing::label_boxes(testing::read_xml(picture.svg))) {
      EXPECT_LE(box.corners[1][0], width) << box.text;
    }
  }
  lines.max_width = 279;
  EXPECT_THROW(draw(lines), Error);
}

TEST(AttentionLines, KeepTheStrongestOfVeryMany) {
  Tensor<double> weights({2, 30, 30});
  for (std::int64_t i = 0; i < weights.count(); ++i)
    weights.data()[i] = 0.1 + 1e-4 * static_cast<double>(i);
  AttentionLines lines{
      .weights = weights, .queries = testing::words(30), .keys = testing::words(30), .title = ""};
  EXPECT_THAT(texts(draw(lines)),
              ::testing::Contains("Opacity is the weight; the strongest 400 of 1800 lines."));
  const std::string svg = draw(lines).svg;
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("stroke=\"#0072b2\" stroke-width=\"1.8\"")))
      << "the 400 are those of head 1";
  std::fill_n(weights.data(), weights.count(), 0.5);
  EXPECT_THAT(texts(draw(lines)),
              ::testing::Contains("No lines: 1800 are as strong as each other."));
}

TEST(AttentionLines, RefuseWordsThatDoNotFit) {
  const Tensor<double> weights = testing::weights(2, 3, 3);
  AttentionLines lines{
      .weights = weights, .queries = testing::words(2), .keys = testing::words(3), .title = ""};
  EXPECT_THROW(draw(lines), Error);
  lines.queries = testing::words(3);
  lines.threshold = NAN;
  EXPECT_THROW(draw(lines), Error);
}

}  // namespace
}  // namespace sextant

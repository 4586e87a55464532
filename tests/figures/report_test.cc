// The report's page, without the program around it.
#include "sextant/figures/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "figures/report/parts.h"
#include "figures/report/weights_text.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/environment.h"
#include "sextant/lessons/attention_steps.h"
#include "sextant/lessons/sentence_attention.h"
#include "support/error_of.h"

namespace sextant::figures {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDemo = "The black cat sat on the couch and the brown dog slept on the rug.";

TEST(ReportPage, SaysWhatItComputesAndHowItWasMade) {
  std::vector<std::string> steps;
  ReportOptions options;
  options.progress = [&steps](std::string_view step) { steps.emplace_back(step); };
  const std::string page = report_page("Dog bites man!", options);
  EXPECT_THAT(steps, ElementsAre("the text ...", "positions ...", "attention ...",
                                 "a trained model ...", "every scheme ..."));
  EXPECT_THAT(page, HasSubstr("<mark>man</mark> bites <mark>dog</mark>!"));
  EXPECT_THAT(page, HasSubstr("shows the order only with positions."));
  EXPECT_THAT(page, HasSubstr(environment().line()));
}

TEST(ReportPage, TellsItsStoryInOrder) {
  const std::string page = report_page(kDemo);
  std::size_t at = 0;
  for (const char* claim :
       {"Order matters", "Give each word an address", "Sines are clock hands", "One weight by hand",
        "What attention does with it", "Rotation turns order into distance",
        "A trained model uses it", "Reference", "How this page was made"}) {
    const std::size_t found = page.find(std::string("\">") + claim + "</h2>");
    ASSERT_NE(found, std::string::npos) << claim;
    EXPECT_GT(found, at) << claim;
    at = found;
  }
}

TEST(ReportPage, ShowsTheWeightsOfTheLastTokenInBothOrders) {
  const std::vector<std::string> first = {"the", "zebra", "chased", "the", "lion", "."};
  const std::vector<std::string> second = {"the", "lion", "chased", "the", "zebra", "."};
  const std::string page = report_page("The zebra chased the lion.");
  for (const char* scheme : {"none", "sinusoidal"}) {
    SentenceAttentionOptions options;
    options.schemes = {scheme};
    const OrderVerdict verdict = compare_order(first, second, options);
    double written = 0, swapped = 0;  // of 'zebra', mean of the heads
    for (std::int64_t head = 0; head < options.heads; ++head) {
      written += verdict.first.weights(head, 5, 1) / static_cast<double>(options.heads);
      swapped += verdict.second.weights(head, 5, 4) / static_cast<double>(options.heads);
    }
    const bool none = options.schemes[0].scheme == "none";
    const std::size_t column =
        page.find(none ? "<caption>without positions" : "<caption>with positions");
    const std::size_t row = page.find(">zebra</th>", column);
    const std::string cells = page.substr(row, page.find("</tr>", row) - row);
    EXPECT_THAT(cells, HasSubstr("<b>" + fixed(written, 3) + "</b>")) << scheme;
    EXPECT_THAT(cells, HasSubstr("<b>" + fixed(swapped, 3) + "</b>")) << scheme;
  }
}

TEST(ReportPage, TwoLayersTellTheOrderByTheMaskAlone) {
  const LayersApart apart = layers_apart(read_report_text(kDemo, {}));
  EXPECT_LT(apart.causal[0], 1e-12);
  EXPECT_GT(apart.causal[1], 1e-3);
  EXPECT_LT(apart.unmasked[0], 1e-12);
  EXPECT_LT(apart.unmasked[1], 1e-12);
  const std::string page = report_page(kDemo);
  EXPECT_THAT(page, HasSubstr("<td>" + fixed(100 * apart.causal[1], 1) + " % apart</td>"));
  EXPECT_THAT(page, HasSubstr("a second layer can read order from the causal mask"));
}

TEST(ReportPage, MatricesStandBetweenTwoAddresses) {
  const std::string page = report_page("Dog bites man!");
  const auto row = [&page](const std::string& name) {
    const std::size_t at = page.find("<td>" + name + "</td>");
    return at == std::string::npos ? "" : page.substr(at, page.find("</tr>", at) - at);
  };
  // The last two cells of a row: the same distance at two places.
  const auto cells = [&row](const std::string& name) {
    const std::string text = row(name);
    const std::size_t last = text.rfind('>', text.rfind("</td>") - 1),
                      before = text.rfind("</td>", last), first = text.rfind('>', before - 1);
    return std::pair(text.substr(first + 1, before - first - 1),
                     text.substr(last + 1, text.rfind("</td>") - last - 1));
  };
  EXPECT_EQ(cells("the addresses").first, cells("the addresses").second);
  EXPECT_NE(cells("random matrices").first, cells("random matrices").second);
  EXPECT_EQ(cells("M_5 for the keys"), std::pair(fixed(32, 2), fixed(32, 2)));
}

TEST(ReportPage, HandsOnEveryPicture) {
  ReportOptions options;
  std::vector<int> sections;
  std::size_t bytes = 0;
  options.picture = [&](const ReportPicture& made) {
    sections.push_back(made.section);
    bytes += made.picture.svg.size();
    EXPECT_FALSE(made.heading.empty());
  };
  const std::string page = report_page(kDemo, options);
  std::size_t figures = 0;
  for (std::size_t at = 0; (at = page.find("<figure", at)) != std::string::npos; ++at) ++figures;
  EXPECT_EQ(sections.size(), figures);
  EXPECT_TRUE(std::ranges::is_sorted(sections));
  EXPECT_GT(sections.front(), 1);
  EXPECT_LT(bytes, page.size());
}

// A number of the section, to four digits, as the steps of the same attention have it.
TEST(ReportPage, OneWeightIsComputedByHand) {
  const std::vector<std::string> words = {"the", "zebra", "chased", "the", "lion", "."};
  const std::string page = report_page("The zebra chased the lion.");
  const std::size_t begin = page.find("One weight by hand</h2>");
  ASSERT_NE(begin, std::string::npos);
  const std::string section =
      page.substr(begin, page.find("What attention does with it</h2>") - begin);
  SentenceAttentionOptions options;
  options.schemes = {"sinusoidal"};
  const AttentionSteps steps = attention_steps(words, {}, options);
  std::int64_t key = 0;
  double sum = 0;
  for (std::int64_t j = 0; j < 6; ++j) {
    if (steps[AttentionStep::weights](0, 5, j) > steps[AttentionStep::weights](0, 5, key)) key = j;
    sum += std::exp(steps[AttentionStep::biased](0, 5, j));
  }
  EXPECT_THAT(section, HasSubstr("attends most to &#39;" + words[static_cast<std::size_t>(key)]));
  const double q = steps[AttentionStep::q](0, 5, 3), k = steps[AttentionStep::k](0, key, 3);
  EXPECT_THAT(section, HasSubstr(fixed(q * k, 4)));
  EXPECT_THAT(section, HasSubstr(", " + fixed(steps[AttentionStep::scores](0, 5, key), 4) + "."));
  EXPECT_THAT(section, HasSubstr(fixed(sum, 4)));
  EXPECT_THAT(section, HasSubstr(fixed(steps[AttentionStep::weights](0, 5, key), 4)));
  EXPECT_THAT(section, HasSubstr("= " + fixed(steps[AttentionStep::mixed](0, 5, 0), 4) + "."));
}

TEST(ReportPage, TheTrainedModelReadsTheMonthAndNeedsItsPositions) {
  const std::string page = report_page("Dog bites man!");
  EXPECT_THAT(page, HasSubstr("writes &#39;1999-03-03&#39;"));
  const std::string before = "While it wrote the month, ";
  const std::size_t at = page.find(before);
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stoi(page.substr(at + before.size())), 60);
  EXPECT_THAT(page, Not(HasSubstr("without positions write &#39;1999-03-03&#39;")));
  // Beside it one that was trained without positions, which is not broken and less good.
  EXPECT_THAT(page, HasSubstr("the model was trained with them"));
  EXPECT_THAT(page, HasSubstr(">18 %<"));
}

TEST(ReportPage, ClaimsAboutRepeatedWordsNeedOne) {
  EXPECT_THAT(report_page("The cat saw the dog."), HasSubstr("&#39;the&#39; is at places 0 and 3"));
  const std::string page = report_page("A cat saw my dog.");
  EXPECT_THAT(page, Not(HasSubstr("; is at places ")));
  EXPECT_THAT(page, Not(HasSubstr("the same word at another place")));
}

TEST(ReportPage, IsLight) {
  EXPECT_LT(report_page(kDemo).size(), 650'000U);  // a scheme takes about 10'000
  std::string words;
  for (int i = 0; i < 62; ++i) words += "word" + std::to_string(i) + " ";
  EXPECT_LT(report_page(words).size(), 1'500'000U);
}

TEST(ReportPage, LinksShowItsCard) {
  const std::string page =
      report_page(kDemo, {.url = "https://example.org/a/page.html", .card = "card.png"});
  EXPECT_THAT(page, HasSubstr("property=\"og:image\" content=\"https://example.org/a/card.png\""));
  EXPECT_THAT(page, HasSubstr("property=\"og:title\" content=\"The black cat"));
  EXPECT_THAT(report_page("Dog bites man!"), Not(HasSubstr("og:image")));
  const Picture card = report_card(kDemo);
  EXPECT_EQ(card.width, 1200);
  EXPECT_EQ(card.height, 630);
  EXPECT_THAT(card.svg, HasSubstr("without positions"));
  EXPECT_NO_THROW(report_card("hello"));
}

TEST(ReportPage, WordsMustBeOfTheText) {
  const auto refusal_of = [](const std::string& text, const ReportOptions& options) {
    return error_of([&] { report_page(text, options); });
  };
  EXPECT_THAT(refusal_of("Dog bites man!", {.words = {{"dog", "cat"}}}),
              HasSubstr("[report.words] must be words of the text, which 'cat' is not"));
  EXPECT_THAT(refusal_of("Dog bites man!", {.words = {{"dog", "Dog"}}}),
              HasSubstr("two different words"));
  EXPECT_THAT(refusal_of(" \n", {}), HasSubstr("[report.text]"));
}

TEST(WeightsText, TwoCharactersHoldTwelveBits) {
  Tensor<double> weights({2, 2});
  weights(0, 1) = 1;
  weights(1, 0) = 64.0 / 4095;
  weights(1, 1) = 0.5;
  EXPECT_EQ(packed_weights(std::as_const(weights).view()), "AA//BAgA");
}

TEST(WeightsText, NoTextEndsTheScript) {
  const std::string script = script_data("d", {{"words", Json::array({"</script><b>"})}});
  EXPECT_EQ(script.find("</script>"), script.size() - 10);
  EXPECT_THAT(script, HasSubstr("\\u003c/script>"));
}

}  // namespace
}  // namespace sextant::figures

// The fifth section shows how the addresses change attention, in pictures and in an interactive
// map.
#include <algorithm>
#include <array>

#include "figures/report/parts.h"
#include "figures/report/weights_text.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

struct Shown {
  const char *scheme, *name;
};
constexpr std::array<Shown, 4> kShown = {{{"none", "no positions"},
                                          {"sinusoidal", "sinusoidal"},
                                          {"rotary", "rotary"},
                                          {"alibi", "ALiBi"}}};

// Attention of the text with each of kShown.
std::vector<SentenceAttention> attend_all(const ReportText& text, bool causal) {
  std::vector<SentenceAttention> made;
  made.reserve(kShown.size());
  for (const Shown& shown : kShown) {
    made.push_back(attend_sentences(text.tokens, {}, report_model(shown.scheme, causal)));
  }
  return made;
}

// One head of each as panels [schemes, queries, keys].
Tensor<double> heads_of(const std::vector<SentenceAttention>& made, std::int64_t head) {
  const std::int64_t length = made[0].weights.size(1), count = length * length;
  Tensor<double> panels({static_cast<std::int64_t>(made.size()), length, length});
  for (std::size_t i = 0; i < made.size(); ++i) {
    std::copy_n(&made[i].masked_weights(head, 0, 0), count,
                panels.data() + static_cast<std::int64_t>(i) * count);
  }
  return panels;
}

HeatmapPanels chart_of(const Tensor<double>& panels, const ReportText& text) {
  HeatmapPanels chart{.values = panels.view(),
                      .x_label = "Key",
                      .y_label = "Query",
                      .color_label = "Weight",
                      .low = 0,
                      .map = ColorMap::sequential,
                      .hides = true};
  for (std::int64_t i = 0; i < panels.size(0); ++i) chart.titles.emplace_back(kShown[i].name);
  constexpr std::size_t kMaxLabels = 24;
  if (text.tokens.size() <= kMaxLabels) chart.row_labels = chart.column_labels = text.tokens;
  return chart;
}

double largest_of(const Tensor<double>& values) {
  double largest = 0;
  for (const double value : values.span()) largest = std::max(largest, value);
  return largest;
}

// The end of a colour scale, rounded up to a tenth.
double scale_end(double largest) { return std::min(1.0, std::ceil(largest * 10) / 10); }

void weight_maps(ReportPage& page, const ReportText& text,
                 const std::vector<SentenceAttention>& all) {
  const Tensor<double> panels = heads_of(all, 0);
  HeatmapPanels chart = chart_of(panels, text);
  chart.title = "Attention weights of head 0, the same words and the same head";
  chart.high = scale_end(largest_of(panels));
  page.chart(chart,
             "Each row is the word of a query, each column the word of a key; every row sums to "
             "one. All maps share one colour scale.");
  const std::int64_t count = panels.size(1) * panels.size(2);
  Tensor<double> differences({panels.size(0) - 1, panels.size(1), panels.size(2)});
  for (std::int64_t i = 0; i < differences.count(); ++i) {
    differences.data()[i] = panels.data()[count + i] - panels.data()[i % count];
  }
  HeatmapPanels change = chart_of(differences, text);
  change.titles.assign({"sinusoidal", "rotary", "ALiBi"});
  change.title = "Effect of each: weights minus those without positions";
  change.color_label = "Difference";
  change.map = ColorMap::diverging;
  change.low.reset();
  page.chart(change,
             "Blue is less than without positions, red is more. Without positions a score depends "
             "only on the two words; a weight depends on all scores of its row.");
}

void causal_maps(ReportPage& page, const ReportText& text,
                 const std::vector<SentenceAttention>& causal) {
  const Tensor<double> panels = heads_of(causal, 0);
  HeatmapPanels chart = chart_of(panels, text);
  chart.title = "The same with a causal mask";
  chart.high = 1;
  page.fold("With a causal mask and as lines");
  page.paragraph(lesson_text("masks_and_heads", "says"));
  page.chart(chart,
             "No word attends to a later one, as in a model that generates text. Hidden weights "
             "are grey, and every row still sums to one.");
  AttentionLines lines;
  lines.weights = causal[1].weights.view();
  lines.queries = lines.keys = text.tokens;
  lines.title = "Causal attention as lines, sinusoidal positions";
  // Weights near the average carry no information: only larger ones are drawn.
  lines.threshold = 2.0 / static_cast<double>(std::max<std::size_t>(text.tokens.size(), 8));
  page.chart(lines, "Lines lead from each word to the words before it, in one colour per head.");
  page.unfold();
}

// Adds the data of the interactive map: the weights of every head, scheme and mask.
void explorer(ReportPage& page, const ReportText& text, const std::vector<SentenceAttention>& all,
              const std::vector<SentenceAttention>& causal) {
  Json data;
  data["words"] = text.tokens;
  for (std::size_t i = 0; i < kShown.size(); ++i) {
    data["schemes"].push_back(kShown[i].scheme);
    data["names"].push_back(kShown[i].name);
    data["none"].push_back(packed_weights(all[i].weights.view()));
    data["causal"].push_back(packed_weights(causal[i].weights.view()));
  }
  data["heads"] = all[0].weights.size(0);
  data["colors"] = {{"weights", colors_of(ColorMap::sequential)},
                    {"difference", colors_of(ColorMap::diverging)}};
  page.insert("<div id=\"explore\" class=\"explore\" hidden></div>\n" +
              script_data("explore-data", data));
}

}  // namespace

void report_attention(ReportPage& page, const ReportText& text, Json& numbers) {
  page.section("What attention does with it");
  page.paragraph(
      "The maps show all weights of one head, without positions and with three schemes (" +
      random_weights() + "). " + lesson_text("add_or_rotate", "says") +
      " ALiBi changes no vector: it lowers a score in proportion to the distance.");
  const std::vector<SentenceAttention> all = attend_all(text, false);
  const std::vector<SentenceAttention> causal = attend_all(text, true);
  weight_maps(page, text, all);
  explorer(page, text, all, causal);
  causal_maps(page, text, causal);
  page.paragraph("This command prints all numbers, also for other schemes, seeds and masks:");
  page.code("sextant attend \"" + sentence_of(text.tokens) + "\" --scheme rotary --causal --json");
  numbers["attention"] = {{"heads", all[0].weights.size(0)}, {"width", report_model("none").width}};
}

}  // namespace sextant::figures

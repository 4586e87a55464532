// The report's attention: maps with and without positions and mask, and whether order matters.
#include <algorithm>
#include <map>

#include "report_parts.h"
#include "sextant/core/numbers.h"
#include "sextant/core/random.h"
#include "sextant/layers/sentence_attention.h"
#include "sextant/pictures/charts.h"

namespace sextant::app {
namespace {

struct Shown {
  const char* scheme;
  const char* title;
  const char* caption;
  const char* causal_caption;
};
constexpr Shown kShown[] = {
    {"none", "no positions",
     "Without positions, equal words look and are looked at alike: their rows and columns are the "
     "same, wherever they stand.",
     "The mask alone tells a little: a word that may see more words shares its attention among "
     "more."},
    {"sinusoidal", "sinusoidal positions",
     "Sinusoidal positions are added to the words: equal words at different places now differ.",
     "Mask and sinusoidal positions."},
    {"rotary", "rotary positions",
     "Rotary positions turn queries and keys instead: what a score sees is the distance.",
     "Mask and rotary positions."},
};

SentenceAttention attend(const ReportText& text, const char* scheme, bool causal) {
  SentenceAttentionOptions options;
  options.scheme = scheme;
  options.causal = causal;
  return attend_sentences(text.tokens, {}, options);
}

std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

}  // namespace

void report_attention(Page& page, const ReportText& text, Json& numbers) {
  page.section("Attention, without and with positions");
  page.paragraph(
      "Four heads with seeded random weights, width 64. Row: the word that looks; column: the word "
      "that is looked at; every row sums to one. Nothing was learned yet, so the maps show what "
      "the "
      "positions do and nothing else.");
  for (const Shown& shown : kShown) {
    const SentenceAttention all = attend(text, shown.scheme, false);
    const std::string title = "Attention, " + std::string(shown.title);
    page.picture(draw(AttentionMaps{all.weights.view(), all.queries, all.keys, title}),
                 shown.caption);
    numbers["attention"][shown.scheme] = {{"heads", all.weights.size(0)}};
  }
  page.section("Attention with a causal mask");
  page.paragraph(
      "No word sees a later one, as in a model that writes: the upper triangle is empty, and every "
      "row still sums to one.");
  for (const Shown& shown : kShown) {
    const SentenceAttention causal = attend(text, shown.scheme, true);
    const std::string title = "Causal attention, " + std::string(shown.title);
    page.picture(draw(AttentionMaps{causal.weights.view(), causal.queries, causal.keys, title}),
                 shown.causal_caption);
  }
  page.section("The same as lines");
  for (const bool causal : {false, true}) {
    const SentenceAttention result = attend(text, "sinusoidal", causal);
    AttentionLines lines;
    lines.weights = result.weights.view();
    lines.queries = result.queries;
    lines.keys = result.keys;
    lines.title = causal ? "Causal, sinusoidal positions" : "Sinusoidal positions";
    // Weights near the average say nothing: only what stands out is drawn.
    lines.threshold = 2.0 / static_cast<double>(std::max<std::size_t>(result.keys.size(), 8));
    page.picture(draw(lines), causal ? "From each word to the words before it."
                                     : "From each word on the left to the words it looks at, one "
                                       "colour per head; stronger is more opaque.");
  }
}

void report_order(Page& page, const ReportText& text, Json& numbers) {
  page.section("Does the order of the words matter?");
  if (!text.has_pair()) {
    page.paragraph("The text has no two different words before its last token to swap.");
    return;
  }
  std::vector<std::string> swapped = text.tokens;
  for (std::string& token : swapped) {
    if (token == text.pair.first) {
      token = text.pair.second;
    } else if (token == text.pair.second) {
      token = text.pair.first;
    }
  }
  page.paragraph("Swap '" + text.pair.first + "' and '" + text.pair.second +
                 "', run causal attention over both sentences, and compare what comes out at the "
                 "last token.");
  page.code(joined(text.tokens) + "\n" + joined(swapped));
  std::vector<std::vector<std::string>> rows = {
      {"positions", "largest difference of the last token's output", "verdict"}};
  numbers["order"]["first"] = joined(text.tokens);
  numbers["order"]["second"] = joined(swapped);
  bool none_same = false;
  bool others_differ = true;
  for (const Shown& shown : kShown) {
    SentenceAttentionOptions options;
    options.scheme = shown.scheme;
    options.causal = true;
    const OrderVerdict verdict = compare_order(text.tokens, swapped, options);
    rows.push_back({shown.scheme, significant(verdict.largest_difference, 3),
                    verdict.same ? "same: order is invisible" : "different: order shows"});
    numbers["order"][shown.scheme] = {{"same", verdict.same},
                                      {"largest_difference", verdict.largest_difference}};
    if (std::string_view(shown.scheme) == "none") {
      none_same = verdict.same;
    } else {
      others_differ = others_differ && !verdict.same;
    }
  }
  page.table(rows);
  if (none_same && others_differ) {
    page.verdict(true,
                 "Without positions the two sentences are the same to attention. With them "
                 "they are not.");
  } else {
    page.verdict(false, "These two sentences do not show it: see the table.");
  }
}

void report_plain_attention(Page& page, const ReportText& text) {
  page.section("A sentence looks at itself, nothing learned");
  page.paragraph(
      "softmax(x x^T / sqrt(width)) with one random vector per word, width 64, no projections and "
      "no positions: a word is most like itself, so it looks at itself, and at its own repetitions "
      "just as much.");
  constexpr std::int64_t kWidth = 64;
  NumpyRandom random(7);
  std::map<std::string, std::vector<double>> vectors;
  Tensor<double> rows({static_cast<std::int64_t>(text.tokens.size()), kWidth});
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    auto& vector = vectors[text.tokens[i]];
    while (static_cast<std::int64_t>(vector.size()) < kWidth) vector.push_back(random.normal());
    std::copy(vector.begin(), vector.end(), &rows(i, 0));
  }
  const Tensor<double> weights = plain_self_attention(std::as_const(rows).view());
  AttentionMap map;
  map.weights = weights.view();
  map.queries = map.keys = text.tokens;
  map.title = "Attention without learned weights";
  page.picture(draw(map), "Bright off the diagonal: the same word once more.");
}

}  // namespace sextant::app

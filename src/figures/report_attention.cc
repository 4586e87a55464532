// The report's attention: maps with and without positions and mask, and whether order matters.
#include <algorithm>
#include <map>

#include "figures/report_parts.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/random.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/figures/scheme_profiles.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/pictures/charts.h"
#include "sextant/schemes/scheme.h"

namespace sextant::figures {
namespace {

// What a kind of scheme does to the maps, under a mask, and in general.
struct Captions {
  std::string all, causal, kind;
};

Captions captions_of(const Scheme& scheme) {
  const std::string name = capital(std::string(scheme.name)) + " positions ";
  const std::string masked = "Mask and " + std::string(scheme.name) + " positions.";
  const auto said = [&](const std::string& what) {
    return Captions{name + what + ".", masked, "They " + what + "."};
  };
  switch (scheme.kind) {
    case SchemeKind::none:
      return {
          "Without positions, equal words have equal rows and equal columns, wherever they "
          "stand.",
          "The mask alone gives some information on order: a word with more visible words spreads "
          "its attention over more.",
          "The mask only."};
    case SchemeKind::added:
      return said("are added to the words: equal words at different positions now differ");
    case SchemeKind::rotated:
      return said("rotate queries and keys instead: a score depends on the distance");
    case SchemeKind::distance_bias:
      return said("are a number per distance, added to the scores");
    case SchemeKind::indexed_bias:
      return said("are a number per pair of positions, added to the scores");
    case SchemeKind::content:
      return said("add a term to a score that depends on its two words and their distance");
  }
  return {};
}

std::string kind_title(SchemeKind kind) {
  switch (kind) {
    case SchemeKind::none:
      return "no positions";
    case SchemeKind::added:
      return "added positions";
    case SchemeKind::rotated:
      return "rotations";
    case SchemeKind::distance_bias:
      return "biases by distance";
    case SchemeKind::indexed_bias:
      return "biases by query and key";
    case SchemeKind::content:
      return "terms that depend on the words";
  }
  return "";
}

std::string title_of(const Scheme& scheme) {
  return NamedScheme{std::string(scheme.name), {}, nullptr}.title();
}

// Those that are shown with all heads: nothing, and the two that everything else goes back to.
constexpr std::string_view kInFull[] = {"none", "sinusoidal", "rotary"};

// Every scheme that can be made from its defaults, plainest first.
std::vector<const Scheme*> shown_schemes() {
  std::vector<const Scheme*> shown;
  for (const Scheme* scheme : schemes()) {
    const bool complete = std::ranges::none_of(
        scheme->parameters(), [](const Option& option) { return option.default_text.empty(); });
    if (complete) shown.push_back(scheme);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [](const Scheme* a, const Scheme* b) { return a->kind < b->kind; });
  return shown;
}

SentenceAttention attend(const ReportText& text, std::string_view scheme, bool causal) {
  SentenceAttentionOptions options;
  options.positions = {std::string(scheme)};
  options.causal = causal;
  return attend_sentences(text.tokens, {}, options);
}

std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

// One small map per scheme, those of a kind side by side; a mask, because some can do no more.
void report_every_scheme(Page& page, const ReportText& text) {
  page.section("Every scheme");
  page.paragraph(
      "One head of the same model under a causal mask with each scheme, as it is before any "
      "training, and its score or bias by distance. `sextant list` says what they are, `sextant "
      "attend --scheme NAME` shows all heads.");
  std::map<SchemeKind, std::vector<const Scheme*>> kinds;
  for (const Scheme* scheme : shown_schemes()) kinds[scheme->kind].push_back(scheme);
  const auto length = static_cast<std::int64_t>(text.tokens.size());
  for (const auto& [kind, list] : kinds) {
    std::vector<Tensor<double>> maps;
    HeatmapPanels panels;
    std::vector<NamedScheme> profiled;
    for (const Scheme* scheme : list) {
      try {
        const SentenceAttention made = attend(text, scheme->name, true);
        maps.push_back(copy_of(made.masked_weights.view().select(0, 0)));
      } catch (const Error&) {
        continue;  // not made for texts of this length
      }
      panels.titles.emplace_back(scheme->name);
      profiled.push_back({std::string(scheme->name), {}, nullptr});
    }
    if (maps.empty()) continue;
    Tensor<double> values({static_cast<std::int64_t>(maps.size()), length, length});
    for (std::size_t i = 0; i < maps.size(); ++i) {
      std::copy_n(maps[i].data(), maps[i].count(),
                  values.data() + static_cast<std::int64_t>(i) * length * length);
    }
    panels.values = std::as_const(values).view();
    panels.title = "Causal attention, head 0, " + kind_title(kind);
    panels.x_label = "Key";
    panels.y_label = "Query";
    panels.color_label = "Weight";
    panels.hides = true;
    panels.map = ColorMap::sequential;
    panels.low = 0;
    panels.high = 1;
    page.picture(draw(panels), captions_of(*list.front()).kind);
    if (kind == SchemeKind::none || kind == SchemeKind::content) continue;
    page.picture(plot_profiles(profiled).picture, "The same schemes by distance.");
  }
}

}  // namespace

void report_attention(Page& page, const ReportText& text, Json& numbers) {
  page.section("Attention, without and with positions");
  page.paragraph(
      "Four heads with seeded random weights, width 64. Row: the query's word; column: the "
      "key's; every row sums to one. Nothing was learned yet, so the maps show what the positions "
      "do and nothing else.");
  for (const std::string_view name : kInFull) {
    const Scheme& scheme = find_scheme(name);
    const SentenceAttention all = attend(text, name, false);
    const std::string title = "Attention, " + title_of(scheme);
    page.picture(draw(AttentionMaps{all.masked_weights.view(), all.queries, all.keys, title}),
                 captions_of(scheme).all);
    Json& saved = numbers["attention"][std::string(name)];
    saved["heads"] = all.weights.size(0);
    saved["weights"] = rows_as_json(all.weights.view());
  }
  page.section("Attention with a causal mask");
  page.paragraph(
      "No word attends to a later one, as in a model that generates text: the upper triangle is "
      "hidden, which is grey, and every row still sums to one.");
  for (const std::string_view name : kInFull) {
    const Scheme& scheme = find_scheme(name);
    const SentenceAttention causal = attend(text, name, true);
    const std::string title = "Causal attention, " + title_of(scheme);
    page.picture(
        draw(AttentionMaps{causal.masked_weights.view(), causal.queries, causal.keys, title}),
        captions_of(scheme).causal);
    numbers["attention"][std::string(name)]["causal_weights"] = rows_as_json(causal.weights.view());
  }
  report_every_scheme(page, text);
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
                                     : "From each word on the left to the words it attends to, one "
                                       "colour per head; stronger is more opaque.");
  }
}

void report_order(Page& page, const ReportText& text, Json& numbers) {
  page.section("Does the order of the words matter?");
  if (!text.has_swapped()) {
    page.paragraph("The text has no two different words before its last token to swap.");
    return;
  }
  std::vector<std::string> swapped = text.tokens;
  for (std::string& token : swapped) {
    if (token == text.swapped.first) {
      token = text.swapped.second;
    } else if (token == text.swapped.second) {
      token = text.swapped.first;
    }
  }
  page.paragraph("Swap '" + text.swapped.first + "' and '" + text.swapped.second +
                 "', run causal attention over both sentences, and compare what comes out at the "
                 "last token.");
  page.code(joined(text.tokens) + "\n" + joined(swapped));
  std::vector<std::vector<std::string>> rows = {
      {"positions", "largest difference of the last token's output", "verdict"}};
  numbers["order"]["first"] = joined(text.tokens);
  numbers["order"]["second"] = joined(swapped);
  bool none_same = false;
  bool others_differ = true;  // those that are shown in full
  for (const Scheme* scheme : shown_schemes()) {
    const std::string name(scheme->name);
    SentenceAttentionOptions options;
    options.positions = {name};
    options.causal = true;
    OrderVerdict verdict;
    try {
      verdict = compare_order(text.tokens, swapped, options);
    } catch (const Error&) {
      continue;  // not made for texts of this length
    }
    rows.push_back({name, significant(verdict.largest_difference, 3),
                    verdict.same ? "same: order is invisible" : "different: order shows"});
    numbers["order"][name] = {{"same", verdict.same},
                              {"largest_difference", verdict.largest_difference}};
    if (scheme->kind == SchemeKind::none) {
      none_same = verdict.same;
    } else if (std::find(std::begin(kInFull), std::end(kInFull), name) != std::end(kInFull)) {
      others_differ = others_differ && !verdict.same;
    }
  }
  page.table(rows);
  if (none_same && others_differ) {
    page.verdict(
        true,
        "Without positions the two sentences are the same to attention. With them they are not. (A "
        "mask under which the last token attends to both words does not change that.)");
  } else {
    page.verdict(false, "These two sentences do not show it: see the table.");
  }
}

void report_plain_attention(Page& page, const ReportText& text) {
  page.section("A sentence attends to itself, without learned weights");
  page.paragraph(
      "softmax(x x^T / sqrt(width)) with one random vector per word, width 64, no projections and "
      "no positions: a word is most similar to itself, so it attends to itself, and equally to its "
      "repetitions.");
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
  const AttentionMaps map{weights.view(), text.tokens, text.tokens,
                          "Attention without learned weights"};
  page.picture(draw(map), "Dark off the diagonal: the same word once more.");
}

}  // namespace sextant::figures

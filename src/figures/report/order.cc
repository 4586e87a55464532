// The first section compares the same words in two orders, without and with positions.
#include <algorithm>
#include <cmath>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"

namespace sextant::figures {
namespace {

constexpr std::size_t kMaxBars = 16;  // words; a longer text shows those with the largest weights
constexpr int kDigits = 3;            // of a weight, after the point

// A word and the weight that the last token gives it, mean of all heads, in both orders.
struct Weighed {
  std::string word;
  double written = 0, swapped = 0;
};

double mean_weight(const SentenceAttention& attention, std::size_t key) {
  const View<const double> weights = attention.weights.view();
  double sum = 0;
  for (std::int64_t head = 0; head < weights.size(0); ++head) {
    sum += weights(head, weights.size(1) - 1, static_cast<std::int64_t>(key));
  }
  return sum / static_cast<double>(weights.size(0));
}

std::vector<Weighed> weighed_words(const ReportText& text, const OrderVerdict& verdict) {
  std::vector<Weighed> words;
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    const Swap& swap = *text.swap;
    const std::size_t there = i == swap.first ? swap.second : i == swap.second ? swap.first : i;
    words.push_back(
        {text.tokens[i], mean_weight(verdict.first, i), mean_weight(verdict.second, there)});
  }
  return words;
}

// Those with the largest weights, in the order of the text; `left` are the others.
std::vector<Weighed> largest(std::vector<Weighed> words, std::vector<Weighed>& left) {
  if (words.size() <= kMaxBars) return words;
  std::vector<double> weights;
  weights.reserve(words.size());
  for (const Weighed& word : words) weights.push_back(std::max(word.written, word.swapped));
  std::ranges::nth_element(weights, weights.begin() + kMaxBars - 2, std::greater<>());
  const double least = weights[kMaxBars - 2];
  std::vector<Weighed> shown;
  for (Weighed& word : words) {
    const bool is_large = std::max(word.written, word.swapped) >= least;
    (is_large && shown.size() + 1 < kMaxBars ? shown : left).push_back(std::move(word));
  }
  return shown;
}

std::string bar(double weight, double full, const char* kind) {
  return std::string("<td><i class=\"") + kind + "\" style=\"--share:" + fixed(weight / full, 3) +
         "\"></i><b>" + fixed(weight, kDigits) + "</b></td>";
}

// The sum of the words that have no bar. It gets no bar either: their scale is that of one word.
std::string others_row(const std::vector<Weighed>& words) {
  Weighed sum{std::to_string(words.size()) + " other words together", 0, 0};
  for (const Weighed& word : words) {
    sum.written += word.written;
    sum.swapped += word.swapped;
  }
  return "<tr class=\"others\"><th scope=\"row\">" + sum.word + "</th><td><b>" +
         fixed(sum.written, kDigits) + "</b></td><td><b>" + fixed(sum.swapped, kDigits) +
         "</b></td></tr>\n";
}

// One column of the experiment: bars per word, two of them side by side.
std::string bars(const char* title, const std::vector<Weighed>& words, double full,
                 std::string_view note) {
  std::string html = std::string("<table class=\"bars\"><caption>") + title +
                     "</caption><thead><tr><th scope=\"col\">word</th><th scope=\"col\">as "
                     "written</th><th scope=\"col\">swapped</th></tr></thead><tbody>\n";
  std::vector<Weighed> left;
  for (const Weighed& word : largest(words, left)) {
    const bool differ = fixed(word.written, kDigits) != fixed(word.swapped, kDigits);
    html += std::string(differ ? "<tr class=\"differ\">" : "<tr>") + "<th scope=\"row\">" +
            escape_html(word.word) + "</th>" + bar(word.written, full, "written") +
            bar(word.swapped, full, "swapped") + "</tr>\n";
  }
  if (!left.empty()) html += others_row(left);
  return html + "</tbody><tfoot><tr><td colspan=\"3\">" + escape_html(note) +
         "</td></tr></tfoot></table>\n";
}

double largest_weight(const std::vector<Weighed>& words) {
  double largest = 0;
  for (const Weighed& word : words) largest = std::max({largest, word.written, word.swapped});
  return largest;
}

// "the black [dog] sat": the swapped words marked.
std::string marked(const ReportText& text) {
  const std::vector<std::string> other = swapped(text.tokens, *text.swap);
  std::vector<std::string> html;
  for (std::size_t i = 0; i < other.size(); ++i) {
    const bool moved = i == text.swap->first || i == text.swap->second;
    html.push_back(moved ? "<mark>" + escape_html(other[i]) + "</mark>" : escape_html(other[i]));
  }
  return sentence_of(html);
}

std::string share(double distance) {
  return distance < 1e-12 ? "identical, to rounding" : fixed(100 * distance, 1) + " % apart";
}

// Shows the counter-example in numbers.
void two_layers(ReportPage& page, const ReportText& text, Json& numbers) {
  const LayersApart apart = layers_apart(text);
  page.paragraph(
      lesson_text("order", "reason") +
      " This holds for the last word of one layer: a second layer can read order from the causal "
      "mask. The table compares both orders after one layer and after two, without positions; each "
      "layer adds the output of attention to its input. With a causal mask, the words between the "
      "two swapped ones see different words in the first layer, and the second layer reads the "
      "result. Without a mask every word sees the same words, so the outputs are identical after "
      "any number of layers.");
  page.table({{"the last token's outputs, without positions", "causal mask", "no mask"},
              {"after one layer", share(apart.causal[0]), share(apart.unmasked[0])},
              {"after two layers", share(apart.causal[1]), share(apart.unmasked[1])}});
  numbers["layers_without_positions"] = {{"causal", apart.causal}, {"no_mask", apart.unmasked}};
}

double last_output(const OrderVerdict& verdict) {
  const View<const double> output = verdict.first.output.view();
  double largest = 0;
  for (std::int64_t i = 0; i < output.size(1); ++i) {
    largest = std::max(largest, std::abs(output(output.size(0) - 1, i)));
  }
  return largest;
}

}  // namespace

SentenceAttentionOptions report_model(const std::string& scheme, bool causal) {
  SentenceAttentionOptions options;
  options.schemes = {scheme};
  options.causal = causal;
  return options;
}

std::string random_weights() {
  const SentenceAttentionOptions model;
  return "random weights, seed " + std::to_string(model.seed) +
         ": the pattern shows what positions do, not what words mean";
}

std::string apart(const OrderVerdict& verdict) {
  if (!verdict.same) return significant(verdict.largest_difference, 2) + " apart";
  if (verdict.largest_difference == 0) return "identical to the last bit";
  const double relative = verdict.largest_difference / last_output(verdict);
  return "identical to " + std::to_string(static_cast<int>(-std::log10(relative))) + " digits";
}

std::optional<Experiment> order_experiment(const ReportText& text) {
  if (!text.swap) return {};
  const std::vector<std::string> other = swapped(text.tokens, *text.swap);
  Experiment made;
  made.without = compare_order(text.tokens, other, report_model("none"));
  made.with = compare_order(text.tokens, other, report_model("sinusoidal"));
  made.shown = made.without.same && !made.with.same;
  made.verdict = "The output of the last token for the two orders: without positions " +
                 apart(made.without) + ", with positions " + apart(made.with) +
                 " in the channel that differs most, of " +
                 std::to_string(made.with.first.output.size(1)) + " channels with values up to " +
                 significant(last_output(made.with), 2) + ".";
  return made;
}

void report_order(ReportPage& page, const ReportText& text, Json& numbers) {
  const std::optional<Experiment> made = order_experiment(text);
  if (!made) {
    page.section("Order matters");
    page.paragraph("There are no two different words to swap before the last token of the text.");
    return;
  }
  page.insert("<p class=\"other\"><span>the same words with two of them swapped</span> " +
              marked(text) + "</p>\n");
  page.section("Order matters");
  page.paragraph(
      "One layer of causal attention reads both sentences: each word attends to itself and to the "
      "words before it. The tables show how much the last token attends to each word. Without "
      "positions, the output of one layer for the last token cannot depend on the order.");
  const auto without = weighed_words(text, made->without), with = weighed_words(text, made->with);
  const double full = std::max(largest_weight(without), largest_weight(with));
  page.insert("<div class=\"two\">\n");
  page.insert(bars("without positions", without, full,
                   "Output of the last token: " + apart(made->without) + "."));
  page.insert(
      bars("with positions", with, full, "Output of the last token: " + apart(made->with) + "."));
  page.insert("</div>\n");
  page.verdict(made->shown,
               made->verdict + (made->shown ? " In one layer, the last token's output shows the "
                                              "order only with positions."
                                            : " These sentences do not show the effect."));
  page.paragraph(
      "Weights of the last token, '" + text.tokens.back() + "', mean of four heads; " +
      random_weights() +
      ". A word's query says what it looks for, its key what it offers, its value what it passes "
      "on; each head computes its own three. A weight is computed from a query and a key, and the "
      "output is the sum of the values times their weights. Neither step uses the place of a word, "
      "and a sum does not depend on the order of its terms. A row shows both weights of one word, "
      "in bold where the printed digits differ." +
      (text.stop_added ? " (A full stop was added, so that the last token is not a word.)" : ""));
  numbers["order"] = {{"first", sentence_of(text.tokens)},
                      {"second", sentence_of(swapped(text.tokens, *text.swap))}};
  two_layers(page, text, numbers);
  page.contents();
}

}  // namespace sextant::figures

// The fourth section computes one weight and one channel of the output by hand.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/lessons/attention_steps.h"

namespace sextant::figures {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Order = std::vector<std::size_t>;  // indices of words, the largest weight first

constexpr std::size_t kMostWords = 6;  // in a table; the others share one row
constexpr int kDecimals = 4;

// The last word of the text, head 0 and sinusoidal positions.
struct Row {
  AttentionSteps steps;
  std::int64_t query;
  double at(AttentionStep step, std::int64_t row, std::int64_t column) const {
    return steps[step](0, row, column);
  }
  double weight(std::size_t key) const {
    return at(AttentionStep::weights, query, static_cast<std::int64_t>(key));
  }
  double power(std::size_t key) const {
    return std::exp(at(AttentionStep::biased, query, static_cast<std::int64_t>(key)));
  }
  std::string word(std::size_t key) const { return steps.keys[key]; }
};

void products(ReportPage& page, const Row& row, std::int64_t key) {
  const std::int64_t channels = row.steps[AttentionStep::q].size(2);
  Rows table = {{"channel", "q", "k", "q × k"}};
  double sum = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    const double q = row.at(AttentionStep::q, row.query, c), k = row.at(AttentionStep::k, key, c);
    sum += q * k;
    table.push_back(
        {std::to_string(c), fixed(q, kDecimals), fixed(k, kDecimals), fixed(q * k, kDecimals)});
  }
  table.push_back({"sum", "", "", fixed(sum, kDecimals)});
  page.table(table);
  page.paragraph("The score is the sum divided by the square root of " + std::to_string(channels) +
                 ", " + fixed(row.at(AttentionStep::scores, row.query, key), kDecimals) +
                 ". The softmax turns it and the scores of the other words into weights. Places "
                 "are in brackets:");
}

void shares(ReportPage& page, const Row& row, const Order& order) {
  Rows table = {{"word", "score", "e^score", "weight"}};
  double powers = 0, rest_powers = 0, rest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t key = order[i];
    powers += row.power(key);
    if (i >= kMostWords) {
      rest_powers += row.power(key);
      rest += row.weight(key);
      continue;
    }
    table.push_back(
        {row.word(key) + " (" + std::to_string(key) + ")",
         fixed(row.at(AttentionStep::biased, row.query, static_cast<std::int64_t>(key)), kDecimals),
         fixed(row.power(key), kDecimals), fixed(row.weight(key), kDecimals)});
  }
  if (order.size() > kMostWords) {
    table.push_back({std::to_string(order.size() - kMostWords) + " other words", "",
                     fixed(rest_powers, kDecimals), fixed(rest, kDecimals)});
  }
  table.push_back({"sum", "", fixed(powers, kDecimals), "1"});
  page.table(table);
}

// Shows how channel 0 of the sum of values is computed.
void mixture(ReportPage& page, const Row& row, const Order& order) {
  std::string terms;
  double rest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double v = row.at(AttentionStep::v, static_cast<std::int64_t>(order[i]), 0);
    if (i >= 3) {
      rest += row.weight(order[i]) * v;
      continue;
    }
    terms += (i > 0 ? " + " : "") + fixed(row.weight(order[i]), kDecimals) + " × (" +
             fixed(v, kDecimals) + ")";
  }
  if (order.size() > 3) terms += " + (" + fixed(rest, kDecimals) + ") of the other words";
  page.paragraph("Channel 0 of the weighted sum, the largest weights first: " + terms + " = " +
                 fixed(row.at(AttentionStep::mixed, row.query, 0), kDecimals) + ".");
}

}  // namespace

void report_one_weight(ReportPage& page, const ReportText& text, Json& numbers) {
  const Row row{attention_steps(text.tokens, {}, report_model("sinusoidal")),
                static_cast<std::int64_t>(text.tokens.size()) - 1};
  Order order(text.tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return row.weight(a) > row.weight(b); });
  const auto key = static_cast<std::int64_t>(order.front());
  page.section("One weight by hand");
  page.paragraph(lesson_text("projections", "says") + " " + lesson_text("projections", "more"));
  page.paragraph(lesson_text("weight", "says"));
  page.paragraph("The last word, '" + row.steps.queries.back() + "', attends most to '" +
                 row.word(order.front()) + "', place " + std::to_string(key) +
                 ", in head 0 with sinusoidal positions (" + random_weights() +
                 "). The table has its query q, the key k of that word, and their products:");
  products(page, row, key);
  shares(page, row, order);
  page.paragraph(lesson_text("weight", "more"));
  page.paragraph(lesson_text("output", "says"));
  mixture(page, row, order);
  page.paragraph(lesson_text("output", "more"));
  page.paragraph("This command prints all numbers, down to the matrices:");
  page.code("sextant attend \"" + sentence_of(text.tokens) + "\" --step all --json");
  numbers["one_weight"] = {{"query", row.query},
                           {"key", key},
                           {"score", row.at(AttentionStep::scores, row.query, key)},
                           {"weight", row.weight(order.front())},
                           {"mixed", row.at(AttentionStep::mixed, row.query, 0)}};
}

}  // namespace sextant::figures

// The second section shows how each word gets the vector of its place.
#include <algorithm>
#include <set>

#include "core/text/strings.h"
#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/lessons/similarity.h"
#include "sextant/pictures/charts.h"
#include "sextant/text/segment.h"
#include "sextant/text/vocabulary.h"

namespace sextant::figures {
namespace {

std::string number_and_word(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Adds the tokens, their places and numbers, in a folded part.
void token_table(ReportPage& page, const ReportText& text, Json& numbers) {
  std::vector<std::string> sentences;
  std::set<std::string> different;
  for (const auto& words : text.words.sentences) {
    sentences.push_back(joined(words, " "));
    different.insert(words.begin(), words.end());
  }
  Vocabulary vocabulary = Vocabulary::from_sentences(sentences);
  page.fold("The tokens and their numbers");
  page.paragraph(
      number_and_word(text.words.sentences.size(), "sentence") + ", " +
      number_and_word(static_cast<std::size_t>(text.words.word_count()), "token") + ", " +
      std::to_string(different.size()) +
      " of them different. Tokens are Unicode words and punctuation marks in lower case. The "
      "number of a token is its place in the sorted vocabulary, which has one more entry, OOV, for "
      "unknown words.");
  std::vector<std::vector<std::string>> rows = {{"position", "token", "number"}};
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    rows.push_back(
        {std::to_string(i), text.tokens[i], std::to_string(vocabulary.index(text.tokens[i]))});
  }
  page.insert("<div class=\"columns\">\n");
  page.table(rows);
  page.insert("</div>\n");
  page.unfold();
  numbers["tokens"] = text.tokens;
  numbers["indices"] = vocabulary.indices(text.tokens);
  numbers["vocabulary_size"] = vocabulary.size();
}

// The two places of a repeated word, if there is one.
std::optional<Swap> repeated(const std::vector<std::string>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto again =
        std::find(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1, tokens.end(), tokens[i]);
    if (again != tokens.end()) return Swap{i, static_cast<std::size_t>(again - tokens.begin())};
  }
  return {};
}

std::string caption_of(const ReportText& text, const SentenceAttention& made) {
  std::string caption =
      "Each row shows the first 32 of 64 numbers of a word: its vector (random here, not "
      "learned), its address, and their sum, which is the input of attention.";
  if (const auto twice = repeated(text.tokens)) {
    const auto row = [](const Tensor<double>& rows, std::size_t i) {
      return rows.view().select(0, static_cast<std::int64_t>(i));
    };
    caption +=
        " '" + text.tokens[twice->first] + "' is at places " + std::to_string(twice->first) +
        " and " + std::to_string(twice->second) + ": the vector is the same (cosine similarity " +
        fixed(cosine_similarity(row(made.words, twice->first), row(made.words, twice->second)), 2) +
        "), the sums differ (" +
        fixed(cosine_similarity(row(made.inputs, twice->first), row(made.inputs, twice->second)),
              2) +
        ").";
  }
  return caption;
}

}  // namespace

void report_addresses(ReportPage& page, const ReportText& text, Json& numbers) {
  page.section("Give each word an address");
  page.paragraph(lesson_text("numbers", "says"));
  page.paragraph(
      "Attention cannot see the order of the words, but the vectors can contain it: a second "
      "vector that depends only on the place is added to the vector of every word. The same word "
      "in two places then gives two different inputs.");
  if (text.cut) {
    page.paragraph("The pictures show the first " + std::to_string(kMaxShownTokens) +
                   " tokens of the first sentence, which is longer.");
  } else if (text.first_sentences != static_cast<std::int64_t>(text.words.sentences.size())) {
    page.paragraph("The pictures show the first " +
                   number_and_word(static_cast<std::size_t>(text.first_sentences), "sentence") +
                   " (" + number_and_word(text.tokens.size(), "token") + ").");
  }
  const SentenceAttention made = attend_sentences(text.tokens, {}, report_model("sinusoidal"));
  // The slower columns hardly change over a text.
  constexpr std::int64_t kColumns = 32;
  Tensor<double> panels({3, made.words.size(0), kColumns});
  for (std::int64_t row = 0; row < made.words.size(0); ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      panels(0, row, column) = made.words(row, column);
      panels(1, row, column) = made.inputs(row, column) - made.words(row, column);
      panels(2, row, column) = made.inputs(row, column);
    }
  }
  const HeatmapPanels chart{.values = std::as_const(panels).view(),
                            .titles = {"the word", "+ its address", "= input of attention"},
                            .title = "The same word in two places gives two inputs",
                            .x_label = "Dimension",
                            .y_label = "",
                            .color_label = "Value",
                            .map = ColorMap::diverging,
                            .row_labels = text.tokens};
  page.chart(chart, caption_of(text, made));
  token_table(page, text, numbers);
}

}  // namespace sextant::figures

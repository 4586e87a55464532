// Compares two words with and without positions, and shows attention without learned weights.
#include <algorithm>
#include <map>
#include <set>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/core/random.h"
#include "sextant/lessons/similarity.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

std::string caption_of(const ReportText& text) {
  const std::set<std::string> different(text.tokens.begin(), text.tokens.end());
  return different.size() < text.tokens.size()
             ? "A dark cell off the diagonal is the same word at another place."
             : "No word occurs twice, so only the diagonal is dark.";
}

void plain_attention(ReportPage& page, const ReportText& text) {
  page.paragraph(
      "The map shows softmax(x x^T / sqrt(width)) with one random vector of width 64 per word, "
      "without projections and without positions. A word is most similar to itself, so it attends "
      "to itself, and equally to its repetitions.");
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
  page.chart(map, caption_of(text));
}

}  // namespace

void report_similarity(ReportPage& page, const ReportText& text, Json& numbers) {
  page.fold("Two words with and without their positions");
  if (text.pair.first.empty()) {
    page.paragraph("The text has no two different words to compare.");
    page.unfold();
    return;
  }
  const WordVectors vectors = WordVectors::train(text.training.sentences);
  const auto& [first, second] = text.pair;
  const auto [at_first, at_second] = text.training.places(first, second, "report.words");
  const bool whole = text.training.word_count() == text.words.word_count();
  const bool cut = std::ranges::any_of(text.words.sentences, [](const auto& sentence) {
    return sentence.size() > kMaxTrainingWords;
  });
  page.paragraph(
      "Skip-gram vectors of width " + std::to_string(vectors.width()) + " trained on " +
      (whole ? "this text" : std::to_string(text.training.word_count()) + " tokens of this text") +
      ": the table has the cosine similarity of '" + first + "' at position " +
      std::to_string(at_first) + " and '" + second + "' at position " + std::to_string(at_second) +
      ". The last column is for sqrt(width) * word + position, the input of the encoder. A short "
      "text teaches the vectors little: they stay near their random initial values, which are "
      "small, so the last column is close to that of the position." +
      (cut ? " A sentence of more than " + std::to_string(kMaxTrainingWords) +
                 " tokens is split, and each part has positions from 0."
           : ""));
  Sinusoidal options;
  options.width = vectors.width();
  std::vector<std::vector<std::string>> rows = {{"exponent", "word", "position", "both"}};
  for (const Exponent exponent : {Exponent::standard, Exponent::doubled}) {
    options.exponent = exponent;
    const auto alike = mixed_similarity(vectors, first, second, at_first, at_second, options);
    rows.push_back({std::string(name_of(exponent)), significant(alike.word, 6),
                    significant(alike.position, 6), significant(alike.both, 6)});
    numbers["similarity"][std::string(name_of(exponent))] = {
        {"word", alike.word}, {"position", alike.position}, {"both", alike.both}};
  }
  numbers["similarity"]["words"] = {first, second};
  numbers["similarity"]["positions"] = {at_first, at_second};
  page.table(rows);
  plain_attention(page, text);
  page.unfold();
}

}  // namespace sextant::figures

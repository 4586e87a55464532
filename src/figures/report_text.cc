// The report's text: tokens, vocabulary, and how alike two of its words are.
#include <algorithm>
#include <set>

#include "figures/report_parts.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/lessons/similarity.h"
#include "sextant/text/segment.h"
#include "sextant/text/vocabulary.h"

namespace sextant::figures {
namespace {

constexpr std::size_t kMaxTrainingWords = 20000;  // keeps the training of word vectors to seconds
constexpr std::int64_t kMaxTextShown = 600;       // characters

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool is_word(const std::string& token) { return visible_length(token) > 1; }

bool contains(const std::vector<std::string>& tokens, const std::string& word) {
  return std::find(tokens.begin(), tokens.end(), word) != tokens.end();
}

// The two longest words before the last token, the earlier one where two are as long.
std::pair<std::string, std::string> longest_pair(const std::vector<std::string>& tokens) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (is_word(tokens[i]) && !contains(words, tokens[i])) words.push_back(tokens[i]);
  }
  if (words.size() < 2) return {};
  std::vector<std::string> by_length = words;
  std::stable_sort(by_length.begin(), by_length.end(), [](const auto& a, const auto& b) {
    return visible_length(a) > visible_length(b);
  });
  const auto place = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word);
  };
  if (place(by_length[1]) < place(by_length[0])) std::swap(by_length[0], by_length[1]);
  return {by_length[0], by_length[1]};
}

// Lower-cased, as the text is.
std::pair<std::string, std::string> named_pair(const std::pair<std::string, std::string>& words,
                                               const WordText& text) {
  for (const std::string& word : {words.first, words.second}) check_utf8(word, "report.words");
  const std::pair<std::string, std::string> pair = {lower_case(words.first),
                                                    lower_case(words.second)};
  for (const std::string& word : {pair.first, pair.second}) {
    const auto has = [&](const auto& sentence) { return contains(sentence, word); };
    if (std::none_of(text.sentences.begin(), text.sentences.end(), has)) {
      throw Error("report.words", "must be words of the text, which '" + word + "' is not");
    }
  }
  if (pair.first == pair.second) throw Error("report.words", "must be two different words");
  return pair;
}

// A sentence without an end counts as several.
std::vector<std::vector<std::string>> pieces_of(const std::vector<std::string>& sentence) {
  std::vector<std::vector<std::string>> pieces;
  for (std::size_t at = 0; at < sentence.size(); at += kMaxTrainingWords) {
    const auto begin = sentence.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t count = std::min(kMaxTrainingWords, sentence.size() - at);
    pieces.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return pieces;
}

// The first sentences of `text`, up to kMaxTrainingWords, and the first one with each of the pair.
WordText training_text(const WordText& text, const std::pair<std::string, std::string>& pair) {
  WordText training;
  std::size_t count = 0;
  bool full = false;
  bool has_first = false;
  bool has_second = false;
  const auto take = [&](const std::vector<std::string>& sentence) {
    full = full || (count > 0 && count + sentence.size() > kMaxTrainingWords);
    const bool news = (!has_first && contains(sentence, pair.first)) ||
                      (!has_second && contains(sentence, pair.second));
    if (full && !news) return;
    has_first = has_first || contains(sentence, pair.first);
    has_second = has_second || contains(sentence, pair.second);
    training.sentences.push_back(sentence);
    count += sentence.size();
  };
  for (const auto& sentence : text.sentences) {
    if (full && has_first && has_second) break;
    for (const auto& piece : pieces_of(sentence)) take(piece);
  }
  return training;
}

}  // namespace

ReportText read_report_text(const std::string& text,
                            const std::optional<std::pair<std::string, std::string>>& pair) {
  ReportText result;
  result.text = text;
  result.words = WordText::parse(text, "report.text");
  for (const auto& sentence : result.words.sentences) {
    const auto room = static_cast<std::size_t>(kMaxShownTokens) - result.tokens.size();
    if (sentence.size() > room) {
      if (!result.tokens.empty()) break;
      result.cut = true;
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min(room, sentence.size()));
    result.tokens.insert(result.tokens.end(), sentence.begin(), sentence.begin() + count);
    check_tokens(result.tokens, "report.text");
    ++result.first_sentences;
  }
  result.swapped = longest_pair(result.tokens);
  result.pair = pair ? named_pair(*pair, result.words) : result.swapped;
  if (contains(result.tokens, result.pair.first) && contains(result.tokens, result.pair.second)) {
    result.swapped = result.pair;
  }
  result.training = training_text(result.words, result.pair);
  return result;
}

void report_text(Page& page, const ReportText& text, Json& numbers) {
  std::vector<std::string> sentences;
  std::set<std::string> different;
  for (const auto& words : text.words.sentences) {
    std::string sentence;
    for (const std::string& word : words) sentence += (sentence.empty() ? "" : " ") + word;
    sentences.push_back(sentence);
    different.insert(words.begin(), words.end());
  }
  const Vocabulary vocabulary = Vocabulary::from_sentences(sentences);

  page.section("The text and its tokens");
  std::string line;  // line breaks are spaces
  for (const std::string& word : split_spaces(text.text)) line += (line.empty() ? "" : " ") + word;
  page.paragraph(shorten(line, kMaxTextShown));
  page.paragraph(counted(text.words.sentences.size(), "sentence") + ", " +
                 counted(static_cast<std::size_t>(text.words.word_count()), "token") + ", " +
                 std::to_string(different.size()) +
                 " of them different. Tokens are Unicode words and punctuation marks, lower-cased; "
                 "their numbers are indices in the sorted vocabulary, which has one more entry, "
                 "OOV, for unknown words.");
  const bool all = text.first_sentences == static_cast<std::int64_t>(text.words.sentences.size());
  if (text.cut) {
    page.paragraph("The pictures below show the first " + std::to_string(kMaxShownTokens) +
                   " tokens of the first sentence, which is longer.");
  } else if (!all) {
    page.paragraph("The pictures below show the first " +
                   counted(static_cast<std::size_t>(text.first_sentences), "sentence") + " (" +
                   counted(text.tokens.size(), "token") + ").");
  }
  std::vector<std::vector<std::string>> rows = {{"position"}, {"token"}, {"number"}};
  // Tables of the same length, each at most as wide as the page.
  constexpr std::size_t kMaxColumns = 12;
  const std::size_t tables = (text.tokens.size() + kMaxColumns - 1) / kMaxColumns;
  const std::size_t columns = (text.tokens.size() + tables - 1) / tables;

  const auto flush = [&] {
    if (rows[0].size() > 1) page.table(rows);
    rows = {{"position"}, {"token"}, {"number"}};
  };
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    rows[0].push_back(std::to_string(i));
    rows[1].push_back(text.tokens[i]);
    rows[2].push_back(std::to_string(vocabulary.index(text.tokens[i])));
    if (rows[0].size() > columns) flush();
  }
  flush();
  numbers["tokens"] = text.tokens;
  numbers["indices"] = vocabulary.indices(text.tokens);
  numbers["vocabulary_size"] = vocabulary.size();
}

void report_similarity(Page& page, const ReportText& text, Json& numbers) {
  page.section("Two words, with and without their positions");
  if (text.pair.first.empty()) {
    page.paragraph("The text has no two different words to compare.");
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
      ", cosine similarity of '" + first + "' at position " + std::to_string(at_first) + " and '" +
      second + "' at position " + std::to_string(at_second) +
      ". Both is sqrt(width) * word + position, as the encoder sees it. Little is learned from a "
      "short text: its vectors stay close to their common initial values." +
      (cut ? " A sentence of more than " + std::to_string(kMaxTrainingWords) +
                 " tokens counts as several, positions in each from 0."
           : ""));
  Sinusoidal options;
  options.width = vectors.width();
  std::vector<std::vector<std::string>> rows = {{"exponent", "word", "position", "both"}};
  for (const Exponent exponent : {Exponent::standard, Exponent::doubled}) {
    options.exponent = exponent;
    const auto alike = mixed_similarity(vectors, first, second, at_first, at_second, options);
    rows.push_back({std::string(name_of(exponent)), shortest(alike.word), shortest(alike.position),
                    shortest(alike.both)});
    numbers["similarity"][std::string(name_of(exponent))] = {
        {"word", alike.word}, {"position", alike.position}, {"both", alike.both}};
  }
  numbers["similarity"]["words"] = {first, second};
  numbers["similarity"]["positions"] = {at_first, at_second};
  page.table(rows);
}

}  // namespace sextant::figures

// Reads the report's text: the tokens to draw, the words to swap and the text that trains vectors.
#include <algorithm>

#include "core/text/strings.h"
#include "figures/report/parts.h"
#include "sextant/core/error.h"
#include "sextant/figures/attention_maps.h"
#include "sextant/text/segment.h"

namespace sextant::figures {
namespace {

bool contains(const std::vector<std::string>& tokens, const std::string& word) {
  return std::find(tokens.begin(), tokens.end(), word) != tokens.end();
}

// Lower-cased, as the text is.
std::pair<std::string, std::string> named_pair(const std::pair<std::string, std::string>& words,
                                               const WordText& text) {
  for (const std::string& word : {words.first, words.second}) check_utf8(word, "report.words");
  std::pair<std::string, std::string> pair = {lower_case(words.first), lower_case(words.second)};
  for (const std::string& word : {pair.first, pair.second}) {
    const auto has = [&](const auto& sentence) { return contains(sentence, word); };
    if (std::none_of(text.sentences.begin(), text.sentences.end(), has)) {
      throw Error("report.words", "must be words of the text, which '" + word + "' is not");
    }
  }
  if (pair.first == pair.second) throw Error("report.words", "must be two different words");
  return pair;
}

// Splits a sentence that is too long into several.
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
  if (is_word(result.tokens.back())) {
    result.tokens.emplace_back(".");
    result.stop_added = true;
  }
  result.swap = natural_swap(result.tokens);
  if (pair) {
    result.pair = named_pair(*pair, result.words);
    const auto named = swap_of(result.tokens, result.pair.first, result.pair.second);
    if (named) result.swap = named;
  } else if (result.swap) {
    result.pair = {result.tokens[result.swap->first], result.tokens[result.swap->second]};
  }
  result.training = training_text(result.words, result.pair);
  return result;
}

std::string heading_of(const ReportText& text) {
  // Line breaks are spaces.
  return shorten(joined(split_spaces(text.text), " "), kMaxTextShown);
}

}  // namespace sextant::figures

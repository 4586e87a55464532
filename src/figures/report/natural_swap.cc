// Finds nouns by the words around them: a noun ends a run of words that began after an article.
#include "figures/report/natural_swap.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "sextant/text/segment.h"

namespace sextant::figures {
namespace {

using Words = std::set<std::string_view>;

const Words kArticles = {"the", "a",     "an",   "my",   "your",  "his",   "her",   "its",
                         "our", "their", "this", "that", "these", "those", "every", "each"};
const Words kFunctionWords = {
    "and",   "or",    "but",   "on",     "in",      "at",      "of",     "to",    "with", "from",
    "by",    "for",   "over",  "under",  "into",    "onto",    "about",  "after", "near", "before",
    "as",    "than",  "then",  "when",   "while",   "because", "if",     "so",    "not",  "who",
    "which", "where", "there", "behind", "between", "through", "around", "up",    "down", "off"};
// Past tenses and auxiliaries that cannot be recognised by their endings.
const Words kVerbs = {"is",    "are",   "was",   "were",  "has",    "have",   "had",   "does",
                      "did",   "will",  "would", "can",   "could",  "may",    "must",  "should",
                      "sat",   "slept", "ran",   "ate",   "saw",    "bit",    "gave",  "took",
                      "made",  "said",  "went",  "came",  "met",    "told",   "fell",  "found",
                      "won",   "lost",  "kept",  "held",  "sees",   "bites",  "gives", "likes",
                      "loves", "ate",   "stood", "drank", "fed",    "wrote",  "read",  "sang",
                      "flew",  "threw", "hit",   "beat",  "taught", "thought"};

bool among(const Words& words, const std::string& token) { return words.contains(token); }

// True for a word that may end the run after an article: "jumps", "chased", "sat".
bool is_verb(const std::string& token) {
  return among(kVerbs, token) || token.ends_with("ed") ||
         (token.ends_with("s") && !token.ends_with("ss"));
}

bool is_content(const std::string& token) {
  return is_word(token) && !among(kArticles, token) && !among(kFunctionWords, token);
}

// The noun of the run of content words that begins at `begin`: its last word, or the one before a
// verb that is not its first.
std::size_t noun_of(const std::vector<std::string>& tokens, std::size_t begin) {
  std::size_t at = begin;
  while (at + 1 < tokens.size() && is_content(tokens[at + 1]) && !is_verb(tokens[at + 1])) ++at;
  return at;
}

// The kind of word after a word: nouns before the same kind probably have the same role.
int follower(const std::vector<std::string>& tokens, std::size_t at) {
  if (at + 1 >= tokens.size() || !is_word(tokens[at + 1])) return 0;
  return is_verb(tokens[at + 1]) ? 2 : 1;
}

std::optional<Swap> two_nouns(const std::vector<std::string>& tokens) {
  std::vector<std::size_t> nouns;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!among(kArticles, tokens[i]) || !is_content(tokens[i + 1])) continue;
    const std::size_t noun = noun_of(tokens, i + 1);
    if (noun + 1 < tokens.size()) nouns.push_back(noun);
  }
  std::optional<Swap> best;
  int best_score = -1;
  for (std::size_t i = 0; i < nouns.size(); ++i) {
    for (std::size_t j = i + 1; j < nouns.size(); ++j) {
      if (tokens[nouns[i]] == tokens[nouns[j]]) continue;
      const int before = follower(tokens, nouns[i]), after = follower(tokens, nouns[j]);
      // Two subjects are best, then a subject and an object, then any two.
      const int score = before == 2 && after == 2 ? 2 : (before == 2 || before == after ? 1 : 0);
      if (score > best_score) {
        best = Swap{nouns[i], nouns[j]};
        best_score = score;
      }
    }
  }
  return best;
}

// Finds names and nouns without an article on both sides of one verb: "dog bites man ."
std::optional<Swap> around_a_verb(const std::vector<std::string>& tokens) {
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    const bool verb = is_verb(tokens[i]) && !is_word(tokens[i + 2]);
    if (verb && is_content(tokens[i - 1]) && is_content(tokens[i + 1]) &&
        tokens[i - 1] != tokens[i + 1]) {
      return Swap{i - 1, i + 1};
    }
  }
  return {};
}

std::optional<Swap> two_longest(const std::vector<std::string>& tokens,
                                bool (*counts)(const std::string&)) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const auto same = [&](std::size_t other) { return tokens[other] == tokens[i]; };
    if (counts(tokens[i]) && std::ranges::none_of(places, same)) places.push_back(i);
  }
  if (places.size() < 2) return {};
  std::ranges::stable_sort(places, std::greater<>(),
                           [&](std::size_t at) { return visible_length(tokens[at]); });
  return Swap{std::min(places[0], places[1]), std::max(places[0], places[1])};
}

}  // namespace

bool is_word(const std::string& token) {
  // Letters and digits of ASCII, and all characters of other scripts; the rest of ASCII are marks.
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  static const Words marks = {"…",  "–",  "—",  "“",  "”",  "‘",  "’", "«", "»", "。", "、", "，",
                              "？", "！", "；", "：", "「", "」", "¿", "¡", "·", "،",  "؟",  "।"};
  return std::ranges::any_of(token, letter) && !marks.contains(token);
}

std::optional<Swap> natural_swap(const std::vector<std::string>& tokens) {
  if (const auto nouns = two_nouns(tokens)) return nouns;
  if (const auto names = around_a_verb(tokens)) return names;
  if (const auto content = two_longest(tokens, is_content)) return content;
  return two_longest(tokens, is_word);
}

std::optional<Swap> swap_of(const std::vector<std::string>& tokens, const std::string& first,
                            const std::string& second) {
  if (tokens.empty() || first == second) return {};
  const auto last = tokens.end() - 1;
  const auto a = std::find(tokens.begin(), last, first),
             b = std::find(tokens.begin(), last, second);
  if (a == last || b == last) return {};
  const auto place = [&](auto at) { return static_cast<std::size_t>(at - tokens.begin()); };
  return Swap{std::min(place(a), place(b)), std::max(place(a), place(b))};
}

std::vector<std::string> swapped(std::vector<std::string> tokens, const Swap& swap) {
  std::swap(tokens[swap.first], tokens[swap.second]);
  return tokens;
}

std::string sentence_of(const std::vector<std::string>& tokens) {
  static const Words closing = {".", ",", ";", ":",  "!",  "?",  ")",  "]",  "}", "…", "”",
                                "»", "’", "%", "。", "、", "，", "？", "！", "؟", "،", "।"};
  static const Words opening = {"(", "[", "{", "“", "«", "‘", "¿", "¡"};
  std::string text;
  bool tight = true;
  for (const std::string& token : tokens) {
    if (!tight && !closing.contains(token)) text += " ";
    text += token;
    tight = opening.contains(token);
  }
  return text;
}

}  // namespace sextant::figures

// Scores a trained model on a text, or on pairs of sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/text_windows.h"
#include "sextant/models/translate_lines.h"
#include "sextant/text/pairs.h"
#include "sextant/training/tasks/bleu.h"

namespace sextant {

// The score of a causal model on a text.
struct TextScore {
  std::int64_t tokens = 0, unknown = 0, characters = 0;  // counts of the text
  struct Windows {
    std::int64_t length = 0, stride = 0;
    double perplexity = 0;  // per token
    double bits_per_character = 0;
    double correct_percent = 0;  // tokens that were the most probable ones
  };
  std::vector<Windows> windows;  // windows without overlap; then sliding ones, if requested
};
// Scores every token except the first once, in windows without overlap and, if windows.stride is
// less than their length, in sliding ones too. Throws an Error with `where` for a text of fewer
// than two tokens, and as text_loss().
TextScore evaluate(const TextModel& model, std::string_view text, const TextWindows& windows = {},
                   std::string_view where = "evaluate.text");

// The score of translations.
struct PairScore {
  std::vector<std::string> translations;
  Bleu bleu;               // of the translations, as sacreBLEU computes it (13a, cased)
  double source_bleu = 0;  // BLEU of the sources themselves
  double exact_percent = 0;
  double perplexity = 0;              // per token of the references, with their ends
  std::int64_t reference_tokens = 0;  // with their ends
  std::int64_t unknown_tokens = 0;    // unknown tokens of the references
  double seconds = 0;                 // time of the translations
  double tokens_per_second = 0;
};
// doing: "reading" references or "translated" lines; the number done and the number of all.
using EvaluationObserver =
    std::function<void(std::string_view doing, std::size_t done, std::size_t all)>;
// Translates the first side of every pair and compares the result with the second. Throws an Error
// with `where` and the pair for lines that are too long.
PairScore evaluate(const LineTranslator& translator, const SentencePairs& pairs,
                   const TranslateOptions& options = {}, const EvaluationObserver& observer = {},
                   std::string_view where = "evaluate.pairs");

// The share of translations that are exactly right.
struct ExactMatch {
  std::int64_t right = 0, count = 0;
  struct Miss {
    std::string source, wanted, got;
  };
  std::vector<Miss> misses;  // the first few
  double share() const { return static_cast<double>(right) / static_cast<double>(count); }
};
// Checks greedy translations.
ExactMatch exact_match(const TextTranslator& model, const SentencePairs& pairs, int threads = 0);

}  // namespace sextant

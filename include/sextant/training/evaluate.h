// How good a trained model is: on a text, or on pairs of sentences.
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

// How well a causal model predicts a text.
struct TextScore {
  std::int64_t tokens = 0, unknown = 0, characters = 0;  // of the text
  struct Windows {
    std::int64_t length = 0, stride = 0;
    double perplexity = 0;  // per token
    double bits_per_character = 0;
    double correct_percent = 0;  // tokens that were the most probable ones
  };
  std::vector<Windows> windows;  // those that do not overlap; then sliding ones, if asked for
};
// Every token but the first is scored once, in windows side by side and, where windows.stride is
// less than their length, in sliding ones too. Throws Error naming `where` for a text of fewer than
// two tokens, and as text_loss().
TextScore evaluate(const TextModel& model, std::string_view text, const TextWindows& windows = {},
                   std::string_view where = "evaluate.text");

// How good translations are.
struct PairScore {
  std::vector<std::string> translations;
  Bleu bleu;               // of the translations, as sacreBLEU computes it (13a, cased)
  double source_bleu = 0;  // of the sources as they are
  double exact_percent = 0;
  double perplexity = 0;              // per token of the references, their ends included
  std::int64_t reference_tokens = 0;  // with their ends
  std::int64_t unknown_tokens = 0;    // of the references
  double seconds = 0;                 // that the translations took
  double tokens_per_second = 0;
};
// doing: "reading" references or "translated" lines; how many of how many.
using EvaluationObserver =
    std::function<void(std::string_view doing, std::size_t done, std::size_t all)>;
// Translates the first side of every pair and compares the result with the second. Throws Error
// naming `where` and the pair for lines that are too long.
PairScore evaluate(const LineTranslator& translator, const SentencePairs& pairs,
                   const TranslateOptions& options = {}, const EvaluationObserver& observer = {},
                   std::string_view where = "evaluate.pairs");

// How often translations are exactly right.
struct ExactMatch {
  std::int64_t right = 0, count = 0;
  struct Miss {
    std::string source, wanted, got;
  };
  std::vector<Miss> misses;  // the first few
  double share() const { return static_cast<double>(right) / static_cast<double>(count); }
};
// Of greedy translations.
ExactMatch exact_match(const TextTranslator& model, const SentencePairs& pairs, int threads = 0);

}  // namespace sextant

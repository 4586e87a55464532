// The sections of the report, each from the text to a part of the page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json_text.h"
#include "figures/report/natural_swap.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/pictures/page.h"
#include "sextant/text/word_text.h"

namespace sextant::figures {

struct ReportText {
  std::string text;                  // as given
  WordText words;                    // all of it, lower-cased
  std::vector<std::string> tokens;   // the first sentences, as many as fit the pictures
  std::int64_t first_sentences = 0;  // how many those are
  bool cut = false;                  // the first sentence alone was too long
  bool stop_added = false;           // a full stop, so that the last token is no word to swap

  std::optional<Swap> swap;  // of `tokens`; none where there are no two words

  // The two words to compare, any of the text; those that are swapped unless others were named.
  std::pair<std::string, std::string> pair;
  // What their vectors are trained on: the first sentences, and those that the pair first stands
  // in.
  WordText training;
};

inline constexpr std::int64_t kMaxShownTokens = 72;  // what a picture has room for
inline constexpr std::int64_t kMaxTextShown = 300;   // characters of a heading

// What a sentence may have to be one for word vectors: keeps their training to seconds.
inline constexpr std::size_t kMaxTrainingWords = 20000;

// Without `pair` two words that are drawn are chosen. Throws Error for a text without a word and
// for a pair that is not in it.
ReportText read_report_text(const std::string& text,
                            const std::optional<std::pair<std::string, std::string>>& pair);
std::string heading_of(const ReportText& text);  // the text, shortened

// The model of the report: four heads, width 64, random weights of seed 7.
SentenceAttentionOptions report_model(const std::string& scheme, bool causal = false);
// Said wherever those weights are used.
std::string random_weights();

// Order matters: the last token's weights and output, for the text and for its words swapped.
struct Experiment {
  OrderVerdict without, with;  // no positions, and sinusoidal ones
  std::string verdict;         // in one sentence, with numbers
  bool shown = false;          // same without, different with
};
std::optional<Experiment> order_experiment(const ReportText& text);
std::string apart(const OrderVerdict& verdict);  // "identical to 16 digits", "0.058 apart"

// Each adds a section to the page and its numbers to `numbers`.
void report_order(Page& page, const ReportText& text, Json& numbers);
void report_addresses(Page& page, const ReportText& text, Json& numbers);
void report_clock_hands(Page& page, const ReportText& text, Json& numbers);
void report_one_weight(Page& page, const ReportText& text, Json& numbers);
void report_attention(Page& page, const ReportText& text, Json& numbers);
void report_rotation(Page& page, const ReportText& text, Json& numbers);
void report_trained(Page& page, Json& numbers);
// What folds away: all schemes, similarities, the doubled exponent, exactness.
void report_reference(Page& page, const ReportText& text, Json& numbers);
void report_schemes(Page& page, const ReportText& text, Json& numbers);
void report_similarity(Page& page, const ReportText& text, Json& numbers);
void report_doubled_exponent(Page& page, Json& numbers);
void report_exactness(Page& page, Json& numbers);

}  // namespace sextant::figures

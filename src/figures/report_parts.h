// The sections of the report, each from the text to a part of the page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "sextant/pictures/page.h"
#include "sextant/text/word_text.h"

namespace sextant::figures {

struct ReportText {
  std::string text;                  // as given
  WordText words;                    // all of it, lower-cased
  std::vector<std::string> tokens;   // the first sentences, as many as fit the pictures
  std::int64_t first_sentences = 0;  // how many those are
  bool cut = false;                  // the first sentence alone was too long

  // Two different words of `tokens` before the last one, in their order; empty when there are none.
  std::pair<std::string, std::string> swapped;
  bool has_swapped() const { return !swapped.first.empty(); }

  // The two words to compare, any of the text; those above unless others were named.
  std::pair<std::string, std::string> pair;
  // What their vectors are trained on: the first sentences, and those that the pair first stands
  // in.
  WordText training;
};

inline constexpr std::int64_t kMaxShownTokens = 60;  // what a picture has room for

// Without `pair` the two longest words that are drawn are taken. Throws Error for a text without a
// word and for a pair that is not in it.
ReportText read_report_text(const std::string& text,
                            const std::optional<std::pair<std::string, std::string>>& pair);

// Each adds sections to the page and its numbers to `numbers`.
void report_text(Page& page, const ReportText& text, Json& numbers);
void report_positions(Page& page, const ReportText& text);
void report_attention(Page& page, const ReportText& text, Json& numbers);
void report_order(Page& page, const ReportText& text, Json& numbers);
void report_similarity(Page& page, const ReportText& text, Json& numbers);
void report_plain_attention(Page& page, const ReportText& text);
void report_offsets(Page& page, Json& numbers);
void report_doubled_exponent(Page& page, Json& numbers);
void report_exactness(Page& page, Json& numbers);

}  // namespace sextant::figures

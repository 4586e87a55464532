// The sections of the report, each from the text to a part of the page.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/json_text.h"
#include "figures/report/natural_swap.h"
#include "sextant/figures/report.h"
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

// What the explorer's lesson says in a step ("order"): "says", "reason", "more". Throws Error for
// one that it does not have.
std::string lesson_text(const std::string& step, const std::string& part);

// How far apart the last token's outputs are for the two orders, without positions, as a part of
// their length: after one layer and after two, with a causal mask and without one.
struct LayersApart {
  std::array<double, 2> causal, unmasked;
};
LayersApart layers_apart(const ReportText& text);

// A page that hands on its pictures, as ReportOptions asks.
class ReportPage : public Page {
 public:
  ReportPage(const std::string& title, const ReportOptions& options)
      : Page(title), take_(options.picture) {}
  void section(std::string_view heading) {
    ++number_;
    heading_ = heading;
    Page::section(heading);
  }
  void picture(const Picture& picture, std::string_view caption) {
    if (take_) take_({number_, heading_, picture});
    Page::picture(picture, caption);
  }

 private:
  std::function<void(const ReportPicture&)> take_;
  int number_ = 0;
  std::string heading_;
};

// Each adds a section to the page and its numbers to `numbers`.
void report_order(ReportPage& page, const ReportText& text, Json& numbers);
void report_addresses(ReportPage& page, const ReportText& text, Json& numbers);
void report_clock_hands(ReportPage& page, const ReportText& text, Json& numbers);
void report_one_weight(ReportPage& page, const ReportText& text, Json& numbers);
void report_attention(ReportPage& page, const ReportText& text, Json& numbers);
void report_rotation(ReportPage& page, const ReportText& text, Json& numbers);
void report_trained(ReportPage& page, Json& numbers);
// What folds away: all schemes, similarities, the doubled exponent, exactness.
void report_reference(ReportPage& page, const ReportText& text, Json& numbers);
void report_schemes(ReportPage& page, const ReportText& text, Json& numbers);
void report_similarity(ReportPage& page, const ReportText& text, Json& numbers);
void report_doubled_exponent(ReportPage& page, Json& numbers);
void report_exactness(ReportPage& page, Json& numbers);

}  // namespace sextant::figures

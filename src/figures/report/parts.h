// Declares the sections of the report. Each turns the text into a part of the page.
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
  bool stop_added = false;  // a full stop was added, so that the last token is not a word to swap

  std::optional<Swap> swap;  // of `tokens`; none where there are no two words

  // The two words of the text to compare; by default the swapped ones.
  std::pair<std::string, std::string> pair;
  // The text that trains their vectors: the first sentences, and the first ones with each word.
  WordText training;
};

inline constexpr std::int64_t kMaxShownTokens = 72;  // the most that fit a picture
inline constexpr std::int64_t kMaxTextShown = 300;   // characters of a heading

// A longer sentence is split for word vectors, so that their training takes seconds.
inline constexpr std::size_t kMaxTrainingWords = 20000;

// Reads the text. Without `pair` it chooses two of the shown words. Throws Error for a text without
// a word and for a pair that is not in the text.
ReportText read_report_text(const std::string& text,
                            const std::optional<std::pair<std::string, std::string>>& pair);
std::string heading_of(const ReportText& text);  // returns the text, shortened

// Returns the model of the report: four heads, width 64, random weights of seed 7.
SentenceAttentionOptions report_model(const std::string& scheme, bool causal = false);
// Returns the note that every use of those weights has.
std::string random_weights();

// The last token's weights and output, for the text and for its swapped form.
struct Experiment {
  OrderVerdict without, with;  // no positions, and sinusoidal ones
  std::string verdict;         // one sentence with numbers
  bool shown = false;          // same without, different with
};
std::optional<Experiment> order_experiment(const ReportText& text);
std::string apart(const OrderVerdict& verdict);  // "identical to 16 digits", "0.058 apart"

// Returns the part "says", "reason" or "more" of a step ("order") of the explorer's lesson. Throws
// Error for an unknown step.
std::string lesson_text(const std::string& step, const std::string& part);

// The distance of the last token's outputs for the two orders, without positions, as a part of
// their length: after one layer and after two.
struct LayersApart {
  std::array<double, 2> causal, unmasked;
};
LayersApart layers_apart(const ReportText& text);

// A page that also passes its pictures to ReportOptions::picture.
class ReportPage : public Page {
 public:
  ReportPage(const std::string& title, const ReportOptions& options)
      : Page(title), take_(options.picture) {}
  void section(std::string_view heading) {
    ++number_;
    heading_ = heading;
    Page::section(heading);
  }
  void fold(std::string_view summary) {
    folded_ = true;
    Page::fold(summary);
  }
  void unfold() {
    folded_ = false;
    Page::unfold();
  }
  // Adds the picture that `draw_within` makes within a width in CSS pixels: one for the page's
  // column and one for a phone's. Folded parts have only that of the phone, because of the size of
  // the file.
  void picture(const std::function<Picture(double)>& draw_within, std::string_view caption) {
    constexpr double kColumn = 950, kPhone = 350;
    const Picture narrow = draw_within(kPhone);
    if (folded_ && !take_) return Page::picture(narrow, caption);
    const Picture wide = draw_within(kColumn);
    if (take_) take_({number_, heading_, wide});
    if (folded_ || wide.width <= kPhone) return Page::picture(narrow, caption);
    Page::picture(wide, narrow, caption);
  }
  // Adds a chart that has a max_width.
  template <class Chart>
  void chart(Chart chart, std::string_view caption) {
    const auto draw_within = [&chart](double max_width) {
      chart.max_width = max_width;
      return draw(chart);
    };
    picture(draw_within, caption);
  }

 private:
  std::function<void(const ReportPicture&)> take_;
  int number_ = 0;
  bool folded_ = false;
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
// Adds the folded parts: all schemes, similarities, the doubled exponent, exactness.
void report_reference(ReportPage& page, const ReportText& text, Json& numbers);
void report_schemes(ReportPage& page, const ReportText& text, Json& numbers);
void report_similarity(ReportPage& page, const ReportText& text, Json& numbers);
void report_doubled_exponent(ReportPage& page, Json& numbers);
void report_exactness(ReportPage& page, Json& numbers);

}  // namespace sextant::figures

// The sixth section: rotated queries and keys know distances only.
#include <algorithm>
#include <cmath>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/scheme_profiles.h"

namespace sextant::figures {
namespace {

constexpr std::int64_t kFar = 1000;

// The largest change of any weight when the text begins at position kFar instead of 0.
double change_when_moved(const ReportText& text, const std::string& scheme) {
  SentenceAttentionOptions options = report_model(scheme);
  const Tensor<double> here = attend_sentences(text.tokens, {}, options).weights;
  options.first_position = kFar;
  const Tensor<double> there = attend_sentences(text.tokens, {}, options).weights;
  double largest = 0;
  for (std::int64_t i = 0; i < here.count(); ++i) {
    largest = std::max(largest, std::abs(here.data()[i] - there.data()[i]));
  }
  return largest;
}

}  // namespace

void report_rotation(Page& page, const ReportText& text, Json& numbers) {
  page.section("Rotation turns order into distance");
  page.paragraph(
      "An added address says where in the text a word stands, yet what matters is mostly how far "
      "apart two words are. Rotary positions turn the clock hands of the query and of the key "
      "themselves. Their product depends on the angle between them: the distance. ALiBi adds a "
      "number per distance to the score, so it too knows nothing but distances.");
  std::vector<std::vector<std::string>> rows = {
      {"positions", "largest change of a weight", "what it knows"}};
  double added = 0, rotated = 0;
  for (const auto& [scheme, name] : {std::pair{"sinusoidal", "sinusoidal, added"},
                                     std::pair{"rotary", "rotary"}, std::pair{"alibi", "ALiBi"}}) {
    const double change = change_when_moved(text, scheme);
    const bool still = change < 1e-9;
    rows.push_back({name, significant(change, 2), still ? "distances only" : "places"});
    numbers["moved"][scheme] = change;
    if (scheme == std::string("rotary")) rotated = change;
    if (scheme == std::string("sinusoidal")) added = change;
  }
  page.paragraph("The test: the same text once from position 0 and once from position " +
                 std::to_string(kFar) + ", " + random_weights() + ".");
  page.table(rows);
  const bool holds = rotated < 1e-9;
  page.verdict(holds, "Moved by " + std::to_string(kFar) +
                          " places, no weight changes by more than " + significant(rotated, 1) +
                          " with rotary positions, and by up to " + significant(added, 2) +
                          " with added ones.");
  page.picture(
      plot_profiles({{"rotary"}, {"sinusoidal"}, {"alibi"}}).picture,
      "By distance: the similarity of two sinusoidal addresses; the score of a query and a "
      "key that are alike, rotated; what ALiBi adds to a score. Two addresses alone know "
      "their distance; between them in a score stand the words and the matrices of query "
      "and key, so sinusoidal positions know places.");
}

}  // namespace sextant::figures

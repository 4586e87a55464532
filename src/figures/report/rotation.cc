// The sixth section shows that rotated queries and keys depend on distances only.
#include <algorithm>
#include <array>
#include <cmath>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/core/random.h"
#include "sextant/figures/scheme_profiles.h"
#include "sextant/layers/linear.h"
#include "sextant/schemes.h"

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

// a . b of two rows.
double product(const Tensor<double>& a, std::int64_t row, const Tensor<double>& b,
               std::int64_t other) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(1); ++i) sum += a(row, i) * b(other, i);
  return sum;
}

// Shows how the matrices of query and key change the product of two addresses.
void matrices_between(ReportPage& page, Json& numbers) {
  constexpr std::int64_t kWidth = 64, kOffset = 5, kNear = 3, kMoved = 100;
  const Tensor<double> rows =
      sinusoidal<double>({.length = kNear + kOffset + kMoved + 1, .width = kWidth});
  NumpyRandom random(SentenceAttentionOptions().seed);
  const auto to_q = Linear<double>::random(kWidth, kWidth, random),
             to_k = Linear<double>::random(kWidth, kWidth, random);
  const Tensor<double> q = to_q(rows.view()), k = to_k(rows.view());
  const Tensor<double> turn = offset_matrix({.width = kWidth}, kOffset);
  Tensor<double> turned({rows.size(0), kWidth});
  for (std::int64_t p = 0; p < rows.size(0); ++p) {
    for (std::int64_t i = 0; i < kWidth; ++i) turned(p, i) = product(turn, i, rows, p);
  }
  page.paragraph(
      "The product of two addresses depends only on their distance, but a score with added "
      "addresses does not: the score multiplies the addresses by the matrices of query and key "
      "first. With random matrices the dependence on the distance is lost. Training can find "
      "matrices that keep it, for example the matrix M_5 of the clock hands for the keys and no "
      "matrix for the queries: the score is then largest for the key five places back, at any "
      "place. Rotary positions rotate after the matrices, so training does not have to find such "
      "matrices.");
  const auto pair = [](const Tensor<double>& a, const Tensor<double>& b) {
    return std::array<double, 2>{product(a, kNear + kOffset, b, kNear),
                                 product(a, kNear + kOffset + kMoved, b, kNear + kMoved)};
  };
  std::vector<std::vector<std::string>> table = {
      {"query at 8 or 108, key five places back", "places 8, 3", "places 108, 103"}};
  for (const auto& [name, two] :
       {std::pair{"the addresses", pair(rows, rows)}, std::pair{"random matrices", pair(q, k)},
        std::pair{"M_5 for the keys", pair(rows, turned)}}) {
    table.push_back({name, fixed(two[0], 2), fixed(two[1], 2)});
    numbers["between_addresses"][name] = two;
  }
  page.table(table);
}

}  // namespace

void report_rotation(ReportPage& page, const ReportText& text, Json& numbers) {
  page.section("Rotation turns order into distance");
  page.paragraph(
      "An added address gives the place of a word in the text, but usually the distance of two "
      "words matters more. Rotary positions rotate the query and the key pair by pair, like clock "
      "hands. " +
      lesson_text("add_or_rotate", "reason") +
      " ALiBi adds a number that depends on the distance to the score, so its scores also depend "
      "on distances only.");
  std::vector<std::vector<std::string>> rows = {
      {"positions", "largest change of a weight", "what the weights depend on"}};
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
  page.paragraph("This is a test: the same text starts at position 0 and then at position " +
                 std::to_string(kFar) + " (" + random_weights() + ").");
  page.table(rows);
  const bool holds = rotated < 1e-9;
  page.verdict(holds,
               "When the text moves by " + std::to_string(kFar) +
                   " places, no weight changes by more than " + significant(rotated, 1) +
                   " with rotary positions; with added positions a weight changes by up to " +
                   significant(added, 2) + ".");
  page.picture(
      [](double max_width) {
        return plot_profiles({{"rotary"}, {"sinusoidal"}, {"alibi"}}, {.max_width = max_width})
            .picture;
      },
      "By distance: the similarity of two sinusoidal addresses; the score of a query and an equal "
      "key, both rotated; the number that ALiBi adds to a score.");
  matrices_between(page, numbers);
}

}  // namespace sextant::figures

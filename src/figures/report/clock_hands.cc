// The third section shows an address as a set of clock hands, and a distance as a turn of them.
#include "sextant/figures/clock_hands.h"

#include <algorithm>
#include <cmath>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/position_figures.h"

namespace sextant::figures {
namespace {

// The largest |PE(p + offset) - M_offset PE(p)| over `count` positions from 0.
double offset_error(View<const double> table, View<const double> matrix, std::int64_t offset,
                    std::int64_t count) {
  const std::int64_t width = table.size(1);
  double largest = 0;
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t row = 0; row < width; ++row) {
      double sum = 0;
      for (std::int64_t column = 0; column < width; ++column) {
        sum += matrix(row, column) * table(p, column);
      }
      largest = std::max(largest, std::abs(sum - table(p + offset, row)));
    }
  }
  return largest;
}

// Shows numerically that the offset matrices are exact, and prints one of them.
void offset_matrices(ReportPage& page, Json& numbers) {
  constexpr std::int64_t kPositions = 100, kFarthest = 1000, kWidth = 128;
  const Tensor<double> table =
      sinusoidal<double>({.length = kPositions + kFarthest, .width = kWidth});
  std::vector<std::vector<std::string>> errors = {{"offset k", "largest |PE(p+k) - M_k PE(p)|"}};
  double worst = 0;
  for (const std::int64_t offset : {std::int64_t{1}, std::int64_t{10}, kFarthest}) {
    const Tensor<double> matrix = offset_matrix({.width = kWidth}, offset);
    const double error = offset_error(table.view(), matrix.view(), offset, kPositions);
    worst = std::max(worst, error);
    errors.push_back({std::to_string(offset), significant(error, 3)});
    numbers["offset_matrix"][std::to_string(offset)] = error;
  }
  // Each component is two products and a sum of numbers up to one, each off by a few 2^-53.
  constexpr double kRounding = 1e-15;
  const bool holds = worst <= kRounding;
  page.verdict(holds, holds
                          ? "A step of k words turns every hand by a fixed angle, from any place: "
                            "one matrix M_k turns the address PE(p) into PE(p + k), with an error "
                            "of at most " +
                                significant(worst, 1) + "."
                          : "PE(p + k) = M_k PE(p) does not hold to rounding error: this is a "
                            "mistake of the program.");
  page.fold("The matrix M_1 and its error");
  page.paragraph(
      "This is M_1 for a table of width 6. It rotates each pair of columns by its own angle.");
  const Tensor<double> matrix = offset_matrix({.width = 6}, 1);
  std::vector<std::vector<std::string>> rows = {{"", "0", "1", "2", "3", "4", "5"}};
  for (std::int64_t row = 0; row < 6; ++row) {
    rows.push_back({std::to_string(row)});
    for (std::int64_t column = 0; column < 6; ++column) {
      rows.back().push_back(fixed(matrix(row, column), 3));
    }
  }
  page.table(rows);
  page.paragraph("These are the largest errors at width 128, for positions 0 to 99:");
  page.table(errors);
  page.unfold();
}

// The positions to draw as curves: beyond the words, as many as the words leave room for.
std::int64_t positions_within(double max_width, std::int64_t words) {
  constexpr double kPosition = 13, kSides = 84, kTwoColumns = 700;  // pixels
  const auto fit = static_cast<std::int64_t>((max_width - kSides) / kPosition);
  const std::int64_t half = max_width < kTwoColumns ? fit : fit / 2 - 1;
  return std::min(words + kBeyondWords, std::max(words, words <= half ? half : fit));
}

}  // namespace

void report_clock_hands(ReportPage& page, const ReportText& text, Json& numbers) {
  page.section("Sines are clock hands");
  page.paragraph(lesson_text("addresses", "says"));
  page.paragraph(
      "The formula for position k is P[k, 2i] = sin(k / 10000^(2i/d)), P[k, 2i+1] = cos(k / "
      "10000^(2i/d)). " +
      lesson_text("addresses", "reason"));
  constexpr std::size_t kMaxDials = 16;
  const std::size_t dials = std::min(text.tokens.size(), kMaxDials);
  const std::vector<std::string> first(text.tokens.begin(),
                                       text.tokens.begin() + static_cast<std::ptrdiff_t>(dials));
  page.picture(
      [&first](double max_width) {
        return plot_clock_hands({.width = 64}, {0, 4, 8, 16}, first, max_width);
      },
      "Each word" +
          (dials < text.tokens.size() ? " of the first " + std::to_string(dials) : std::string()) +
          " has a dial for four of the 32 pairs of an address of width 64.");
  const auto words = static_cast<std::int64_t>(text.tokens.size());
  const PositionTable narrow = position_table({.length = words + kBeyondWords, .width = 100});
  page.picture(
      [&](double max_width) {
        const std::int64_t length = positions_within(max_width, words);
        const PositionTable table = position_table({.length = length, .width = 100});
        return plot_sinusoids(table, {0, 1, 20, 40}, text.tokens, max_width).picture;
      },
      "The same addresses as curves: four of 100 columns, with the words as points on them.");
  offset_matrices(page, numbers);
  const PositionTable wide = position_table({.length = 100, .width = 512});
  page.picture([&wide](double max_width) { return plot_similarity(wide, max_width).picture; },
               "The similarity of two addresses therefore depends only on their distance: the "
               "picture consists of diagonal stripes. Whether a score shows this distance depends "
               "on the matrices of query and key, see \u201cRotation turns order into "
               "distance\u201d.");
  page.fold("The whole table, three of its rows, and the similarity by distance");
  page.picture([&wide](double max_width) { return plot_heatmap(wide, max_width).picture; },
               "100 positions, 512 columns.");
  page.picture(
      [&narrow](double max_width) {
        return plot_rows(narrow, {0, 4, 10}, max_width).picture;
      },
      "The vectors of positions 0, 4 and 10. Near positions differ in the fast columns on "
      "the left, far ones also in the slow columns on the right.");
  page.picture(
      [&wide](double max_width) { return plot_distance(wide, Measure::cosine, max_width).picture; },
      "Near positions are more similar than distant ones.");
  page.unfold();
}

}  // namespace sextant::figures
